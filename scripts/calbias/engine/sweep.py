"""The monotonic sweep over many numbers of bins in one pass, where bins cut no tie group.

The bins of b = 2, 3, … stand one number after the other in one list of ranks, with NaN between the
numbers: eight comparisons of neighbouring bins are made at a time, and the first decrease in the
list tells at which b the sweep ends. Equal-mass ranks are a table for each n. The edges of
equal-width bins are searched in stages; an edge such as 1/2 = 2/4 is searched once.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from calbias.engine.bin_search import error_of_bins, first_rank, search_edges
from calbias.engine.jit import float64, int64, njit, uint64
from calbias.engine.simd import LANES, copies, first_true, gather, lanes_from, load, store

_STAGES = (5, 8, 12, 20)  # most bins of equal width whose edges are searched together
MOST_SEARCHED = _STAGES[-1]
_MOST_LISTED = 128  # bins of equal mass
_LOWEST, _HIGHEST, _BREAK = range(3)  # the numbers of the outer edges, and of NaN


class WidthPlan(NamedTuple):
    """The bins of equal width of b = 2, 3, … in one list.

    entries     (L,) number of the edge where each bin begins, then of the upper end, then _BREAK
    starts      (B + 2,) entry where the bins of b begin
    edges       (E,) edges by number, in the order of their stages
    stages      (S + 1, 2) most bins of a stage, and the number of edges searched then
    """

    entries: np.ndarray
    starts: np.ndarray
    edges: np.ndarray
    stages: np.ndarray


@lru_cache(maxsize=32)
def width_plan(most: int) -> WidthPlan:
    """Return the WidthPlan of at most ``most`` bins, from 1 to MOST_SEARCHED."""
    stages = [1, *(b for b in _STAGES if b < most), most]
    numbers = {Fraction(0): _LOWEST, Fraction(1): _HIGHEST}
    edges, counts = [-1.0, 2.0, 2.0], [3]
    entries: list[int] = []
    starts = [0, 0]
    for before, last in pairwise(stages):
        for b in range(before + 1, last + 1):
            starts.append(len(entries))
            for k in range(b + 1):
                if Fraction(k, b) not in numbers:
                    numbers[Fraction(k, b)] = len(edges)
                    edges.append(k / b)
                entries.append(numbers[Fraction(k, b)])
            entries.append(_BREAK)
        counts.append(len(edges))
    return WidthPlan(
        np.array([*entries, _BREAK], np.uint64),
        np.array([*starts, len(entries)], np.uint64),
        np.array(edges),
        np.array([stages, counts], np.uint64).T.copy(),
    )


@lru_cache(maxsize=32)
def mass_plan(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (bounds, ranks, starts) of the bins of equal mass of b = 2, 3, … in one list.

    Where each bin begins, then n, then NaN, float64, and the same as whole numbers with 0 for NaN,
    each (L,); ``starts`` (B + 2,) says where the bins of b begin.
    """
    b = np.arange(2, max(min(n, _MOST_LISTED), 1) + 1)[:, None]
    k = np.arange(_MOST_LISTED + 2)
    listed = np.where(k <= b, (k * n + b - 1) // b, np.nan)[k <= b + 1]
    bounds = np.concatenate([listed, np.full(3 * LANES, np.nan)])
    starts = np.concatenate([[0, 0], np.cumsum(np.append(0, b + 2))])
    return bounds, np.nan_to_num(bounds).astype(np.uint64), starts


@njit(error_model="numpy")
def sweep_masses(
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
    bounds: np.ndarray,
    ranks: np.ndarray,
    starts: np.ndarray,
    norm: float,
    out: np.ndarray,
    chosen: np.ndarray,
) -> None:
    """Fill the estimates and the numbers of bins chosen of equal mass, each (m,)."""
    n, most = cum_gap.shape[1] - 1, starts.shape[0] - 2
    bins = np.empty(n + 1, np.int64)
    for row in range(out.shape[0]):
        sums = cum_hit[row]
        b = n
        if not _hits_are_last(sums):  # else every b passes
            b = most
            before = gather(sums, load(ranks, 0))
            for k in range(0, starts[most + 1], LANES):
                after = gather(sums, load(ranks, k + LANES))
                lane = _decrease(bounds, k, before, after)
                if lane < LANES:
                    b = 1
                    while starts[b + 2] <= k + int64(lane):
                        b += 1
                    break
                before = after
            else:
                while b < n and passes(bins, _fill_masses(n, b + 1, bins), sums):
                    b += 1
        chosen[row] = b
        out[row] = error_of_bins(cum_gap[row], bins, _fill_masses(n, b, bins) - 1, norm)


@njit(error_model="numpy")
def sweep_widths(
    scores: np.ndarray,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
    entries: np.ndarray,
    starts: np.ndarray,
    edges: np.ndarray,
    stages: np.ndarray,
    norm: float,
    out: np.ndarray,
    chosen: np.ndarray,
) -> None:
    """Fill the estimates and the numbers of bins chosen of equal width, each (m,)."""
    n = scores.shape[1]
    bounds, heights = np.empty(entries.shape[0] + 2 * LANES), np.empty(entries.shape[0] + 2 * LANES)
    bins = np.empty(n + 1, np.int64)
    ranks, positions = np.zeros(edges.shape[0], np.uint64), np.zeros(edges.shape[0])
    ranks[_HIGHEST], positions[_HIGHEST], positions[_BREAK] = n, n, np.nan
    for row in range(out.shape[0]):
        row_scores, sums = scores[row], cum_hit[row]
        b = n if _hits_are_last(sums) else 0  # then every b passes
        stage = 0
        while b == 0 and stage + 1 < stages.shape[0]:
            before = int64(stages[stage, 0])
            searched, following = stages[stage, 1], stages[stage + 1, 1]
            search_edges(row_scores, edges, searched, following, ranks)
            for k in range(searched, following):
                positions[k] = float64(ranks[k])
            stage += 1
            start, end = starts[before + 1], starts[stages[stage, 0] + uint64(1)]
            b = _first_decrease(entries, start, end, ranks, positions, sums, bounds, heights)
            b += before - 1 if b > 0 else 0
        most = int64(stages[stage, 0])
        is_listed = 0 < b <= most
        if b == 0:
            b = n if groups_pass(row_scores, sums, bins) else most
            while b < n and passes(bins, fill_widths(row_scores, b + 1, bins), sums):
                b += 1
        chosen[row] = b
        last = b
        if is_listed and b > 1:
            for k in range(last + 1):
                bins[k] = ranks[entries[starts[b] + k]]
        else:
            last = fill_widths(row_scores, b, bins) - 1
        out[row] = error_of_bins(cum_gap[row], bins, last, norm)


@njit
def _hits_are_last(cum_hit: np.ndarray) -> bool:
    """Return whether no hit is below a miss."""
    n = cum_hit.shape[0] - 1
    misses = n - int64(cum_hit[n])
    return 0 <= misses <= n and cum_hit[misses] == 0.0


@njit
def _first_decrease(
    entries: np.ndarray,
    start: int,
    end: int,
    ranks: np.ndarray,
    positions: np.ndarray,
    cum_hit: np.ndarray,
    bounds: np.ndarray,
    heights: np.ndarray,
) -> int:
    """Return which of the numbers of bins listed at [start, end) has the first decrease; or 0.

    Counted from 1. Empty bins are left out.
    """
    last = uint64(0)
    entry = entries[start]
    for e in range(start, end):
        following = entries[e + uint64(1)]
        bounds[last], heights[last] = positions[entry], cum_hit[ranks[entry]]
        last += uint64(1) if positions[following] != positions[entry] else uint64(0)
        entry = following
    for k in (last, last + uint64(LANES)):
        store(bounds, k, copies(np.nan))  # compares as no decrease
    before = load(heights, 0)
    for k in range(uint64(0), last - uint64(2), uint64(LANES)):
        after = load(heights, k + uint64(LANES))
        lane = _decrease(bounds, k, before, after)
        if lane < LANES:
            breaks = 1
            for j in range(k + lane):
                breaks += 1 if bounds[j] != bounds[j] else 0
            return breaks
        before = after
    return 0


@njit
def _decrease(bounds: np.ndarray, k: int, before: Any, after: Any) -> int:
    """Return at which of eight bins from entry k on the mean label decreases; 8 if at none.

    ``before`` and ``after`` are the hits below the entries k to k + 7 and k + 8 to k + 15.
    """
    left, middle, right = load(bounds, k), load(bounds, k + 1), load(bounds, k + 2)
    cut, high = lanes_from(before, after, 1), lanes_from(before, after, 2)
    fall = (cut - before) * (right - middle) - (high - cut) * (middle - left)
    return first_true(fall > 0.0)


@njit
def passes(bins: np.ndarray, last: int, cum_hit: np.ndarray) -> bool:
    """Return whether the mean labels of full bins, entries 0 to last - 1, never decrease."""
    for k in range(last - 2):
        left, middle, right = bins[k], bins[k + 1], bins[k + 2]
        fall = (cum_hit[middle] - cum_hit[left]) * (right - middle)
        if fall > (cum_hit[right] - cum_hit[middle]) * (middle - left):
            return False
    return True


@njit
def groups_pass(scores: np.ndarray, cum_hit: np.ndarray, bins: np.ndarray) -> bool:
    """Return whether the mean labels of groups of equal scores never decrease: no bins' do then."""
    last = 0
    for i in range(scores.shape[0]):
        if i == 0 or scores[i] > scores[i - 1]:
            bins[last] = i
            last += 1
    bins[last] = scores.shape[0]
    return passes(bins, last + 1, cum_hit)


@njit
def _fill_masses(n: int, b: int, bins: np.ndarray) -> int:
    """Fill in the ranks where b bins of equal mass begin, and n; return how many."""
    for k in range(b + 1):
        bins[k] = (k * n + b - 1) // b
    return b + 1


@njit
def fill_widths(scores: np.ndarray, b: int, bins: np.ndarray) -> int:
    """Fill in the ranks where the full bins of b of equal width begin, and n; return how many."""
    n = scores.shape[0]
    last = rank = 0
    while rank < n:
        bins[last] = rank
        last += 1
        k = min(int(scores[rank] * b), b - 1)  # rounding may put it one off
        k += 1 if scores[rank] >= (k + 1) / b else -1 if scores[rank] < k / b else 0
        rank = first_rank(scores, rank + 1, n, (k + 1) / b) if k + 1 < b else n
    bins[last] = n
    return last + 1
