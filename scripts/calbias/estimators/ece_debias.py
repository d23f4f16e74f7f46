"""The debiased estimate (Bröcker 2012; Ferro and Fricker 2012; Kumar et al. 2019), p = 2 only.

    ece_debias_e?           √max(D, 0)
    ece_debias_unclipped_*  sign(D)·√|D|
    ece_debias_*            D = Σ_k n_k/n · [(f_k - y_k)² - y_k(1 - y_k)/(n_k - 1)]

Bins with fewer than two samples are dropped. The sum D may be negative: it is clipped at 0 before
the root. Without clipping the root keeps the sign. ``ece_debias_squared_*`` is D itself, neither
clipped nor rooted: with bins fine enough an unbiased estimate of E δ².
"""

import numpy as np

from calbias.engine.binning import IS_EQUAL_MASS
from calbias.engine.groups import Groups
from calbias.engine.jit import for_steps, njit
from calbias.engine.sorted_batch import Estimates, SortedBatch

VARIANTS = {
    "ece_debias_ew": {"binning": "equal_width"},
    "ece_debias_em": {"binning": "equal_mass"},
    "ece_debias_unclipped_ew": {"binning": "equal_width", "clipped": False},
    "ece_debias_unclipped_em": {"binning": "equal_mass", "clipped": False},
    "ece_debias_squared_ew": {"binning": "equal_width", "rooted": False},
    "ece_debias_squared_em": {"binning": "equal_mass", "rooted": False},
}
TARGET = {
    "ece_debias_ew": "lp",
    "ece_debias_em": "lp",
    "ece_debias_unclipped_ew": "lp",
    "ece_debias_unclipped_em": "lp",
    "ece_debias_squared_ew": "lp_power",
    "ece_debias_squared_em": "lp_power",
}
NORMS = (2,)  # the correction is for the mean of a squared difference


def estimate_data_sets(
    data: SortedBatch,
    n_bins: int,
    norm: float,
    binning: str,
    clipped: bool = True,
    rooted: bool = True,
) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    squares, ranks = np.empty(data.scores.shape[0]), data.ranks(n_bins, binning)
    for_steps(_debiased_square, ranks.size)(data.cum_gap, data.cum_hit, ranks, squares)
    if rooted and clipped:
        squares = np.sqrt(np.maximum(squares, 0.0))
    elif rooted:
        squares = np.sign(squares) * np.sqrt(np.abs(squares))
    return squares, data.bins_used(n_bins, binning)


@njit(error_model="numpy")
def _debiased_square(
    cum_gap: np.ndarray, cum_hit: np.ndarray, ranks: np.ndarray, out: np.ndarray
) -> None:
    for row in range(out.shape[0]):
        total = 0.0
        for k in range(ranks.shape[1] - 1):
            start, end = ranks[row, k], ranks[row, k + 1]
            size = end - start
            if size > 1:
                gap = (cum_gap[row, end] - cum_gap[row, start]) / size
                hit = (cum_hit[row, end] - cum_hit[row, start]) / size
                total += size * (gap * gap - hit * (1.0 - hit) / (size - 1))
        out[row] = total / (cum_gap.shape[1] - 1)


def estimate_groups(
    groups: Groups,
    n_bins: int,
    norm: float,
    binning: str,
    clipped: bool = True,
    rooted: bool = True,
) -> tuple[float, int]:
    """Return (estimate, bins used) of weighted rows, Groups.

    A weighted mean has the noise of n' = (Σ w)²/Σ w² rows: y(1 − y)/(n' − 1).
    """
    starts = groups.starts(n_bins, binning)
    gaps, weight, hits, squares, rows = groups.bin_sums(
        starts, groups.gaps, groups.weight, groups.hits, groups.squares, groups.rows
    )
    several = rows > 1
    gap, hit = gaps[several] / weight[several], hits[several] / weight[several]
    effective = weight[several] ** 2 / squares[several]
    terms = weight[several] * (gap * gap - hit * (1.0 - hit) / (effective - 1.0))
    square = float(np.sum(terms)) / groups.total
    used = starts.size if IS_EQUAL_MASS[binning] else n_bins
    if not rooted:
        return square, used
    return np.sqrt(max(square, 0.0)) if clipped else np.sign(square) * np.sqrt(abs(square)), used
