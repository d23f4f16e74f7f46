"""Where bins begin: the two partitions that every binned estimator shares.

Equal width: bin k of b holds the scores in [k/b, (k+1)/b), and 1.0 is in the last bin. Equal mass:
the sample of rank i (from 0, in ascending order) is in bin floor(i·b/n), in integer arithmetic.
An equal-mass bin never cuts a tie group, a group of equal scores that share their mean hit: a
boundary inside one moves to the group's nearer end, the upper end if both are equally far. Bins
that this leaves empty are dropped.
"""

from functools import lru_cache

import numpy as np

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
