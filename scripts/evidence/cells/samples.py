"""Data sets of the cells: a Sample of rows, and scenarios that the engine draws many at once."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.sampler import Sampler
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.truth.scenarios import Scenario


class Sample:
    """n ascending scores with their hits; of equal scores the misses come first."""

    def __init__(self, scores: ArrayLike, hits: ArrayLike, seed: int = 0) -> None:
        given: NDArray[np.float64] = np.asarray(scores, float)
        labels: NDArray[np.uint8] = np.asarray(hits, np.uint8)
        order = np.lexsort((labels, given))
        self.scores, self.hits, self.seed = given[order], labels[order], seed

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.scores.size

    @cached_property
    def data(self) -> SortedBatch:
        """The sample as a batch of one data set; equal scores share their mean hit."""
        return sorted_data_set(self.scores, self.hits)


class SampledCell:
    """A Scenario; the quantile table of its scores is made once."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.name = scenario, scenario.name
        self._table: NDArray | None = None

    def truth(self, target: str) -> float:
        """Return NaN: a study of a Scenario has targets with options, and finds them itself."""
        return float("nan")

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[SortedBatch]:
        """Yield SortedBatches."""
        sampler = Sampler(self.scenario, n, seed, self._table)
        self._table = sampler.table
        return sampler.batches(range(data_sets))
