"""Weights of a cluster's rows that are known before the cluster.

Row i of a cluster, counted from 1, has the weight

    aᵢ = mean over the clusters before of 1{i ≤ m}/m,    Σ aᵢ = 1,

with m the size of a cluster, cut to three binary digits; one cluster of one row is added to them.
A cluster of the usual size then counts like the mean of its rows; rows that few clusters have count
for little.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SIZES = np.array([1, 2, 3, *(k << e for e in range(48) for k in (4, 5, 6, 7))], np.int64)
"""Sizes of three binary digits."""
NO_SIZES = np.zeros(SIZES.size, np.int64)


def class_of(sizes: Ints) -> Ints:
    """Return the place of each size, cut to three binary digits, in ``SIZES``."""
    return np.searchsorted(SIZES, sizes, side="right") - 1


def weights_after(counts: Ints) -> NDArray[np.float64]:
    """Return the weight of a row whose rank is up to each of ``SIZES`` (…, k).

    ``counts`` (…, k) are the clusters of each class before.
    """
    more = counts + (np.arange(SIZES.size) == 0)
    weights = np.cumsum((more / SIZES)[..., ::-1], axis=-1)[..., ::-1]
    return weights / more.sum(axis=-1, keepdims=True)


def row_weights(before: Ints, sizes: Ints, rank: Ints, group: Ints) -> NDArray[np.float64]:
    """Return the weight (n,) of rows by ``rank`` in their cluster, from 1, and by ``group``.

    ``before`` counts the clusters of each class before group 0; ``sizes`` (g - 1,) are those of the
    groups that others follow, 0 where a group is no cluster.
    """
    counts = np.zeros((sizes.size + 1, SIZES.size), np.int64)
    counts[0] = before
    counts[np.flatnonzero(sizes) + 1, class_of(sizes[sizes > 0])] = 1
    weights = weights_after(np.cumsum(counts, axis=0))
    return weights[group, np.searchsorted(SIZES, rank)]
