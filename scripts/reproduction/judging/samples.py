"""A data set: rows in ascending order of their scores."""

from functools import cached_property

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
