"""Simulated scores rounded to floats, as somebody has them who stored them.

A sampler's scores have no ties: two that are the same number count as two. ``rounded`` makes tie
groups of them, as in a file: each row of a group has the group's mean hit, and equal-mass bins do
not cut a group. A curve that grows to the end is evaluated up to the largest float below 1 alone.
"""

import numpy as np

from calbias.engine.sorted_batch import SortedBatch, with_groups

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
    if ties == "input_order":
        gaps = np.zeros(data.cum_gap.shape)
        np.cumsum(scores - data.hits(), axis=1, out=gaps[:, 1:])
        return SortedBatch.without_ties(scores, gaps, data.cum_hit)
    return with_groups(scores, data.hits())
