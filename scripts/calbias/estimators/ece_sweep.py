"""The monotonic sweep ECE_sweep (Roelofs et al. 2022, Eq. 8 and Algorithm 1).

Bins are added, b = 2, 3, …, n, as long as the mean labels y_1 ≤ … ≤ y_b do not decrease; the
estimate is ECE_bin at the last b that passed (1 if b = 2 fails). Equal means are no decrease and
empty bins are skipped. Means are compared exactly, so that rounding never decides.
"""

from functools import lru_cache

import numpy as np
from numba import int64, uint64

from calbias.engine.binning import IS_EQUAL_MASS, search_edges
from calbias.engine.jit import for_steps, njit
from calbias.engine.simd import LANES, first_true, load
from calbias.engine.sorted_batch import SortedBatch
from calbias.estimators import ece_bin
from calbias.estimators.ece_bin import binned_error

VARIANTS = {
    "ece_sweep_ew": {"binning": "equal_width"},
    "ece_sweep_em": {"binning": "equal_mass"},
}
TARGET = "lp"
BINS = "chosen"

_FEW = 128  # numbers of bins up to which the compiled code looks
_STEPS = 150  # that a data set's estimate without compiled code is worth
_PASSES, _FAILS, _UNDECIDED = range(3)


def estimate_data_sets(data, n_bins, norm, binning):
    """Return (estimates, bins chosen), each (m,): fractions, for SortedBatch of m rows.

    ``n_bins`` is ignored: the sweep chooses.
    """
    m, n = data.scores.shape
    estimates, chosen = np.empty(m), np.full(m, -2)
    if for_steps(_sweep, _STEPS * m) is _sweep:
        how = _rounding(data), _table(n, binning), IS_EQUAL_MASS[binning], norm
        _sweep(*data[:3], *how, estimates, chosen)
    for row in np.flatnonzero(chosen < 0):
        alone = SortedBatch(*(values[row : row + 1] for values in data))
        chosen[row] = _last_passing(alone, binning, -chosen[row])
        estimates[row] = ece_bin.estimate_data_sets(alone, chosen[row], norm, binning)[0][0]
    return estimates, chosen


@lru_cache(maxsize=32)
def _table(n, binning):
    """Return an array whose row b has the ranks, or the edges, where b bins begin; float64."""
    k, b = np.arange(_FEW + 1), np.arange(1, min(_FEW, n) + 1)[:, None]
    rows = (k * n + b - 1) // b if IS_EQUAL_MASS[binning] else k / b
    return np.concatenate([np.zeros((1, _FEW + 1)), rows])


def _rounding(data):
    """Return the error of a difference of cross-multiplied means, per sample of the two bins.

    Without tie groups the sums of labels are whole numbers, exact in float64 (for n below 9e7).
    """
    return 1e-15 * data.scores.shape[1] if data.tie_first.shape[1] else 0.0


