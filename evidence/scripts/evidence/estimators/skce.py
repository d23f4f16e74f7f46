"""The squared kernel calibration error with Laplace's kernel k = exp(−|s − t|/ν), in O(n).

    skce_biased    1/n² Σ_ij r_i r_j k(s_i, s_j),  r_i = y_i − s_i,  ν = 0.1
    skce_unbiased  1/(n(n − 1)) Σ_{i ≠ j} r_i r_j k(s_i, s_j),  ν = 0.1
    mmce           √(1/n² Σ_ij r_i r_j k(s_i, s_j)),  ν = 0.4

The unbiased one may be negative. On sorted scores Σ_{i < j} r_i r_j k = Σ r_i A_i, A_i = e^{−(s_i −
s_{i−1})/ν}(A_{i−1} + r_{i−1}). Widmann, Lindsten and Zachariah (NeurIPS 2019); Kumar, Sarawagi and
Jain (ICML 2018) for MMCE.
"""

import math

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import Estimates, SortedBatch

VARIANTS = {
    "skce_unbiased": {"bandwidth": 0.1, "biased": False},
    "skce_biased": {"bandwidth": 0.1, "biased": True},
    "mmce": {"bandwidth": 0.4, "biased": True, "rooted": True},
}
TARGET = "kernel_ce"
BINS = "none"


def estimate_data_sets(
    data: SortedBatch,
    n_bins: int = 0,
    norm: float = 2.0,
    bandwidth: float = 0.1,
    biased: bool = True,
    rooted: bool = False,
) -> Estimates:
    """Return (estimates, bins used = 0), each (m,), for SortedBatch of m rows.

    Of a single sample the unbiased estimate is 0.
    """
    n = data.scores.shape[1]
    pairs, alone = np.empty(data.scores.shape[0]), np.empty(data.scores.shape[0])
    _kernel_sums(data.scores, data.cum_gap, data.cum_hit, bandwidth, pairs, alone)
    squares = pairs / n**2 if biased else (pairs - alone) / max(n * (n - 1), 1)
    if n == 1 and not biased:
        squares = np.zeros_like(squares)
    if rooted:
        squares = np.sqrt(np.maximum(squares, 0.0))
    return squares, np.zeros(squares.shape, np.int64)


@njit
def _kernel_sums(
    scores: np.ndarray,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
    bandwidth: float,
    pairs: np.ndarray,
    alone: np.ndarray,
) -> None:
    """Fill ``pairs`` (m,) with Σ_ij r_i r_j k and ``alone`` (m,) with Σ_i r_i².

    Equal scores have their mean label. That leaves ``pairs`` as it is. ``alone`` is the sum for the
    labels themselves: (s − y)² = s² + y(1 − 2s) is linear in a label y of 0 or 1.
    """
    n = scores.shape[1]
    for row in range(scores.shape[0]):
        total = squares = decayed = before = 0.0
        for i in range(n):
            score = scores[row, i]
            gap = cum_gap[row, i + 1] - cum_gap[row, i]
            label = cum_hit[row, i + 1] - cum_hit[row, i]
            if i > 0:
                decayed = (decayed + before) * math.exp(-(score - scores[row, i - 1]) / bandwidth)
            total += gap * (gap + 2.0 * decayed)
            squares += score * score + label * (1.0 - 2.0 * score)
            before = gap
        pairs[row], alone[row] = total, squares
