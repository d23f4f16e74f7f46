"""The scores and hits that an audit is about, ascending."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calbias.engine.groups import Groups, groups_of
from calbias.engine.redraw import FixedScores
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.errors import InputError
from calbias.logits.top_label import TopLabel, top_label_of_scores


class Sample:
    """n ascending scores with their hits; ``order`` (n,) leads from the given rows to them.

    ``log_score`` and ``log1m_score`` (n,) are log c and log(1 − c) where they are known better than
    from the scores: near 1 a score rounds. ``weights`` (n,) are those of ``scaled_weights``, or
    None. Rows of equal scores are ordered by hit and weight, so that nothing depends on the order
    of the rows. InputError for fewer than two rows.
    """

    def __init__(
        self,
        scores: ArrayLike,
        hits: ArrayLike,
        log_score: NDArray[np.float64] | None = None,
        log1m_score: NDArray[np.float64] | None = None,
        seed: int = 0,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        values, outcomes = scores_and_hits(scores, hits)
        if values.size < 2:
            raise InputError(f"{values.size} rows are too few to judge a model by: give at least 2")
        keys = (outcomes, values) if weights is None else (weights, outcomes, values)
        self.order = order = np.lexsort(keys)
        self.scores = values[order].astype(np.float64)
        self.hits = outcomes[order].astype(np.uint8)
        self.seed = seed
        self.weights = None if weights is None else weights[order]
        if log_score is None or log1m_score is None:
            _, self.log_score, self.log1m_score, _ = top_label_of_scores(self.scores, self.hits)
        else:
            self.log_score, self.log1m_score = log_score[order], log1m_score[order]

    @classmethod
    def of(cls, top: TopLabel, seed: int = 0, weights: NDArray[np.float64] | None = None) -> Sample:
        """Return the Sample of a TopLabel."""
        return cls(top.score, top.hit, top.log_score, top.log1m_score, seed, weights)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.scores.size

    @cached_property
    def data(self) -> SortedBatch:
        """The sample as a batch of one data set; equal scores share their mean hit."""
        return sorted_data_set(self.scores, self.hits)

    @cached_property
    def groups(self) -> Groups:
        """The rows with their weights by score."""
        weights = np.ones(self.n) if self.weights is None else self.weights
        return groups_of(self.scores, self.hits, weights)

    @property
    def effective_n(self) -> float:
        """(Σ w)²/Σ w², or the number of rows."""
        return float(self.n) if self.weights is None else float(self.weights.sum())

    @property
    def sums(self) -> tuple[NDArray[np.float64], ...]:
        """Scores and partial sums of the hits, and with weights of these and their squares."""
        if self.weights is None:
            return self.data.scores[0], self.data.cum_hit[0]
        return self.groups.scores, *self.groups.partial_sums()

    def weighted(self, kept: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> Sample:
        """Return the Sample of the kept of the given rows (n,), with their weights or None."""
        every = np.zeros(self.n)
        every[kept] = 1.0 if weights is None else weights
        inside = kept[self.order]
        own = None if weights is None else every[self.order][inside]
        part = Sample.of(TopLabel(*(x[inside] for x in self.top_label)), self.seed, own)
        part.order = self.order[inside][part.order]
        return part

    def redraws(self, name: str = "audit") -> FixedScores:
        """Return the FixedScores that draw hits at these scores."""
        return FixedScores(self.scores, self.seed, name)

    @property
    def top_label(self) -> TopLabel:
        """The sample as a TopLabel, ascending."""
        return TopLabel(self.scores, self.log_score, self.log1m_score, self.hits)