def _last_passing(data, binning, b):
    """Return the number of bins chosen for one data set, given that all numbers below b pass.

    The bins of many numbers are looked at together.
    """
    scores, n = data.scores[0], data.scores.shape[1]
    equal_mass = IS_EQUAL_MASS[binning]
    steps = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)
    may_pass_all = True
    while b <= n:
        if b * b > n and may_pass_all:  # every binning passes if no step to the next score fails
            all_steps = np.arange(n) if equal_mass and data.tie_first.shape[1] == 0 else steps
            fails = _failing(data, np.append(all_steps, n), np.zeros(all_steps.size + 1))
            may_pass_all = fails.size == 0
            if may_pass_all:
                return n
        width = b if equal_mass else min(b, steps.size)
        count = max(1, min(max(16, b), (1 << 18) // width))
        numbers = np.arange(b, min(b + count, n + 1))
        fails = _failing(data, *full_bins(scores, steps, numbers, equal_mass))
        if fails.size:
            return fails[0] - 1
        b += count
    return n


def full_bins(scores, steps, numbers, equal_mass):
    """Return (ranks, number of bins): where the full bins of each number of bins begin, and n."""
    n = scores.size
    if steps.size < numbers[0] and not equal_mass:  # the bins of the distinct scores
        distinct, b = scores[steps], numbers[:, None]
        k = np.minimum((distinct * b).astype(np.int64), b - 1)  # rounding may put it one off
        k -= distinct < k / b
        k += (distinct >= (k + 1) / b) & (k + 1 < b)
        k = np.append(k, b, axis=1)
    else:
        low, high = (0, 1) if equal_mass else scores[[0, -1]]
        low = np.maximum((low * numbers).astype(np.int64) - 1, 0)
        high = np.minimum((high * numbers).astype(np.int64) + 2, numbers)
        k = np.minimum(low[:, None] + np.arange((high - low).max() + 1), high[:, None])
    b, k = np.repeat(numbers, k.shape[1]), k.ravel()
    if equal_mass:
        ranks = (k * n + b - 1) // b
    else:
        ranks = np.where(k == b, n, np.searchsorted(scores, k / b))
    is_full = np.append(ranks[1:] > ranks[:-1], False)
    is_full[np.append(b[1:] != b[:-1], True)] = True
    return ranks[is_full], b[is_full]


def _failing(data, ranks, numbers):
    """Return the ``numbers`` at which the mean label falls from a bin to the next.

    The bins of one number begin at consecutive ``ranks``; its last rank is their end.
    """
    i = np.flatnonzero(numbers[2:] == numbers[:-2])
    left, middle, right = ranks[i], ranks[i + 1], ranks[i + 2]
    return numbers[i][decreases(data, left, middle, right)]


def decreases(data, left, middle, right):
    """Whether the mean label of ranks [middle, right) is below that of [left, middle); arrays.

    Compares by cross-multiplication. What is within rounding error, where tie groups were split,
    is decided in whole numbers: the partial sum at rank i in a group [s, e) with h hits is
    H(s) + (i - s)·h/(e - s). Times the three group sizes the difference is a whole number. Its
    terms may overflow int64 and wrap, yet being small itself it comes out right, modulo 2^64.
    """
    cum_hit = data.cum_hit[0]
    below, above = middle - left, right - middle
    difference = (cum_hit[middle] - cum_hit[left]) * above
    difference -= (cum_hit[right] - cum_hit[middle]) * below
    is_less = difference > 0.0
    if data.tie_first.shape[1]:
        [doubtful] = np.nonzero(abs(difference) <= _rounding(data) * (below + above))
        ranks = np.stack([left, middle, right])[:, doubtful]
        first, last = data.tie_first[0, ranks], data.tie_last[0, ranks]
        sizes = np.maximum(last - first, 1)
        before, after = cum_hit[first].astype(np.int64), cum_hit[last].astype(np.int64)
        sums = before * sizes + (ranks - first) * (after - before)
        factors = np.stack([-above, below + above, -below])[:, doubtful]
        others = sizes[[1, 0, 0]] * sizes[[2, 2, 1]]
        is_less[doubtful] = (factors * sums * others).sum(axis=0) > 0
    return is_less


@njit
def _sweep(scores, cum_gap, cum_hit, rounding, table, equal_mass, norm, out, chosen):
    """Fill the estimates and the numbers of bins chosen: -b if the sweep is undecided at b.

    Row b of the ``table`` has the ranks, or the edges, where b bins begin.
    """
    ranks = np.empty(table.shape[1], np.int64)
    bounds, heights = np.empty(ranks.size + 2 * LANES), np.empty(ranks.size + 2 * LANES)
    for row in range(scores.shape[0]):
        sums = cum_hit[row]
        verdict, b = _PASSES, 1
        while verdict == _PASSES:
            b += 1
            if b == table.shape[0]:
                verdict = _UNDECIDED
                break
            if equal_mass:
                for k in range(b + 1):
                    bounds[k] = table[b, k]
                    heights[k] = sums[uint64(table[b, k])]
                last = b + 1
            else:
                search_edges(scores[row], table[b], b, ranks)
                last = 0
                for k in range(b + 1):
                    bounds[last], heights[last] = ranks[k], sums[ranks[k]]
                    last += 1 if k == b or ranks[k + 1] > ranks[k] else 0
            verdict = _verdict(bounds, heights, last, rounding)
        chosen[row] = -b
        if verdict == _FAILS:
            b -= 1
            chosen[row] = b
            if equal_mass:
                for k in range(b + 1):
                    ranks[k] = int64(table[b, k])
            else:
                search_edges(scores[row], table[b], b, ranks)
            final = ranks[: b + 1].reshape(1, b + 1)
            binned_error(cum_gap[row : row + 1], final, norm, out[row : row + 1])


@njit
def _verdict(bounds, heights, last, rounding):
    """Return whether the mean labels of full bins never decrease, eight comparisons at a time.

    The bins' first ranks, and the labels below them, are entries 0 to last - 1. By
    cross-multiplication, as ``decreases``.
    """
    for k in range(last, last + LANES + 1):
        bounds[k] = np.nan  # compares as no decrease
    verdict = _PASSES
    for k in range(0, last - 2, LANES):
        left, middle, right = load(bounds, k), load(bounds, k + 1), load(bounds, k + 2)
        low, cut, high = load(heights, k), load(heights, k + 1), load(heights, k + 2)
        fall = (cut - low) * (right - middle) - (high - cut) * (middle - left)
        margin = (right - left) * rounding
        if first_true(fall > margin) < LANES:
            return _FAILS
        if first_true(fall + margin > 0.0) < LANES:
            verdict = _UNDECIDED
    return verdict
