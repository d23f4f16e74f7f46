"""A measure on cells: terms of each cell, summed by group and joined into one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from calbias.multiclass.class_bins import ClassBins, Floats
from calbias.multiclass.rows import Rows

Join = Literal["mean", "sum", "root_mean", "weighted", "root_weighted"]
Terms = Callable[[ClassBins, Floats, Floats], Floats]


class Measure(Protocol):
    """A measure of given probabilities: a function of the labels alone."""

    def values(self, labels: NDArray[np.int32]) -> Floats:
        """Return the values (r, G) of the groups for labels (n, r) in the order of the Rows."""
        ...

    def whole(self, values: Floats) -> Floats:
        """Return the values (r,) of the whole."""
        ...


@dataclass(frozen=True)
class Binned:
    """A measure on cells.

    ``terms(cells, hits, hit_scores)`` is the term (r, cells) of each cell, to be divided by the
    number of rows in its group; ``hit_scores``, the sums of the probabilities of the hits, are for
    ``unbiased`` alone. ``join`` says how groups make the whole: mean or sum over groups, or mean
    weighted by rows; a root is taken of the positive part.
    """

    rows: Rows
    cells: ClassBins
    terms: Terms
    join: Join

    def values(self, labels: NDArray[np.int32]) -> Floats:
        """Return the values (r, G) of the groups for labels (n, r)."""
        is_used = self.terms is unbiased  # the one that reads them
        scores = self.cells.hit_scores(self.rows, labels) if is_used else np.empty((0, 0))
        return self._values(self.cells.hits(labels), scores)

    def expected(self, chances: Floats) -> Floats:
        """Return the value of the whole where labels have the chances (n, K), without noise."""
        return self.whole(self._values(self.cells.expected(chances), np.empty((0, 0))))

    def whole(self, values: Floats) -> Floats:
        """Return the values (r,) of the whole from the groups' values (r, G)."""
        sizes = self._group_sizes()
        weights = np.ones(len(sizes))
        if self.join.endswith("weighted"):
            weights = sizes / sizes.sum()
        elif self.join != "sum":
            weights /= len(sizes)
        joined: Floats = np.sum(values * weights, axis=1)
        return np.sqrt(np.maximum(joined, 0.0)) if self.join.startswith("root") else joined

    def _values(self, hits: Floats, scores: Floats) -> Floats:
        terms = self.terms(self.cells, hits, scores)
        values: Floats = self.cells.by_group(terms) / np.maximum(self._group_sizes(), 1.0)
        return values

    def _group_sizes(self) -> Floats:
        sizes: Floats = self.cells.by_group(self.cells.sizes[None])[0]
        return sizes


def absolute(cells: ClassBins, hits: Floats, _scores: Floats) -> Floats:
    """Return |Σ p − hits|: the size of the cell times the distance of the means."""
    return np.abs(cells.sums - hits)


def square(cells: ClassBins, hits: Floats, _scores: Floats) -> Floats:
    """Return the size of the cell times the squared distance of the means."""
    return (cells.sums - hits) ** 2 / np.maximum(cells.sizes, 1.0)


def debiased(cells: ClassBins, hits: Floats, _scores: Floats) -> Floats:
    """Return the debiased terms, times the sizes of the cells."""
    sizes = np.maximum(cells.sizes, 2.0)
    noise = hits * (1.0 - hits / sizes) / (sizes - 1.0)
    return np.where(cells.sizes > 1, (cells.sums - hits) ** 2 / sizes - noise, 0.0)


def unbiased(cells: ClassBins, hits: Floats, scores: Floats) -> Floats:
    """Return the terms of the U-statistic, times the sizes of the cells."""
    squares = cells.squares + hits - 2.0 * scores  # Σ (p − y)² = Σ p² + Σ_hits (1 − 2p)
    pairs = (cells.sums - hits) ** 2 - squares
    return np.where(cells.sizes > 1, pairs / np.maximum(cells.sizes - 1.0, 1.0), 0.0)
