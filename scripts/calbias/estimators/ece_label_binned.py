"""The label-binned estimate ECE_lb: scores unbinned, labels binned (Roelofs et al. 2022, Eq. 3).

    ECE_lb = (1/n Σ_i |c_i - y_k(i)|^p)^(1/p)

with y_k(i) the mean label of the bin that sample i is in. By Jensen's inequality it is never below
ECE_bin with the same bins (Eq. 5).
"""

import numpy as np

from calbias.engine.jit import njit, uint64
from calbias.engine.sorted_batch import IS_EQUAL_MASS, Estimates, SortedBatch
from calbias.scored import Scored

VARIANTS = {
    "ece_label_binned_ew": {"binning": "equal_width"},
    "ece_label_binned_em": {"binning": "equal_mass"},
}
TARGET = "lp"


def estimate_data_sets(data: SortedBatch, n_bins: int, norm: float, binning: str) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    estimates = np.empty(data.scores.shape[0])
    ranks = data.ranks(n_bins, binning)
    _label_binned_error(data.scores, data.cum_hit, ranks, norm, estimates)
    return estimates, data.bins_used(n_bins, binning)


@njit(error_model="numpy")
def _label_binned_error(
    scores: np.ndarray, cum_hit: np.ndarray, ranks: np.ndarray, norm: float, out: np.ndarray
) -> None:
    for row in range(out.shape[0]):
        total = 0.0
        for k in range(ranks.shape[1] - 1):
            start, end = ranks[row, k], ranks[row, k + 1]
            if end > start:
                mean_label = (cum_hit[row, end] - cum_hit[row, start]) / (end - start)
                total += _spread(scores[row], start, end, mean_label, norm)
        out[row] = (total / scores.shape[1]) ** (1.0 / norm)


@njit
def _spread(scores: np.ndarray, start: int, end: int, mean_label: float, norm: float) -> float:
    """Return Σ |c - y|^p over the ranks [start, end); p = 1 and 2 without the costly power."""
    total = other = 0.0
    if norm == 1.0:
        for i in range(start, end):
            total += abs(scores[i] - mean_label)
        return total
    if norm != 2.0:
        for i in range(start, end):
            total += abs(scores[i] - mean_label) ** norm
        return total
    for j in range((end - start) // 2):  # two chains of sums side by side
        i = uint64(start + 2 * j)
        gap, next_gap = scores[i] - mean_label, scores[i + uint64(1)] - mean_label
        total += gap * gap
        other += next_gap * next_gap
    if (end - start) % 2:
        total += (scores[end - 1] - mean_label) ** 2
    return total + other


def estimate_scored(scored: Scored, n_bins: int, norm: float, binning: str) -> tuple[float, int]:
    """Return (estimate, bins used) of a Scored."""
    starts = scored.starts(n_bins, binning)
    hits, weight = scored.bin_sums(starts, scored.hits, scored.rows)
    sizes = np.diff(np.append(starts, scored.scores.size))
    gaps = np.abs(scored.scores - np.repeat(hits / weight, sizes))
    used = starts.size if IS_EQUAL_MASS[binning] else n_bins
    return (np.sum(scored.rows * gaps**norm) / scored.total) ** (1.0 / norm), used
