"""The binned estimate ECE_bin (Roelofs et al. 2022, Eq. 4).

    ECE_bin = (Σ_k n_k/n · |f_k - y_k|^p)^(1/p)

with the mean score f_k and the mean label y_k of the n_k samples in bin k. Empty bins count for
nothing.
"""

import math

import numpy as np

from calbias.engine.bin_search import error_of_bins, rows_from, sizes_between
from calbias.engine.jit import njit, uint64
from calbias.engine.simd import LANES, copies, gather, select, store
from calbias.engine.sorted_batch import IS_EQUAL_MASS, Estimates, SortedBatch
from calbias.scored import Scored

VARIANTS = {
    "ece_bin_ew": {"binning": "equal_width"},
    "ece_bin_em": {"binning": "equal_mass"},
}
TARGET = "lp"


def estimate_data_sets(data: SortedBatch, n_bins: int, norm: float, binning: str) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    estimates, ranks = np.empty(data.scores.shape[0]), data.ranks(n_bins, binning)
    binned_error(data.cum_gap, ranks, norm, estimates)
    return estimates, data.bins_used(n_bins, binning)


@njit(error_model="numpy")
def binned_error(cum_gap: np.ndarray, ranks: np.ndarray, norm: float, out: np.ndarray) -> None:
    """Fill ``out`` (m,) with ECE_bin, for bins of the ranks from ranks[k] up to ranks[k + 1].

    For norm 2 eight data sets at a time, a lane each, are summed as ``error_of_bins`` does.
    """
    m, (_, n_sums), (_, n_ranks) = out.shape[0], cum_gap.shape, ranks.shape
    alone = m % LANES if norm == 2.0 else m
    for row in range(alone):
        out[row] = error_of_bins(cum_gap[row], ranks[row], n_ranks - 1, norm)
    for row in range(alone, m, LANES):
        sums, bins = rows_from(row, n_sums), rows_from(row, n_ranks)
        start, total = gather(ranks, bins), copies(0.0)
        below = gather(cum_gap, sums + start)
        for k in range(1, n_ranks):
            end = gather(ranks, bins + uint64(k))
            above = gather(cum_gap, sums + end)
            size = sizes_between(start, end)
            gap = (above - below) / select(size > 1.0, size, copies(1.0))  # 0 of an empty bin
            total = total + size * (gap * gap)
            start, below = end, above
        store(out, row, total / float(n_sums - 1))
    for row in range(alone, m):
        out[row] = math.sqrt(out[row])


def estimate_scored(scored: Scored, n_bins: int, norm: float, binning: str) -> tuple[float, int]:
    """Return (estimate, bins used) of a Scored: shares are shares of the weight."""
    starts = scored.starts(n_bins, binning)
    gaps, weight = scored.bin_sums(starts, scored.gaps, scored.rows)
    total = np.sum(weight * (np.abs(gaps) / weight) ** norm)
    used = starts.size if IS_EQUAL_MASS[binning] else n_bins
    return (total / scored.total) ** (1.0 / norm), used
