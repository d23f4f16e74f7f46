"""The bins of each class, or of each predicted class, and measures that are sums over them.

A row is in at most one cell for each class. Its cell for class k counts a hit where the label is k.
A measure has a term for each cell; terms are summed by group and joined into one number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calbias.engine.jit import njit
from calbias.multiclass.class_rows import Rows

NO_CELL = 0xFFFF
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Bins = NDArray[np.uint16]
By = Literal["class", "predicted_class", "all"]


@dataclass(frozen=True)
class ClassBins:
    """The cells of probabilities, G groups of B bins; cell c is of group c // B.

    bins      (n, K) uint16, the bin of each row's probability of each class, or ``NO_CELL``
    offsets   (K,) the first cell of the class's group
    sizes, sums, squares   (G·B,) of each cell the number of rows, the sum of their probabilities
              and of the squares
    """

    bins: Bins
    offsets: Indices
    sizes: Floats
    sums: Floats
    squares: Floats
    n_bins: int

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return self.sizes.size // self.n_bins

    def hits(self, labels: NDArray[np.int32]) -> Floats:
        """Return the number of hits (r, cells) for labels (n, r)."""
        return self._sums_of_hits(np.broadcast_to(1.0, self.bins.shape), labels)

    def hit_scores(self, rows: Rows, labels: NDArray[np.int32]) -> Floats:
        """Return the sum (r, cells) of the probabilities of the hits for labels (n, r)."""
        return self._sums_of_hits(rows.probabilities, labels)

    def _sums_of_hits(self, values: Floats, labels: NDArray[np.int32]) -> Floats:
        """Return the sum (r, cells) of values (n, K) where the label is the class."""
        out = np.zeros((labels.shape[1], self.sizes.size))
        _add(self.bins, self.offsets, labels, values, out)
        return out

    def expected_hits(self, probabilities: Floats) -> Floats:
        """Return the expected hits (1, cells) where the labels have the probabilities (n, K)."""
        inside = self.bins != NO_CELL
        cells = (self.offsets + self.bins)[inside]
        return np.bincount(cells, probabilities[inside], self.sizes.size).astype(np.float64)[None]

    def by_group(self, terms: Floats) -> Floats:
        """Return the sums (r, G) of terms (r, cells) over the cells of each group."""
        upto = terms.reshape(len(terms), self.n_groups, self.n_bins).cumsum(axis=2)
        return upto[:, :, -1]  # in the order of the bins, as a sum is not


def equal_width(rows: Rows, n_bins: int, by: By = "class", threshold: float = -1.0) -> ClassBins:
    """Return cells [k/b, (k + 1)/b) of the probability; 1 is in the last bin."""
    edges = np.tile(np.arange(1, n_bins) / n_bins, (rows.shape[1], 1))
    return _cells(rows, edges, n_bins, by, threshold)


def equal_mass(
    rows: Rows, n_bins: int, by: By = "class", threshold: float = -1.0, fewest: int = 1
) -> ClassBins:
    """Return cells of about equally many rows; equal probabilities are never parted.

    A boundary inside a group of equal probabilities moves to its nearer end, the upper one if both
    are equally far. A group of rows has fewer bins where they would hold fewer than ``fewest``.
    """
    n_classes = rows.shape[1]
    if by == "all":
        scores = rows.probabilities[np.arange(len(rows.top)), rows.top]
        edges = np.tile(_mass_edges(scores, n_bins, fewest), (n_classes, 1))
        return _cells(rows, edges, n_bins, by, threshold)
    edges = np.empty((n_classes, n_bins - 1))
    for k in range(n_classes):
        column = rows.probabilities[:, k]
        column = column[rows.top == k] if by == "predicted_class" else column
        edges[k] = _mass_edges(column[column > threshold], n_bins, fewest)
    return _cells(rows, edges, n_bins, by, threshold)


def _mass_edges(values: Floats, n_bins: int, fewest: int) -> Floats:
    """Return the least value of each bin but the first, (n_bins - 1,); inf for bins of none."""
    edges = np.full(n_bins - 1, np.inf)
    n = values.size
    used = max(1, min(n_bins, n // fewest))
    if n > 0 and used > 1:
        values = np.sort(values)
        ranks = np.array([(k * n + used - 1) // used for k in range(1, used)])
        low = np.searchsorted(values, values[ranks], side="left")
        high = np.searchsorted(values, values[ranks], side="right")
        ends = np.where(high - ranks <= ranks - low, high, low)
        ends = np.where(low == ranks, ranks, ends)  # the boundary parts no group
        edges[: used - 1] = np.append(values, np.inf)[ends]
    return edges


def _cells(rows: Rows, edges: Floats, n_bins: int, by: By, threshold: float) -> ClassBins:
    n, n_classes = rows.shape
    bins = np.full((n, n_classes), NO_CELL, np.uint16)
    offsets = np.zeros(n_classes, np.int64) if by == "all" else n_bins * np.arange(n_classes)
    cell_sums = np.zeros((3, n_bins if by == "all" else n_bins * n_classes))
    _assign(rows.probabilities, rows.top, by == "class", edges, threshold, offsets, bins, cell_sums)
    sizes, sums, squares = cell_sums
    return ClassBins(bins, offsets, sizes, sums, squares, n_bins)


@njit
def _assign(
    probabilities: Floats,
    top: Indices,
    all_classes: bool,
    edges: Floats,
    threshold: float,
    offsets: Indices,
    bins: Bins,
    cell_sums: Floats,
) -> None:
    for i in range(probabilities.shape[0]):
        begin = 0 if all_classes else top[i]
        end = probabilities.shape[1] if all_classes else top[i] + 1
        for k in range(begin, end):
            p = probabilities[i, k]
            if p > threshold:
                bins[i, k] = np.searchsorted(edges[k], p, side="right")
                cell = offsets[k] + bins[i, k]
                cell_sums[0, cell] += 1.0
                cell_sums[1, cell] += p
                cell_sums[2, cell] += p * p


@njit
def _add(
    bins: Bins, offsets: Indices, labels: NDArray[np.int32], values: Floats, out: Floats
) -> None:
    for i in range(labels.shape[0]):
        for r in range(labels.shape[1]):
            k = labels[i, r]
            if bins[i, k] != NO_CELL:
                out[r, offsets[k] + bins[i, k]] += values[i, k]


Join = Literal["mean", "sum", "root_mean", "weighted", "root_weighted"]
Terms = Callable[[ClassBins, Floats, Floats], Floats]


@dataclass(frozen=True)
class Binned:
    """A measure on cells: of given probabilities, a function of the labels alone.

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

    def expected(self, probabilities: Floats) -> Floats:
        """Return the value of all groups together where the labels have the probabilities (n, K).

        It has no noise.
        """
        expected_hits = self.cells.expected_hits(probabilities)
        return self.whole(self._values(expected_hits, np.empty((0, 0))))

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
