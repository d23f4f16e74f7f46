"""Data sets of scores and hits in the one form that every estimator reads: sorted, with sums.

Row r of each array is one data set of n samples in ascending order of the score. Sums run over
ranks: entry i is the sum over the i samples of lowest score, so that a bin of ranks [i, j) has the
sum ``cum[j] - cum[i]``.
"""

from typing import NamedTuple

import numpy as np

from calbias.errors import InputError

TIES = ("average", "input_order")


class SortedBatch(NamedTuple):
    """m data sets of n samples, one a row.

    scores      (m, n) ascending
    cum_gap     (m, n + 1) partial sums of score - label
    cum_hit     (m, n + 1) partial sums of the label: the hit, or within a group of equal scores
                the group's mean hit
    tie_first   (m, n + 1) where rank i splits a group of equal scores, the group's first rank; i
                elsewhere. Of width 0 where no group was averaged.
    tie_last    (m, n + 1) likewise, one past the group's last rank
    """

    scores: np.ndarray
    cum_gap: np.ndarray
    cum_hit: np.ndarray
    tie_first: np.ndarray
    tie_last: np.ndarray

    @classmethod
    def empty(cls, m, n):
        """Return uninitialised arrays for m data sets of n samples without tie groups."""
        no_ties = np.empty((m, 0), np.int64)
        sums = np.empty((m, n + 1)), np.empty((m, n + 1))
        return cls(np.empty((m, n)), *sums, no_ties, no_ties)

    def first(self, m):
        """Return the first m data sets."""
        return SortedBatch(*(array[:m] for array in self))

    def drawn_arrays(self):
        """Return the arrays that a sampler fills: scores, cum_gap, cum_hit."""
        return self.scores, self.cum_gap, self.cum_hit

    def hits(self):
        """Return the labels (m, n) in the order of the scores."""
        return np.diff(self.cum_hit, axis=1)


def sorted_data_set(scores, hits, ties="average"):
    """Return the SortedBatch, one row, of a user's scores (n,) in [0, 1] and hits (n,) in {0, 1}.

    ``ties="average"`` gives each sample of a group of equal scores the group's mean hit, so that
    no estimate depends on the order in which the rows came. ``ties="input_order"`` keeps the order
    of the rows within a group, as published numbers were computed; estimates then depend on it.
    Raises InputError for empty, unequal, masked, non-numeric, non-finite or out-of-range input.
    """
    scores, hits = _array("scores", scores), _array("hits", hits)
    scores = scores.astype(np.float64, copy=False)
    _check(scores, hits, ties)
    order = np.argsort(scores, kind="stable")
    return of_sorted_scores(scores[order], hits[order][None], ties)


def of_sorted_scores(scores, hits, ties="average"):
    """Return the SortedBatch of m rows of hits (m, n) on the same ascending scores (n,)."""
    m, n = hits.shape
    labels = hits.astype(np.float64)
    cum_hit = _partial_sums(labels)
    tie_first = tie_last = np.empty((m, 0), np.int64)
    starts = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]])
    if ties == "average" and starts.size < n:
        ends = np.r_[starts[1:], n]
        means = (cum_hit[:, ends] - cum_hit[:, starts]) / (ends - starts)
        labels = np.repeat(means, ends - starts, axis=1)
        first, last = _tie_groups(starts, ends)
        inside = (np.arange(n + 1) - first) / np.maximum(last - first, 1)
        low, high = (cum_hit.take(ranks, axis=1) for ranks in (first, last))  # both in C's order
        cum_hit = low + inside * (high - low)
        tie_first, tie_last = (np.broadcast_to(x, (m, n + 1)).copy() for x in (first, last))
    cum_gap = _partial_sums(scores - labels)
    return SortedBatch(
        np.broadcast_to(scores, (m, n)).copy(), cum_gap, cum_hit, tie_first, tie_last
    )


def _partial_sums(values):
    """Return (m, n + 1): 0 and the partial sums along the rows of (m, n)."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def _array(name, values):
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{name} must have no mask: leave masked samples out of scores and hits")
    try:
        values = np.asarray(values)
    except ValueError as error:  # rows of several lengths
        raise InputError(f"{name} must be one list of numbers: {error}") from error
    if values.dtype.kind not in "fiub":
        raise InputError(f"{name} must be numbers, not of type {values.dtype}")
    return values


def _check(scores, hits, ties):
    if ties not in TIES:
        raise InputError(f"ties must be one of {', '.join(TIES)}, not {ties!r}")
    if scores.ndim != 1 or scores.shape != hits.shape or scores.size == 0:
        raise InputError(
            f"scores and hits must be one-dimensional, of one length and not empty: "
            f"their shapes are {scores.shape} and {hits.shape}"
        )
    for name, bad, mend in (
        ("score", ~((scores >= 0) & (scores <= 1)), "give probabilities in [0, 1]"),
        ("hit", ~((hits == 0) | (hits == 1)), "give 1 for a correct prediction and 0 otherwise"),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            value = (scores if name == "score" else hits)[row]
            raise InputError(f"{name} {value} in row {row} (counted from 0): {mend}")


def _tie_groups(starts, ends):
    """Return (first, last), (n + 1,): the group [start, end) that rank i splits, else i, i."""
    ranks = np.arange(ends[-1] + 1)
    group = np.searchsorted(starts, ranks, side="right") - 1
    splits = (starts[group] < ranks) & (ranks < ends[group])
    return np.where(splits, starts[group], ranks), np.where(splits, ends[group], ranks)
