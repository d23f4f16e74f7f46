"""The runner of evidence: draw data of known truth, apply every method, compare.

A study is its cells, its methods and its reducer. A cell has a name and a truth for each target,
and draws its data sets in batches; the k-th depends on the seed, the cell, its number of rows and
k. All methods see the same data sets. The reducer makes rows from the methods' values.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

Values = dict[str, NDArray]


class Cell(Protocol):
    """Data of known truth."""

    @property
    def name(self) -> str:
        """The name in the column ``scenario``."""
        ...

    def truth(self, target: str) -> float:
        """Return the true value of a target, such as ``l1``."""
        ...

    def batches(self, n: int, seed: int, data_sets: int) -> Iterable[Any]:
        """Yield the data sets of n rows: SortedBatches, or a ``Batch``."""
        ...


class Batch(tuple):  # type: ignore[type-arg]
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


def values_of(methods: Mapping[str, Method], batches: Iterable[Any]) -> Values:
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
    return {name: np.concatenate(of_method) for name, of_method in parts.items()}


def run(
    cells: Iterable[tuple[Cell, int]],
    methods: Callable[[Cell, int], Mapping[str, Method]],
    data_sets: int,
    seed: int,
    reduce: Callable[[Cell, int, Mapping[str, Method], Values], Iterator[dict[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a study: ``reduce`` of each cell at each number of rows."""
    for cell, n in cells:
        of_cell = methods(cell, n)
        values = values_of(of_cell, cell.batches(n, seed, data_sets))
        yield from reduce(cell, n, of_cell, values)


class Bounds(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> Bounds:
    """Return the exact interval of a proportion."""
    tail = (1 - level) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return Bounds(float(low), float(high))
