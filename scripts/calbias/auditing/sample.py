"""The scores and hits that an audit is about, sorted, with the curve fitted to them."""

import warnings
from functools import cached_property

import numpy as np

from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.errors import InputError
from calbias.fits.empirical_error import fit_curve, hit_probability
from calbias.logits.top_label import TopLabel

_FLAT = 1e-12  # a curve nearer to the diagonal than this has no direction


class Sample:
    """n scores in ascending order with their hits.

    Parameters
    ----------
    scores : array_like (n,)
        Scores in [0, 1], in any order.
    hits : array_like (n,)
        1 where the prediction was correct, else 0.
    log_score, log1m_score : array_like (n,), optional
        log c and log(1 − c), if they are known better than from ``scores``: near 1 a score rounds.
    seed : int
        Seed of all random streams of the audit.

    Raises
    ------
    InputError
        For fewer than two rows, scores outside [0, 1] and hits other than 0 and 1.

    Notes
    -----
    Rows of equal scores are ordered by their hit, so that nothing depends on the order of the rows.
    """

    def __init__(self, scores, hits, log_score=None, log1m_score=None, seed=0):
        scores, hits = scores_and_hits(scores, hits)
        if scores.size < 2:
            raise InputError(f"{scores.size} rows are too few to judge a model by: give at least 2")
        order = np.lexsort((hits, scores))
        self.scores = scores[order].astype(np.float64)
        self.hits = hits[order].astype(np.uint8)
        with np.errstate(divide="ignore"):
            self.log_score = (
                np.log(self.scores) if log_score is None else np.asarray(log_score)[order]
            )
            self.log1m_score = (
                np.log1p(-self.scores) if log1m_score is None else np.asarray(log1m_score)[order]
            )
        self.seed = seed

    @property
    def n(self):
        """The number of rows."""
        return self.scores.size

    @cached_property
    def data(self) -> SortedBatch:
        """The sample as a batch of one data set; equal scores share their mean hit."""
        return sorted_data_set(self.scores, self.hits)

    @cached_property
    def curve(self):
        """The GLM of least AIC, or None where the mean hit stands for it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # separated scores: the audit says so itself
            return fit_curve(self._top_label).curve

    @cached_property
    def fitted(self):
        """The fitted probability of a hit at each score, (n,)."""
        return hit_probability(self._top_label, self.curve)

    @property
    def _top_label(self):
        return TopLabel(self.scores, self.log_score, self.log1m_score, self.hits)

    def rates(self, lam):
        """Return c_λ = s + λ(ĉ(s) − s), clipped to [0, 1], at each score, (n,)."""
        return np.clip(self.scores + lam * self._direction, 0.0, 1.0)

    @cached_property
    def _direction(self):
        direction = self.fitted - self.scores
        if np.abs(direction).max() < _FLAT:
            direction = self.scores * (1.0 - self.scores)
        return direction

    @cached_property
    def unit(self):
        """The λ at which the curve's ℓ1 error is at least half the standard error of a mean hit.

        1 unless the fitted curve is much nearer to the diagonal than the data can tell.
        """
        size = np.abs(self._direction).mean()
        if size == 0.0:
            return 1.0
        return max(1.0, 0.5 * np.sqrt((self.scores * (1 - self.scores)).mean() / self.n) / size)
