"""The scores and hits that an audit is about, ascending."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.redraw import FixedScores
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.errors import InputError
from calbias.logits.top_label import TopLabel, top_label_of_scores


class Sample:
    """n ascending scores with their hits; ``order`` (n,) leads from the given rows to them.

    ``log_score`` and ``log1m_score`` (n,) are log c and log(1 − c) where they are known better than
    from the scores: near 1 a score rounds. Rows of equal scores are ordered by hit, so that nothing
    depends on the order of the rows. InputError for fewer than two rows.
    """

    def __init__(
        self,
        scores: ArrayLike,
        hits: ArrayLike,
        log_score: NDArray[np.float64] | None = None,
        log1m_score: NDArray[np.float64] | None = None,
        seed: int = 0,
    ) -> None:
        values, outcomes = scores_and_hits(scores, hits)
        if values.size < 2:
            raise InputError(f"{values.size} rows are too few to judge a model by: give at least 2")
        self.order = order = np.lexsort((outcomes, values))
        self.scores = values[order].astype(np.float64)
        self.hits = outcomes[order].astype(np.uint8)
        self.seed = seed
        if log_score is None or log1m_score is None:
            _, self.log_score, self.log1m_score, _ = top_label_of_scores(self.scores, self.hits)
        else:
            self.log_score, self.log1m_score = log_score[order], log1m_score[order]

    @classmethod
    def of(cls, top: TopLabel, seed: int = 0) -> Sample:
        """Return the Sample of a TopLabel."""
        return cls(top.score, top.hit, top.log_score, top.log1m_score, seed)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.scores.size

    @cached_property
    def data(self) -> SortedBatch:
        """The sample as a batch of one data set; equal scores share their mean hit."""
        return sorted_data_set(self.scores, self.hits)

    def redraws(self, name: str = "audit") -> FixedScores:
        """Return the FixedScores that draw hits at these scores."""
        return FixedScores(self.scores, self.seed, name)

    @property
    def top_label(self) -> TopLabel:
        """The sample as a TopLabel, ascending."""
        return TopLabel(self.scores, self.log_score, self.log1m_score, self.hits)
