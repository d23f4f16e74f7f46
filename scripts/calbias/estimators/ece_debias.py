"""The debiased estimate (Bröcker 2012; Ferro and Fricker 2012; Kumar et al. 2019), p = 2 only.

    ece_debias_e?           √max(D, 0)
    ece_debias_unclipped_*  sign(D)·√|D|
    ece_debias_*            D = Σ_k n_k/n · [(f_k - y_k)² - y_k(1 - y_k)/(n_k - 1)]

Bins with fewer than two samples are dropped. The sum D may be negative: it is clipped at 0 before
the root. Without clipping the root keeps the sign. ``ece_debias_squared_*`` is D itself, neither
clipped nor rooted: with bins fine enough an unbiased estimate of E δ².
"""

import numpy as np

from calbias.engine.bin_search import rows_from, sizes_between
from calbias.engine.jit import njit, uint64
from calbias.engine.simd import LANES, copies, gather, select, store
from calbias.engine.sorted_batch import IS_EQUAL_MASS, Estimates, SortedBatch
from calbias.scored import Scored

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
    _debiased_squares(data.cum_gap, data.cum_hit, ranks, squares)
    if rooted and clipped:
        squares = np.sqrt(np.maximum(squares, 0.0))
    elif rooted:
        squares = np.sign(squares) * np.sqrt(np.abs(squares))
    return squares, data.bins_used(n_bins, binning)


@njit(error_model="numpy")
def _debiased_square(cum_gap: np.ndarray, cum_hit: np.ndarray, ranks: np.ndarray) -> float:
    total = 0.0
    for k in range(ranks.shape[0] - 1):
        start, end = ranks[k], ranks[k + 1]
        size = end - start
        if size > 1:
            gap = (cum_gap[end] - cum_gap[start]) / size
            hit = (cum_hit[end] - cum_hit[start]) / size
            total += size * (gap * gap - hit * (1.0 - hit) / (size - 1))
    return total / (cum_gap.shape[0] - 1)


@njit(error_model="numpy")
def _debiased_squares(
    cum_gap: np.ndarray, cum_hit: np.ndarray, ranks: np.ndarray, out: np.ndarray
) -> None:
    """Fill ``out`` (m,): eight data sets at a time, summed as ``_debiased_square`` does."""
    m, (_, n_sums), (_, n_ranks) = out.shape[0], cum_gap.shape, ranks.shape
    alone = m % LANES
    for row in range(alone):
        out[row] = _debiased_square(cum_gap[row], cum_hit[row], ranks[row])
    for row in range(alone, m, LANES):
        sums, bins = rows_from(row, n_sums), rows_from(row, n_ranks)
        start, total = gather(ranks, bins), copies(0.0)
        gap_below, hit_below = gather(cum_gap, sums + start), gather(cum_hit, sums + start)
        for k in range(1, n_ranks):
            end = gather(ranks, bins + uint64(k))
            gap_above, hit_above = gather(cum_gap, sums + end), gather(cum_hit, sums + end)
            size = sizes_between(start, end)
            is_full = size > 1.0
            size = select(is_full, size, copies(2.0))
            gap, hit = (gap_above - gap_below) / size, (hit_above - hit_below) / size
            term = size * (gap * gap - hit * (1.0 - hit) / (size - 1.0))
            total = total + select(is_full, term, copies(0.0))
            start, gap_below, hit_below = end, gap_above, hit_above
        store(out, row, total / float(n_sums - 1))


def estimate_scored(
    scored: Scored,
    n_bins: int,
    norm: float,
    binning: str,
    clipped: bool = True,
    rooted: bool = True,
) -> tuple[float, int]:
    """Return (estimate, bins used) of a Scored.

    A weighted mean has the noise of n' = (Σ w)²/Σ w² rows: y(1 − y)/(n' − 1).
    """
    starts = scored.starts(n_bins, binning)
    gaps, weight, hits, squares, rows = scored.bin_sums(
        starts, scored.gaps, scored.rows, scored.hits, scored.squares, scored.counts
    )
    several = rows > 1
    gap, hit = gaps[several] / weight[several], hits[several] / weight[several]
    effective = weight[several] ** 2 / squares[several]
    terms = weight[several] * (gap * gap - hit * (1.0 - hit) / (effective - 1.0))
    square = float(np.sum(terms)) / scored.total
    used = starts.size if IS_EQUAL_MASS[binning] else n_bins
    if not rooted:
        return square, used
    return np.sqrt(max(square, 0.0)) if clipped else np.sign(square) * np.sqrt(abs(square)), used
