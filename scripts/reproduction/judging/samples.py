"""A data set, rows in ascending order of their scores, and cells that draw one at a time."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.sorted_batch import SortedBatch, sorted_data_set


class Sample:
    """n ascending scores with their hits; of equal scores the misses come first.

    Scores have twelve digits, so that which ones are equal does not depend on the processor.
    """

    def __init__(self, scores: ArrayLike, hits: ArrayLike, seed: int = 0) -> None:
        given: NDArray[np.float64] = np.round(np.asarray(scores, float), 12)
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


class Drawn:
    """A cell whose data sets are drawn one at a time."""

    def draw(self, n: int, seed: int, number: int) -> Any:
        """Return data set ``number``: a function of the seed and of names."""
        raise NotImplementedError

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[tuple[Any]]:
        """Yield the data sets, each alone."""
        for number in range(data_sets):
            yield (self.draw(n, seed, number),)

    def truth(self, target: str) -> float:
        """Return NaN: a study whose reducer compares data sets with their own truths."""
        return float("nan")
