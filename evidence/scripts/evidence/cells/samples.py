"""Data sets: draws of scenarios, and subsamples of genuine rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calbias.engine.sampler import Sampler
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores
from calbias.reading.top_label import TopLabel
from calbias.truth.scenarios import Scenario


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


def by_score(top: TopLabel) -> TopLabel:
    """Return the rows in ascending order of their scores."""
    order = np.argsort(top.score, kind="stable")
    return TopLabel(*(array[order] for array in top))


@dataclass(frozen=True)
class GenuineRows:
    """Rows in ascending order of their scores, of which n are drawn without replacement.

    Their truth is not known: the value on all rows stands in for it. ``words`` name
    the stream, with {n} for the number of rows.
    """

    name: str
    rows: TopLabel
    words: tuple[str, ...]

    def truth(self, target: str) -> float:
        """Return NaN."""
        return float("nan")

    def generator(self, n: int, seed: int) -> np.random.Generator:
        """Return the generator of all subsamples of n rows."""
        return stream(seed, *(word.replace("{n}", str(n)) for word in self.words))

    def chosen(self, generator: np.random.Generator, n: int) -> NDArray[np.intp]:
        """Return the places of n rows, ascending."""
        return np.sort(generator.choice(self.rows.hit.size, n, replace=False, shuffle=False))

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[SortedBatch]:
        """Yield SortedBatches of one subsample."""
        generator = self.generator(n, seed)
        for _ in range(data_sets):
            chosen = self.chosen(generator, n)
            yield of_sorted_scores(self.rows.score[chosen], self.rows.hit[chosen][None])
