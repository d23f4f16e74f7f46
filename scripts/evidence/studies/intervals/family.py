"""The family of curves that test inversion runs along, fitted to a sample.

The family c_λ = s + λ(ĉ(s) − s) leads from perfect calibration (λ = 0) through the fitted curve ĉ
(λ = 1) and beyond.
"""

import warnings
from functools import cached_property

import numpy as np
from scipy.special import xlog1py, xlogy

from calbias.auditing.sample import Sample
from pipeline.fits.empirical_error import fit_curve, hit_probability

_FLAT = 1e-12  # a curve nearer to the diagonal than this has no direction


class FittedSample(Sample):
    """A Sample with the GLM of least AIC, and the curves c_λ through it."""

    @cached_property
    def curve(self):
        """The GLM of least AIC, or None where the mean hit stands for it."""
        with warnings.catch_warnings(action="ignore"):  # separated scores: the audit says so
            return fit_curve(self.top_label).curve

    @cached_property
    def fitted(self):
        """The fitted probability of a hit at each score, (n,)."""
        return hit_probability(self.top_label, self.curve)

    def rates(self, lam):
        """Return c_λ = s + λ(ĉ(s) − s), clipped to [0, 1], at each score, (m,)."""
        return np.clip(self.scores + lam * self._direction, 0.0, 1.0)

    def mean(self, values):
        """Return the mean over the rows of values at each score, (m,)."""
        return float(np.mean(values))

    def likelihood_weights(self, lams):
        """Return {λ: weight}: the likelihood of c_λ times the distance between λ's neighbours."""
        if len(lams) == 1:
            return {lams[0]: 1.0}
        misses = 1.0 - self.hits
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
