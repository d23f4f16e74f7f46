"""Data sets of scores and hits in the one form that every estimator reads: sorted, with sums.

Row r of each array is one data set of n samples in ascending order of the score. Sums run over
ranks: entry i is the sum over the i samples of lowest score, so that a bin of ranks [i, j) has the
sum ``cum[j] - cum[i]``. It is not a ``Scored``: a simulation holds thousands of data sets, all of
one n, and sums are made once for all estimators while the scores are drawn.

**Bins** have two partitions. Equal width: bin k of b holds the scores in [k/b, (k+1)/b), and 1.0 is
in the last bin. Equal mass: the sample of rank i (from 0, in ascending order) is in bin
floor(i·b/n), in integer arithmetic. An equal-mass bin never cuts a tie group, a group of equal
scores that share their mean hit: a boundary inside one moves to the group's nearer end, the upper
end if both are equally far. Bins that this leaves empty are dropped.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError

# An estimator's option ``binning`` by name, and the argument ``equal_mass`` of compiled functions.
IS_EQUAL_MASS = {"equal_width": False, "equal_mass": True}


def ranks_of_bins(scores: np.ndarray, n_bins: int, binning: str) -> np.ndarray:
    """Return (m, n_bins + 1): the first rank in bin k or above, for each row of sorted scores.

    Bin k holds the ranks from entry k up to entry k + 1, without the latter.
    """
    if IS_EQUAL_MASS[binning]:
        return _mass_ranks(*scores.shape, n_bins)
    if len(scores) == 1:
        return np.searchsorted(scores[0], edges(n_bins))[None]
    from calbias.engine.bin_search import search_all  # of many data sets: it is compiled

    ranks = np.empty((scores.shape[0], n_bins + 1), np.int64)
    search_all(scores, edges(n_bins), ranks)
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


@lru_cache(maxsize=8)
def _mass_ranks(m: int, n: int, n_bins: int) -> np.ndarray:
    ranks = np.array([(k * n + n_bins - 1) // n_bins for k in range(n_bins + 1)])
    return np.tile(ranks, (m, 1))


@lru_cache(maxsize=8)
def edges(n_bins: int) -> np.ndarray:
    """Return the edges k/n_bins, with the outer ones beyond all scores."""
    return np.concatenate([[-1.0], np.arange(1, n_bins) / n_bins, [2.0]])


def bin_numbers(scores: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the bin of equal width (n,) of each score: k of [k/b, (k + 1)/b), the last of 1.

    A product that is too small by a few roundings is in the bin or in the one below it.
    """
    numbers = (scores * (n_bins * _SLIGHTLY_LESS)).astype(np.intp)
    numbers += scores >= edges(n_bins)[1:].take(numbers)
    return numbers


_SLIGHTLY_LESS = 1.0 - 2.0**-50  # than 1, by four roundings
TIES = ("average", "input_order")
Estimates = tuple[np.ndarray, np.ndarray]
"""Of m data sets an estimator's values and the numbers of bins used, (m,) each."""


class _Arrays(NamedTuple):
    scores: np.ndarray
    cum_gap: np.ndarray
    cum_hit: np.ndarray
    tie_first: np.ndarray
    tie_last: np.ndarray


