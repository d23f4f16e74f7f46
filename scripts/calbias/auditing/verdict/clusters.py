"""Rows that depend on each other: which cluster each row is in, and how much that matters.

Rows of one patient, question, game or user are a cluster. Nothing is assumed about the dependence
within a cluster; clusters are independent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrc

from calbias.engine.scores_and_hits import any_array, array_error
from calbias.errors import InputError
from calbias.samples.by_score import Floats, Ints

LEAST_CLUSTERS = 10
"""Fewer clusters give no verdict."""
FEW_CLUSTERS = 30
FEW_WITH_RARER = 10
"""Where fewer clusters have a hit, or a miss, each cluster also counts as one observation."""


@dataclass(frozen=True)
class ClusterFacts:
    """What a verdict on clusters rests on.

    ``design_effect`` is the squared ratio of the noise of binned gaps with and without clusters, at
    the residuals of the fitted line, at least 1: clustered rows never count like more independent
    rows than there are. ``effective_rows`` independent rows have as much noise.
    ``with_rarer`` is how many clusters have a hit, or how many have a miss if these are fewer.
    ``p_signs`` and ``p_independent`` are the p-values of random signs and of redraws of independent
    rows; the verdict's is the larger, or ``p_whole``, of clusters as single observations where
    ``with_rarer`` is below 10, if that is larger still. Outcomes that are right on average have no
    redraws.
    """

    clusters: int
    largest: int
    rows_per_cluster: float
    design_effect: float
    effective_rows: float
    with_rarer: int
    p_signs: float
    p_independent: float | None
    p_whole: float | None = None

    @property
    def are_rows(self) -> bool:
        """Whether each row is a cluster, of outcomes that are right on average."""
        return self.rows_per_cluster == 1.0


def cluster_codes(clusters: ArrayLike | Sequence[ArrayLike], n: int) -> tuple[Ints, int]:
    """Return each row's cluster (n,), numbered from 0, and the number of clusters.

    ``clusters`` is a column (n,) of ids, or a list of two or more such columns whose combinations
    are the clusters. Raises InputError for a missing id, with its row, and for another length.
    """
    codes = np.zeros(n, np.int64)
    for column in _validated(clusters, n):
        _, inner = np.unique(column, return_inverse=True)
        _, codes = np.unique(codes * (int(inner.max()) + 1) + inner, return_inverse=True)
    return codes.astype(np.int64), int(codes.max()) + 1


def cluster_names(clusters: ArrayLike | Sequence[ArrayLike], n: int) -> NDArray[np.str_]:
    """Return each row's cluster (n,) as a text, refused as ``cluster_codes`` does."""
    columns = [_as_texts(column) for column in _validated(clusters, n)]
    if len(columns) == 1:
        return columns[0]
    return np.array([json.dumps(row) for row in zip(*map(np.ndarray.tolist, columns), strict=True)])


def _validated(clusters: Any, n: int) -> list[NDArray[Any]]:
    """Return the columns of ids (n,); those of objects are texts."""
    columns = _columns(clusters, n)
    for k, column in enumerate(columns):
        if column.shape != (n,):
            raise InputError(
                f"clusters must be one id for each of the {n} rows: their shape is {column.shape}"
            )
        missing = np.flatnonzero(_is_missing(column))
        if missing.size:
            raise array_error("the cluster id is missing; give every row one", int(missing[0]))
        columns[k] = np.array([*map(str, column)]) if column.dtype.kind == "O" else column
    return columns


def validate_cluster_number(number: int, what: str = "cluster") -> None:
    """Raise InputError for fewer than ten clusters, or rows that each are one."""
    if number < LEAST_CLUSTERS and what == "row":
        raise InputError(f"{number} rows are too few for such outcomes: give at least 10")
    if number < LEAST_CLUSTERS:
        raise InputError(
            f"{number} cluster{'' if number == 1 else 's'}: give at least {LEAST_CLUSTERS}, which "
            "are independent; leave the clusters out if rows are independent, or judge a few "
            "hospitals or benchmarks as subgroups, by their column (--by)"
        )


