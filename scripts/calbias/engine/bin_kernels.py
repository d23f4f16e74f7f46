"""The compiled sums over bins, of many data sets at once, for the estimators with these names."""

import numpy as np

from calbias.engine.bin_search import error_of_bins, lanes_of_rows, sizes_between
from calbias.engine.jit import njit, uint64
from calbias.engine.simd import LANES, copies, gather, load, select, store


@njit(error_model="numpy")
def binned_error(cum_gap: np.ndarray, ranks: np.ndarray, norm: float, out: np.ndarray) -> None:
    """Fill ``out`` (m,) with ECE_bin, for bins of the ranks from ranks[k] up to ranks[k + 1].

    For norm 2 eight data sets at a time, a lane each, are summed as ``error_of_bins`` does.
    """
    m, (_, n_sums), (_, n_ranks) = out.shape[0], cum_gap.shape, ranks.shape
    if norm != 2.0:
        for row in range(m):
            out[row] = error_of_bins(cum_gap[row], ranks[row], n_ranks - 1, norm)
        return
    rows, totals = lanes_of_rows(m), np.empty(m + LANES)
    for row in range(0, m, LANES):
        sums, bins = load(rows, row) * uint64(n_sums), load(rows, row) * uint64(n_ranks)
        start, total = gather(ranks, bins), copies(0.0)
        below = gather(cum_gap, sums + start)
        for k in range(1, n_ranks):
            end = gather(ranks, bins + uint64(k))
            above = gather(cum_gap, sums + end)
            size = sizes_between(start, end)
            gap = (above - below) / select(size > 1.0, size, copies(1.0))  # 0 of an empty bin
            total = total + size * (gap * gap)
            start, below = end, above
        store(totals, row, total / float(n_sums - 1))
    out[:] = np.sqrt(totals[:m])


@njit(error_model="numpy")
def debiased_squares(
    cum_gap: np.ndarray, cum_hit: np.ndarray, ranks: np.ndarray, out: np.ndarray
) -> None:
    """Fill ``out`` (m,) with the debiased squares, eight data sets at a time, a lane each."""
    m, (_, n_sums), (_, n_ranks) = out.shape[0], cum_gap.shape, ranks.shape
    rows, totals = lanes_of_rows(m), np.empty(m + LANES)
    for row in range(0, m, LANES):
        sums, bins = load(rows, row) * uint64(n_sums), load(rows, row) * uint64(n_ranks)
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
        store(totals, row, total / float(n_sums - 1))
    out[:] = totals[:m]


@njit
def largest_gap(cum_gap: np.ndarray, ranks: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out`` (m,) with the largest gap of a bin that is not empty."""
    for row in range(out.shape[0]):
        largest = 0.0
        for k in range(ranks.shape[1] - 1):
            start, end = ranks[row, k], ranks[row, k + 1]
            if end > start:
                gap = abs(cum_gap[row, end] - cum_gap[row, start]) / (end - start)
                largest = max(largest, gap)
        out[row] = largest


@njit(error_model="numpy")
def label_binned_error(
    scores: np.ndarray, cum_hit: np.ndarray, ranks: np.ndarray, norm: float, out: np.ndarray
) -> None:
    """Fill ``out`` (m,) with ECE_lb, for bins of the ranks from ranks[k] up to ranks[k + 1]."""
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
    """Return Σ |c - y|^p over the ranks [start, end); p = 2 without the costly power."""
    total = other = 0.0
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