class SortedBatch(_Arrays):
    """m data sets of n samples, one a row: a tuple of five arrays.

    scores      (m, n) ascending
    cum_gap     (m, n + 1) partial sums of score - hit
    cum_hit     (m, n + 1) partial sums of the hit; within a group of equal scores each sample
                counts with the group's mean hit
    tie_first   (m, n + 1) where rank i splits a group of equal scores, the group's first rank; i
                elsewhere. Of width 0 where no group was averaged.
    tie_last    (m, n + 1) likewise, one past the group's last rank
    """

    @classmethod
    def empty(cls, m: int, n: int) -> Self:
        """Return uninitialised arrays for m data sets of n samples without tie groups."""
        return cls.without_ties(np.empty((m, n)), np.empty((m, n + 1)), np.empty((m, n + 1)))

    @classmethod
    def without_ties(cls, scores: np.ndarray, cum_gap: np.ndarray, cum_hit: np.ndarray) -> Self:
        """Return data sets without tie groups."""
        no_ties = np.empty((scores.shape[0], 0), np.int64)
        return cls(scores, cum_gap, cum_hit, no_ties, no_ties)

    @classmethod
    def concatenated(cls, batches: Iterable[Self]) -> Self:
        """Return the data sets of several batches of one sample size, one after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*batches, strict=True)))

    def first(self, m: int) -> Self:
        """Return the first m data sets."""
        return type(self)(*(array[:m] for array in self))

    def ranks(self, n_bins: int, binning: str) -> np.ndarray:
        """Return (m, n_bins + 1): where bins begin, see ``binning``; searched once per batch."""
        kept: dict[Any, Any] = self.__dict__
        if (n_bins, binning) not in kept:
            ranks = ranks_of_bins(self.scores, n_bins, binning)
            if IS_EQUAL_MASS[binning] and self.tie_first.shape[1]:
                ranks = moved_to_group_ends(ranks, self.tie_first, self.tie_last)
            kept[n_bins, binning] = ranks
        return kept[n_bins, binning]

    def bins_used(self, n_bins: int, binning: str) -> np.ndarray:
        """Return the number of bins of each data set, (m,): of tied equal-mass bins the full ones.

        Elsewhere it is ``n_bins``.
        """
        if not IS_EQUAL_MASS[binning] or self.tie_first.shape[1] == 0:
            return np.full(self.scores.shape[0], n_bins)
        return np.count_nonzero(np.diff(self.ranks(n_bins, binning), axis=1), axis=1)

    def hits(self) -> np.ndarray:
        """Return the hits (m, n) in the order of the scores; equal scores have their mean hit."""
        return np.diff(self.cum_hit, axis=1)


def sorted_data_set(scores: ArrayLike, hits: ArrayLike, ties: str = "average") -> SortedBatch:
    """Return the SortedBatch, one row, of a user's scores (n,) in [0, 1] and hits (n,) in {0, 1}.

    ``ties="average"`` gives each sample of a group of equal scores the group's mean hit, so that
    no estimate depends on the order in which the rows came. ``ties="input_order"`` keeps the order
    of the rows within a group, as published numbers were computed; estimates then depend on it.
    Raises InputError for empty, unequal, masked, non-numeric, non-finite or out-of-range input.
    """
    if ties not in TIES:
        raise InputError(f"ties must be one of {', '.join(TIES)}, not {ties!r}")
    scores, hits = scores_and_hits(scores, hits)
    if ties == "input_order":
        order = np.argsort(scores, kind="stable")
        return of_sorted_scores(scores[order], hits[order][None], ties)
    scores, hits = sorted_rows(scores, hits)
    return of_sorted_scores(scores, hits[None], ties)


def sorted_rows(scores: np.ndarray, hits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return scores (n,) in [0, 1] in ascending order, with their hits, uint64."""
    keys = scores.view(np.uint64) << np.uint64(1)  # sort as the scores do; without a sign
    keys |= hits.astype(np.uint64)
    keys.sort()
    scores = (keys >> np.uint64(1)).view(np.float64)
    keys &= np.uint64(1)
    return scores, keys


def of_sorted_scores(scores: np.ndarray, hits: np.ndarray, ties: str = "average") -> SortedBatch:
    """Return the SortedBatch of m rows of hits (m, n) on the same ascending scores (n,).

    InputError for scores in another order or outside [0, 1].
    """
    m, n = hits.shape
    is_inside = scores.size and scores[0] >= 0 and scores[-1] <= 1
    if not (is_inside and (scores[1:] >= scores[:-1]).all()):  # false for NaN
        raise InputError("scores must ascend from 0 to 1: sort them, and the hits with them")
    rows = np.tile(scores, (m, 1)) if m > 1 else scores[None]
    if ties == "average" and (scores[1:] == scores[:-1]).any():
        return with_groups(rows, hits)
    cum_gap, cum_hit = np.zeros((m, n + 1)), np.zeros((m, n + 1))
    np.subtract(scores, hits, out=cum_gap[:, 1:])
    np.cumsum(cum_gap, axis=1, out=cum_gap)
    cum_hit[:, 1:] = np.cumsum(hits, axis=1)
    return SortedBatch.without_ties(rows, cum_gap, cum_hit)


def with_groups(scores: np.ndarray, hits: np.ndarray) -> SortedBatch:
    """Return the SortedBatch of m rows of sorted scores and hits, (m, n), equal ones as groups."""
    m, n = scores.shape
    is_first = np.ones((m, n), bool)
    is_first[:, 1:] = scores[:, 1:] != scores[:, :-1]
    starts = np.flatnonzero(is_first)
    size = np.diff(np.append(starts, m * n))
    group = np.cumsum(is_first).reshape(m, n) - 1
    group_hits = np.add.reduceat(hits.astype(np.float64).ravel(), starts)
    below = (np.cumsum(group_hits) - group_hits)[group]
    sums, ends = np.zeros((2, m, n + 1)), np.zeros((2, m, n + 1), np.int64)
    np.cumsum(scores - (group_hits / size)[group], axis=1, out=sums[0, :, 1:])
    first = starts[group] - n * np.arange(m)[:, None]
    share = (np.arange(1, n + 1) - first) / size[group]
    sums[1, :, 1:] = below - below[:, :1] + share * group_hits[group]
    last = first + size[group]
    ends[:, :, 1:] = np.where(last == np.arange(1, n + 1), last, first), last
    return SortedBatch(scores, *sums, *ends)
