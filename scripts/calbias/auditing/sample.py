"""The scores and hits that an audit is about, with the family of curves fitted to them.

The family c_λ = s + λ(ĉ(s) − s) leads from perfect calibration (λ = 0) through the fitted curve ĉ
(λ = 1) and beyond.
"""

import warnings
from functools import cached_property

import numpy as np
from scipy.special import xlog1py, xlogy

from calbias.engine.redraw import FixedScores
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.errors import InputError
from calbias.fits.empirical_error import fit_curve, hit_probability
from calbias.logits.top_label import TopLabel, top_label_of_scores

_FLAT = 1e-12  # a curve nearer to the diagonal than this has no direction


class Family:
    """The curves c_λ at ascending ``scores`` (m,) with ``hits``, from the rates ``fitted`` (m,).

    Each score stands for ``size`` rows: an array (m,), or 1; n is the number of all rows.
    """

    size = 1

    def rates(self, lam):
        """Return c_λ = s + λ(ĉ(s) − s), clipped to [0, 1], at each score, (m,)."""
        return np.clip(self.scores + lam * self._direction, 0.0, 1.0)

    def mean(self, values):
        """Return the mean over the rows of values at each score, (m,)."""
        return float(np.sum(self.size * values) / self.n)

    def likelihood_weights(self, lams):
        """Return {λ: weight}: the likelihood of c_λ times the distance between λ's neighbours."""
        if len(lams) == 1:
            return {lams[0]: 1.0}
        misses = self.size - self.hits.astype(float)
        each = (
            xlogy(self.hits, rates) + xlog1py(misses, -rates) for rates in map(self.rates, lams)
        )
        log_likelihood = np.array([np.sum(terms) for terms in each])
        if not np.isfinite(log_likelihood).any():
            return dict.fromkeys(lams, 1 / len(lams))
        weights = np.exp(log_likelihood - log_likelihood.max()) * np.gradient(np.array(lams))
        return dict(zip(lams, weights / weights.sum(), strict=True))

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
        distance = self.mean(np.abs(self._direction))
        if distance == 0.0:
            return 1.0
        error = np.sqrt(self.mean(self.scores * (1 - self.scores)) / self.n)
        return max(1.0, 0.5 * error / distance)


class Sample(Family):
    """n ascending scores with their hits; ``order`` (n,) leads from the given rows to them.

    ``log_score`` and ``log1m_score`` (n,) are log c and log(1 − c) where they are known better than
    from the scores: near 1 a score rounds. Rows of equal scores are ordered by their hit, so that
    nothing depends on the order of the rows. InputError for fewer than two rows.
    """

    def __init__(self, scores, hits, log_score=None, log1m_score=None, seed=0):
        scores, hits = scores_and_hits(scores, hits)
        if scores.size < 2:
            raise InputError(f"{scores.size} rows are too few to judge a model by: give at least 2")
        self.order = order = np.lexsort((hits, scores))
        self.scores = scores[order].astype(np.float64)
        self.hits = hits[order].astype(np.uint8)
        self.seed = seed
        if log_score is None:
            _, self.log_score, self.log1m_score, _ = top_label_of_scores(self.scores, self.hits)
        else:
            self.log_score, self.log1m_score = log_score[order], log1m_score[order]

    @classmethod
    def of(cls, top, seed=0):
        """Return the Sample of a TopLabel."""
        return cls(top.score, top.hit, top.log_score, top.log1m_score, seed)

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
        with warnings.catch_warnings(action="ignore"):  # separated scores: the audit says so
            return fit_curve(self.top_label).curve

    @cached_property
    def fitted(self):
        """The fitted probability of a hit at each score, (n,)."""
        return hit_probability(self.top_label, self.curve)

    def redraws(self, name="audit"):
        """Return the FixedScores that draw hits at these scores."""
        return FixedScores(self.scores, self.seed, name)

    @property
    def top_label(self):
        """The sample as a TopLabel, ascending."""
        return TopLabel(self.scores, self.log_score, self.log1m_score, self.hits)
