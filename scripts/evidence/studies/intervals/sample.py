"""The scores and hits that an interval of the study is about, ascending."""

from functools import cached_property

import numpy as np

from calbias.engine.sorted_batch import sorted_data_set


class Sample:
    """n ascending scores with their hits; of equal scores the misses come first."""

    def __init__(self, scores, hits, seed=0):
        scores, hits = np.asarray(scores, float), np.asarray(hits, np.uint8)
        order = np.lexsort((hits, scores))
        self.scores, self.hits, self.seed = scores[order], hits[order], seed

    @property
    def n(self):
        """The number of rows."""
        return self.scores.size

    @cached_property
    def data(self):
        """The sample as a batch of one data set; equal scores share their mean hit."""
        return sorted_data_set(self.scores, self.hits)
