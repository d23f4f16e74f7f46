"""The monotonic sweep ECE_sweep (Roelofs et al. 2022, Eq. 8 and Algorithm 1).

Bins are added, b = 2, 3, …, n, as long as the mean labels y_1 ≤ … ≤ y_b do not decrease; the
estimate is ECE_bin at the last b that passed (1 if b = 2 fails). Equal means are no decrease and
empty bins are skipped. Means are compared exactly, so that rounding never decides.
"""

import numpy as np
from numba import float64, int32, int64

from calbias.engine.binning import IS_EQUAL_MASS, edges, first_rank, search_edges, width_bin
from calbias.engine.jit import njit
from calbias.engine.simd import LANES, first_true, load
from calbias.estimators.ece_bin import binned_error_of_row

VARIANTS = {
    "ece_sweep_ew": {"binning": "equal_width"},
    "ece_sweep_em": {"binning": "equal_mass"},
}
TARGET = "lp"
BINS = "chosen"

_FEW = 64  # numbers of bins up to which all bins are looked at side by side
_EDGES = np.stack([np.append(edges(max(b, 1)), np.full(_FEW - max(b, 1), 2.0)) for b in range(65)])
_MOST_SAMPLES = 1 << 26  # up to which k·n/b in float64 rounds up to the right whole number


def estimate_data_sets(data, n_bins, norm, binning):
    """Return (estimates, bins chosen), each (m,): fractions, for SortedBatch of m rows.

    ``n_bins`` is ignored: the sweep chooses.
    """
    m = data.scores.shape[0]
    estimates, n_bins_used = np.empty(m), np.empty(m, np.int64)
    _sweep(*data, IS_EQUAL_MASS[binning], norm, estimates, n_bins_used)
    return estimates, n_bins_used


@njit
def _sweep(scores, cum_gap, cum_hit, tie_first, tie_last, equal_mass, norm, out, n_bins_used):
    n = scores.shape[1]
    few = min(_FEW, n) if tie_first.shape[1] == 0 and n < _MOST_SAMPLES else 1
    ranks = np.empty(_FEW + 1, np.int64)
    bounds, heights = np.empty(_FEW + 2 * LANES), np.empty(_FEW + 2 * LANES)
    for row in range(scores.shape[0]):
        data_set = scores[row], cum_hit[row], tie_first[row], tie_last[row]
        b = 2
        while b <= few:
            _find_bins(scores[row], equal_mass, b, ranks)
            if not _is_monotonic_side_by_side(cum_hit[row], ranks, b, bounds, heights):
                break
            b += 1
        if b > few and _labels_never_decrease(*data_set[1:]):
            b = n + 1
        elif b > few:
            while b <= n and _is_monotonic(*data_set, equal_mass, b):
                b += 1
        n_bins_used[row] = b - 1
        final = ranks[:b] if b <= _FEW + 1 else np.empty(b, np.int64)
        if b <= _FEW + 1 and few > 1:
            _find_bins(scores[row], equal_mass, b - 1, final)
        else:
            for k in range(b):
                final[k] = first_rank(k, b - 1, scores[row], equal_mass)
        out[row] = binned_error_of_row(cum_gap[row], final, norm)


@njit(error_model="numpy")
def _find_bins(scores, equal_mass, n_bins, ranks):
    """Fill ``ranks`` (n_bins + 1,) with where the bins begin, as ``first_rank`` gives it."""
    if equal_mass:
        n = float64(scores.shape[0])
        for k in range(n_bins + 1):
            ranks[k] = int32((float64(int32(k)) * n + (n_bins - 1)) / n_bins)
    else:
        search_edges(scores, _EDGES[n_bins, : n_bins + 1], ranks)


@njit
def _is_monotonic_side_by_side(cum_hit, ranks, n_bins, bounds, heights):
    """Whether the mean labels of the full bins never decrease, eight comparisons at a time.

    Without tie groups; by cross-multiplication, in whole numbers.
    """
    last = 0
    for k in range(n_bins + 1):
        bounds[last], heights[last] = ranks[k], cum_hit[ranks[k]]
        last += 1 if k == n_bins or ranks[k + 1] > ranks[k] else 0
    for k in range(last, last + LANES + 1):
        bounds[k] = np.nan  # compares as no decrease
    for k in range(0, last - 2, LANES):
        left, middle, right = load(bounds, k), load(bounds, k + 1), load(bounds, k + 2)
        low, cut, high = load(heights, k), load(heights, k + 1), load(heights, k + 2)
        decreases = (cut - low) * (right - middle) > (high - cut) * (middle - left)
        if first_true(decreases) < LANES:
            return False
    return True


@njit
def _labels_never_decrease(cum_hit, tie_first, tie_last):
    """Whether the mean label never decreases from one distinct score to the next.

    Every binning passes then, and the sweep need not try them all.
    """
    n = cum_hit.shape[0] - 1
    start, size_before, hits_before = 0, 1, 0.0
    while start < n:
        end = start + 1
        if tie_first.shape[0] > 0 and tie_first[end] == start:
            end = tie_last[end]
        hits, size = cum_hit[end] - cum_hit[start], end - start
        if hits * size_before < hits_before * size:
            return False
        start, size_before, hits_before = end, size, hits
    return True


@njit
def _is_monotonic(scores, cum_hit, tie_first, tie_last, equal_mass, n_bins):
    """Whether the mean labels of ``n_bins`` bins never decrease, from one full bin to the next."""
    n = scores.shape[0]
    left = middle = 0
    k = -1
    while middle < n:
        k = k + 1 if equal_mass else width_bin(scores[middle], n_bins)
        right = first_rank(k + 1, n_bins, scores, equal_mass)
        if right == middle:
            continue
        if middle > left and _decreases(left, middle, right, cum_hit, tie_first, tie_last):
            return False
        left, middle = middle, right
    return True


@njit
def _decreases(left, middle, right, cum_hit, tie_first, tie_last):
    """Whether the mean label of ranks [middle, right) is below that of ranks [left, middle).

    Compares by cross-multiplication. Without tie groups the sums are whole numbers and exact in
    float64 (for n below 9e7). Where groups were split the sums are fractions: a difference within
    rounding error is then decided exactly by _decreases_exactly.
    """
    below, above = middle - left, right - middle
    difference = (cum_hit[middle] - cum_hit[left]) * above
    difference -= (cum_hit[right] - cum_hit[middle]) * below
    if tie_first.shape[0] == 0:
        return difference > 0.0
    n = cum_hit.shape[0] - 1.0
    rounding = 1e-15 * n * (below + above)
    if abs(difference) > rounding:
        return difference > 0.0
    return _decreases_exactly(left, middle, right, cum_hit, tie_first, tie_last)


@njit
def _decreases_exactly(left, middle, right, cum_hit, tie_first, tie_last):
    """Whether the mean decreases, given that cross-multiplied it changes by rounding error at most.

    The partial sum at rank i in a group [s, e) with h hits is H(s) + (i - s)·h/(e - s). Times the
    three group sizes the difference is a whole number. Its terms may overflow int64 and wrap, yet
    being small itself it comes out right, modulo 2^64.
    """
    total = int64(0)
    ranks = (left, middle, right)
    factors = (-(right - middle), right - left, -(middle - left))
    for a in range(3):
        term = int64(factors[a])
        for j in range(3):
            first, last = tie_first[ranks[j]], tie_last[ranks[j]]
            size = max(last - first, 1)
            if j == a:
                before, after = int64(cum_hit[first]), int64(cum_hit[last])
                term *= before * size + (ranks[j] - first) * (after - before)
            else:
                term *= size
        total += term
    return total > 0
