"""The runner of evidence: draw data of known truth, apply every method, compare.

A study is its cells, its methods and its reducer. A cell has a name and a truth for each target,
and draws its data sets in batches; the k-th depends on the seed, the cell, its number of rows and
k. All methods see the same data sets. The reducer makes rows from the methods' values.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
Values = Mapping[str, NDArray]


class Cell(Protocol):
    """Data of known truth."""

    @property
    def name(self) -> str:
        """The name in the table."""

    def truth(self, target: str) -> float:
        """Return the true value of a target, such as ``l1``."""

    def batches(self, n: int, seed: int, data_sets: int) -> Iterable[Any]:
        """Yield the data sets of n rows: SortedBatches, or a ``Batch``."""


AnyCell = TypeVar("AnyCell", bound=Cell)
AnyCell_contra = TypeVar("AnyCell_contra", bound=Cell, contravariant=True)


class Batch(tuple[Any, ...]):
    """Data sets that were drawn one at a time."""

    def first(self, m: int) -> "Batch":
        """Return the first m of them."""
        return Batch(self[:m])


class Method(NamedTuple):
    """What is applied to a batch of data sets, for values (m, …) of a target.

    ``most`` is the number of data sets of a cell that it gets; None means all.
    """

    target: str
    values: Callable[[Any], NDArray]
    most: int | None = None


def each(function: Callable[[Any], Any]) -> Callable[[Iterable[Any]], NDArray]:
    """Return a function of a Batch from a function of one data set."""
    return lambda batch: np.array([function(data) for data in batch])


def values_of(methods: Mapping[str, Method], batches: Iterable[Any]) -> dict[str, NDArray]:
    """Return {name: values of all data sets}; without a data set a name is missing."""
    parts: dict[str, list[NDArray]] = {}
    done = 0
    for batch in batches:
        size = len(getattr(batch, "scores", batch))
        for name, method in methods.items():
            wanted = size if method.most is None else min(size, method.most - done)
            if wanted > 0:
                data = batch if wanted == size else batch.first(wanted)
                parts.setdefault(name, []).append(np.array(method.values(data)))
        done += size
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


class Reducer(Protocol[AnyCell_contra]):
    """Makes rows of a cell at n rows from its methods and their values."""

    def __call__(
        self, cell: AnyCell_contra, n: int, methods: Mapping[str, Method], values: Values
    ) -> Iterable[Row]:
        """Return or yield the rows."""


def run(
    cells: Iterable[tuple[AnyCell, int]],
    methods: Callable[[AnyCell, int], Mapping[str, Method]],
    data_sets: int | Callable[[AnyCell, int], int],
    seed: int,
    reduce: Reducer[AnyCell],
) -> Iterator[Row]:
    """Yield the rows of a study: ``reduce`` of each cell at each number of rows."""
    for cell, n in cells:
        cell_methods = methods(cell, n)
        m = data_sets if isinstance(data_sets, int) else data_sets(cell, n)
        yield from reduce(cell, n, cell_methods, values_of(cell_methods, cell.batches(n, seed, m)))


def at_sizes(cells: Iterable[AnyCell], sizes: Iterable[int]) -> Iterator[tuple[AnyCell, int]]:
    """Yield each cell at each number of rows."""
    return itertools.product(cells, sizes)


def errors_of(values: NDArray, truth: float) -> Row:
    """Return the columns on how far estimates (m,) lie from the truth."""
    bias, sd = values.mean() - truth, values.std(ddof=1)
    return {
        "n_replicates": values.size,
        "truth": truth,
        "mean_estimate": values.mean(),
        "bias": bias,
        "bias_se": sd / math.sqrt(values.size),
        "sd": sd,
        "rmse": math.sqrt(np.mean((values - truth) ** 2)),
    }
