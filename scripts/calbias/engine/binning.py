"""Where bins begin: the two partitions that every binned estimator shares.

Equal width: bin k of b holds the scores in [k/b, (k+1)/b), and 1.0 is in the last bin. Equal mass:
the sample of rank i (from 0, in ascending order) is in bin floor(i·b/n), in integer arithmetic.
An equal-mass bin never cuts a tie group, a group of equal scores that share their mean hit: a
boundary inside one moves to the group's nearer end, the upper end if both are equally far. Bins
that this leaves empty are dropped.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numba import uint64

from calbias.engine.jit import njit
from calbias.engine.simd import LANES, bits_of, first_true, float_of, gather, load

# An estimator's option ``binning`` by name, and the argument ``equal_mass`` of compiled functions.
IS_EQUAL_MASS = {"equal_width": False, "equal_mass": True}
_LANE_NUMBERS = np.arange(LANES, dtype=np.uint64)
_SEVEN = uint64(7)
_COMPARED = uint64(4 * LANES)
_BITS_OF_2_52 = uint64(0x4330000000000000)


def ranks_of_bins(scores: np.ndarray, n_bins: int, binning: str) -> np.ndarray:
    """Return (m, n_bins + 1): the first rank in bin k or above, for each row of sorted scores.

    Bin k holds the ranks from entry k up to entry k + 1, without the latter.
    """
    if IS_EQUAL_MASS[binning]:
        return _mass_ranks(*scores.shape, n_bins)
    if len(scores) == 1:
        return np.searchsorted(scores[0], edges(n_bins))[None]
    ranks = np.empty((scores.shape[0], n_bins + 1), np.int64)
    _search_all(scores, edges(n_bins), ranks)
    return ranks


def moved_to_group_ends(
    ranks: np.ndarray, tie_first: np.ndarray, tie_last: np.ndarray
) -> np.ndarray:
    """Return ranks (m, b + 1) with those inside a tie group at the group's nearer end.

    ``tie_first`` and ``tie_last`` (m, n + 1) are those of a ``SortedBatch``.
    """
    first = np.take_along_axis(tie_first, ranks, axis=1)
    last = np.take_along_axis(tie_last, ranks, axis=1)
    return np.where(last - ranks <= ranks - first, last, first)


@lru_cache(maxsize=64)
def bins_used(m: int, n_bins: int) -> np.ndarray:
    """Return the array (m,) that says ``n_bins`` for each data set; read-only and shared."""
    used = np.full(m, n_bins)
    used.flags.writeable = False
    return used


@lru_cache(maxsize=8)
def _mass_ranks(m: int, n: int, n_bins: int) -> np.ndarray:
    ranks = np.array([(k * n + n_bins - 1) // n_bins for k in range(n_bins + 1)])
    return np.tile(ranks, (m, 1))


@lru_cache(maxsize=8)
def edges(n_bins: int) -> np.ndarray:
    """Return the edges k/n_bins, with the outer ones beyond all scores."""
    return np.array([-1.0, *(k / n_bins for k in range(1, n_bins)), 2.0])


@njit(inline="always")
def nearer_end(rank: int, tie_first: np.ndarray, tie_last: np.ndarray) -> int:
    """Return the nearer end of the tie group that a rank is inside of, else the rank."""
    first, last = tie_first[rank], tie_last[rank]
    return last if last - rank <= rank - first else first


@njit
def _search_all(scores: np.ndarray, edges: np.ndarray, ranks: np.ndarray) -> None:
    n_bins = ranks.shape[1] - 1
    for row in range(scores.shape[0]):
        ranks[row, 0], ranks[row, n_bins] = 0, scores.shape[1]
        search_edges(scores[row], edges, uint64(1), uint64(n_bins), ranks[row])


@njit(inline="always")
def search_edges(
    scores: np.ndarray, edges: np.ndarray, start: int, end: int, ranks: np.ndarray
) -> None:
    """Set ``ranks`` [start, end) to the number of sorted scores (n,) below the edges.

    No branch depends on a score. Seven pivots, the same for all edges, tell in which eighth of the
    scores an edge is; this is halved to 32 scores, which are compared eight at a time.
    """
    n, one = uint64(scores.shape[0]), uint64(1)  # without a sign: no index from the end
    if n < _COMPARED:
        for k in range(start, end):
            ranks[k] = first_rank(scores, 0, scores.shape[0], edges[k])
        return
    eighth = n >> uint64(3)
    pivots = gather(scores, (load(_LANE_NUMBERS, 0) + one) * eighth - one)
    for k in range(start, end):
        edge = edges[k]
        at = min(first_true(pivots >= edge), _SEVEN) * eighth
        width = n - _SEVEN * eighth
        while width > _COMPARED:
            half = width >> one
            at += half * (bits_of(scores[at + half - one] - edge) >> uint64(63))  # the sign
            width -= half
        at = rank = min(at, n - _COMPARED)
        for i in range(0, 4 * LANES, LANES):
            rank += first_true(load(scores, at + uint64(i)) >= edge)
        ranks[k] = rank


@njit(error_model="numpy")
def error_of_bins(cum_gap: np.ndarray, ranks: np.ndarray, last: int, norm: float) -> float:
    """Return ECE_bin of one data set, for bins between the ranks of entries 0 to last."""
    total = 0.0
    for k in range(last):
        start, end = ranks[k], ranks[k + 1]
        size = end - start
        gap = abs(cum_gap[end] - cum_gap[start]) / max(size, 1)  # 0 of an empty bin
        total += size * (gap * gap if norm == 2.0 else gap**norm)
    mean = total / (cum_gap.shape[0] - 1)
    return math.sqrt(mean) if norm == 2.0 else mean ** (1.0 / norm)


@njit
def rows_from(row: int, width: int) -> Any:
    """Return the places, WORDS, where eight rows of an array of this width begin."""
    return (load(_LANE_NUMBERS, 0) + uint64(row)) * uint64(width)


@njit
def sizes_between(start: Any, end: Any) -> Any:
    """Return end - start, FLOATS, of WORDS."""
    return float_of((end - start) | _BITS_OF_2_52) - 2.0**52


@njit
def first_rank(scores: np.ndarray, low: int, high: int, least: float) -> int:
    """Return the first rank in [low, high) whose score is at least ``least``, else ``high``."""
    while low < high:
        middle = (low + high) >> 1
        if scores[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low