def design_effect(residual: Floats, squares: Floats, bins: Ints, codes: Ints) -> float:
    """Return (Σ_b √Σ_g R_gb²)² / (Σ_b √Σ_i r_i²)², rows i, clusters g, bins b.

    Sums of residuals in a bin have noise of this size with clusters, and without. Arrays (e,) of
    entries: sums of residuals of some rows, and of their squares, bin and cluster.
    """
    n_bins = int(bins.max()) + 1
    pairs, inverse = np.unique(codes * n_bins + bins, return_inverse=True)
    sums = np.bincount(inverse, residual)
    noises = []
    for cells, values in ((pairs % n_bins, sums**2), (bins, squares)):
        order = np.lexsort((values, cells))  # no sum depends on the order of the clusters
        in_bins = np.bincount(cells[order], values[order], n_bins)
        noises.append(np.sqrt(np.maximum(in_bins, 0.0)).sum())
    return float((noises[0] / max(noises[1], 1e-300)) ** 2)


def clusters_with_rarer(codes: Ints, hits: NDArray, misses: NDArray) -> int:
    """Return how many clusters have a hit, or how many have a miss if these are fewer."""
    return min(np.unique(codes[count > 0]).size for count in (hits, misses))


def whole_clusters_p_value(means: Floats, rates: Floats) -> float:
    """Return the p-value of the mean rate of clusters (g,), each of which is one observation.

    With mean score m a cluster's rate of hits X is at most as spread as one outcome of chance m:
    E f(X) ≤ E f(outcome) for every convex f. So is the sum of the clusters' rates, against a
    binomial variable B of the same mean (Hoeffding 1956, for convex f). The order of P(· ≥ c) does
    not follow, but (x − t)₊/(c − t) is convex, and at least 1 from c on:

        P(Σ X ≥ c) ≤ min over t < c of E(B − t)₊/(c − t).

    It holds for any dependence within the clusters, where their sizes do not depend on their hits.
    Between whole numbers t the ratio is monotone.
    """
    number, expected = means.size, float(means.sum())
    distance = abs(float(rates.sum()) - expected) - 1e-9
    chance = expected / number
    above = _tail_bound(expected + distance, number, chance)
    below = _tail_bound(number - expected + distance, number, 1.0 - chance)
    return min(above + below, 1.0)


def _tail_bound(least: float, number: int, chance: float) -> float:
    """Return min over t of E(B − t)₊/(least − t), B binomial: at least P(X ≥ least)."""
    if least > number:
        return 0.0
    t = np.arange(math.ceil(least))
    if not t.size:
        return 1.0
    tails = bdtrc(np.arange(number), number, chance)  # P(B > k)
    excess = np.cumsum(tails[::-1])[::-1][: t.size]  # E(B − t)₊
    return float(min(np.min(excess / (least - t)), 1.0))


def cluster_warnings(number: int, with_rarer: int, what: str = "cluster") -> tuple[str, ...]:
    """Return what few clusters, or few misses in them, mean for the verdict."""
    texts = []
    if number < FEW_CLUSTERS:
        texts.append(
            f"{number} {what}s are few: p-value and interval are approximate below {FEW_CLUSTERS}"
        )
    if with_rarer < FEW_WITH_RARER:
        texts.append(
            f"hits, or misses, are in only {with_rarer} {what}{'s' * (with_rarer != 1)}: each "
            f"{what} was also judged as one observation"
        )
    return tuple(texts)


def _columns(clusters: Any, n: int) -> list[NDArray[Any]]:
    several = isinstance(clusters, list | tuple) and len(clusters) > 0
    is_nested = several and len(clusters) != n and any(map(np.ndim, clusters))
    if is_nested or (several and isinstance(clusters[0], np.ndarray)):
        return [_ids(column) for column in clusters]
    array = _ids(clusters)
    return list(array.T) if array.ndim == 2 and array.shape[0] == n else [array]


def _ids(column: Any) -> NDArray[Any]:
    """Return an array of ids; a NaN among texts stays one."""
    array = any_array("clusters", column)
    is_list = not isinstance(column, np.ndarray) and array.dtype.kind == "U"
    return np.asarray(column, dtype=object) if is_list else array


def _as_texts(column: NDArray[Any]) -> NDArray[np.str_]:
    """Return ids as texts, equal for equal ids of any type: 2 and 2.0, days and nanoseconds."""
    if column.dtype.kind == "f" and (np.abs(column) < 2**53).all() and not (column % 1).any():
        column = column.astype(np.int64)
    return column.astype("M8[ns]" if column.dtype.kind == "M" else column.dtype).astype(str)


def _is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    import pandas as pd

    if column.dtype.kind == "O":
        return pd.isna(column) | np.array(
            [isinstance(x, str) and x in ("", "<NA>") for x in column]
        )
    return column == "" if column.dtype.kind == "U" else pd.isna(column)
