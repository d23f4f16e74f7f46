"""The bins' kernels: where the edges are among sorted scores, and sums over bins."""

import math
from typing import Any

import numpy as np

from calbias.engine.jit import njit, uint64
from calbias.engine.simd import LANES, bits_of, first_true, float_of, gather, load

_LANE_NUMBERS = np.arange(LANES, dtype=np.uint64)
_SEVEN = uint64(7)
_COMPARED = uint64(4 * LANES)
_BITS_OF_2_52 = uint64(0x4330000000000000)


@njit(inline="always")
def nearer_end(rank: int, tie_first: np.ndarray, tie_last: np.ndarray) -> int:
    """Return the nearer end of the tie group that a rank is inside of, else the rank."""
    first, last = tie_first[rank], tie_last[rank]
    return last if last - rank <= rank - first else first


@njit
def search_all(scores: np.ndarray, edges: np.ndarray, ranks: np.ndarray) -> None:
    """Fill ranks (m, n_bins + 1) of the edges among the scores (m, n) of m data sets."""
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
def lanes_of_rows(m: int) -> np.ndarray:
    """Return the numbers of m rows, filled up by copies of the last to whole vectors and more."""
    return np.minimum(np.arange(m + LANES), m - 1).astype(np.uint64)


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
