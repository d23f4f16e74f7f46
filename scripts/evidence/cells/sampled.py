"""Scenarios whose data sets the engine draws, many at once."""

from collections.abc import Iterator
from typing import Any

from calbias.engine.sampler import Sampler
from calbias.engine.sorted_batch import SortedBatch
from calbias.truth.scenarios import Scenario


class SampledCell:
    """A Scenario; the quantile table of its scores is made once."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario, self.name = scenario, scenario.name
        self._table: Any = None

    def truth(self, target: str) -> float:
        """Return NaN: a study of a Scenario has targets with options, and finds them itself."""
        return float("nan")

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[SortedBatch]:
        """Yield SortedBatches."""
        sampler = Sampler(self.scenario, n, seed, self._table)
        self._table = sampler.table
        return sampler.batches(range(data_sets))
