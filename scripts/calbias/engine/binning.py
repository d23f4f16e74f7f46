"""Where bins begin: the two partitions that every binned estimator shares.

Equal width: bin k of b holds the scores in [k/b, (k+1)/b), and 1.0 is in the last bin. Equal mass:
the sample of rank i (from 0, in ascending order) is in bin floor(i·b/n), in integer arithmetic.
"""

from functools import lru_cache

import numpy as np

from calbias.engine.jit import njit

# An estimator's option ``binning`` by name, and the argument ``equal_mass`` of compiled functions.
IS_EQUAL_MASS = {"equal_width": False, "equal_mass": True}


def ranks_of_bins(scores, n_bins, binning):
    """Return (m, n_bins + 1): the first rank in bin k or above, for each row of sorted scores.

    Bin k holds the ranks from entry k up to entry k + 1, without the latter.
    """
    if IS_EQUAL_MASS[binning]:
        return _mass_ranks(*scores.shape, n_bins)
    if len(scores) == 1:
        return np.searchsorted(scores[0], edges(n_bins))[None]
    ranks = np.empty((scores.shape[0], n_bins + 1), np.int64)
    search_edges(scores, edges(n_bins), ranks)
    return ranks


@lru_cache(maxsize=64)
def bins_used(m, n_bins):
    """Return the array (m,) that says ``n_bins`` for each data set; read-only and shared."""
    used = np.full(m, n_bins)
    used.flags.writeable = False
    return used


@lru_cache(maxsize=8)
def _mass_ranks(m, n, n_bins):
    ranks = np.array([(k * n + n_bins - 1) // n_bins for k in range(n_bins + 1)])
    return np.tile(ranks, (m, 1))


@lru_cache(maxsize=8)
def edges(n_bins):
    """Return the edges k/n_bins, with the outer ones beyond all scores."""
    return np.array([-1.0, *(k / n_bins for k in range(1, n_bins)), 2.0])


@njit
def search_edges(scores, edges, ranks):
    """Fill each row of ``ranks`` with the number of scores in a row, sorted, below each edge.

    All binary searches of a row take the same steps, side by side and without a branch.
    """
    for row in range(scores.shape[0]):
        width = scores.shape[1]
        for k in range(edges.shape[0]):
            ranks[row, k] = 0
        while width > 1:
            half = width >> 1
            for k in range(edges.shape[0]):
                ranks[row, k] += half if scores[row, ranks[row, k] + half - 1] < edges[k] else 0
            width -= half
        for k in range(edges.shape[0]):
            ranks[row, k] += 1 if scores[row, ranks[row, k]] < edges[k] else 0
