"""Simulated scores rounded to floats, as somebody has them who stored them.

A sampler's scores have no ties: two that are the same number count as two. ``rounded`` makes tie
groups of them, as in a file: each row of a group has the group's mean hit, and equal-mass bins do
not cut a group. A curve that grows to the end is evaluated up to the largest float below 1 alone.
"""

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import SortedBatch

EXACT = "exact"
PRECISIONS = (EXACT, "float64", "float32")


def log_gap_below_one(precision: str) -> float:
    """Return log(1 − c) of the largest score c below 1; -inf for ``exact``."""
    return -np.inf if precision == EXACT else float(np.log(np.finfo(precision).epsneg))


def rounded(data: SortedBatch, precision: str, ties: str = "average") -> SortedBatch:
    """Return data sets with their scores rounded; ``exact`` returns ``data``.

    ``ties="input_order"`` keeps the order of the rows in a group, and bins may cut it.
    """
    if precision == EXACT:
        return data
    scores = data.scores.astype(precision).astype(np.float64)
    m, n = scores.shape
    if ties == "input_order":
        gaps = np.zeros((m, n + 1))
        np.cumsum(scores - data.hits(), axis=1, out=gaps[:, 1:])
        return SortedBatch.without_ties(scores, gaps, data.cum_hit)
    sums, ends = np.empty((2, m, n + 1)), np.empty((2, m, n + 1), np.int64)
    _fill_groups(scores, data.cum_hit, *sums, *ends)
    return SortedBatch(scores, *sums, *ends)


@njit
def _fill_groups(
    scores: np.ndarray,
    cum_hit: np.ndarray,
    new_gap: np.ndarray,
    new_hit: np.ndarray,
    tie_first: np.ndarray,
    tie_last: np.ndarray,
) -> None:
    """Fill sums and group ends (m, n + 1) of ascending scores (m, n) with ties."""
    m, n = scores.shape
    for row in range(m):
        new_gap[row, 0] = new_hit[row, 0] = 0.0
        tie_first[row, 0] = tie_last[row, 0] = 0
        start = 0
        while start < n:
            score, end = scores[row, start], start + 1
            while end < n and scores[row, end] == score:
                end += 1
            size = end - start
            hits = cum_hit[row, end] - cum_hit[row, start]
            for k in range(start, end):
                new_gap[row, k + 1] = new_gap[row, k] + (score - hits / size)
                new_hit[row, k + 1] = cum_hit[row, start] + (k + 1 - start) / size * hits
                tie_first[row, k + 1], tie_last[row, k + 1] = start, end
            tie_first[row, end] = tie_last[row, end] = end
            start = end
