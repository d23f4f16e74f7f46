"""The logistic recalibration of Cox, logit c = a + b·logit s, and its tests of calibration.

Cox, *Two further applications of a model for binary regression* (Biometrika 1958); as a
recalibration it is Platt's scaling of the score's logit. Calibration is a = 0, b = 1.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2

from calbias.errors import InputError
from calbias.fits.glm import fit_glm

LEAST = 2.0**-53  # scores of 0 and 1 have no logit: they are taken this far from it


class CoxFit(NamedTuple):
    """``a``, ``b`` and their covariance (2, 2); NaN where the hits do not determine them."""

    a: float
    b: float
    covariance: np.ndarray

    def predict(self, scores):
        """Return the recalibrated scores, (m,)."""
        return expit(self.a + self.b * logits_of(scores))


def logits_of(scores):
    """Return logit s, (n,), finite."""
    return logit(np.clip(scores, LEAST, 1.0 - LEAST))


def fit_cox(scores, hits):
    """Return the CoxFit of scores (n,) and hits (n,); a constant curve where no slope exists."""
    clipped = np.clip(np.asarray(scores, float), LEAST, 1.0 - LEAST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = fit_glm(
                "logit_logit_b0_b1", np.log(clipped), np.log1p(-clipped), hits,
                use_statsmodels=False,
            )  # fmt: skip
    except InputError:  # hits of one kind, or one score: Laplace's estimate of the hit rate
        rate = (np.sum(hits) + 0.5) / (len(hits) + 1.0)
        return CoxFit(float(logit(rate)), 0.0, np.full((2, 2), np.nan))
    return CoxFit(fit.b0, fit.b1, fit.covariance)


def score_test(scores, hits):
    """Return (statistic, p-value) of the Cox score test, χ² of 2 degrees of freedom.

    With r = y − s, v = s(1 − s) and x = logit s the statistic is gᵀ H⁻¹ g, g = Σ r (1, x) and
    H = Σ v (1, x)(1, x)ᵀ. NaN where all scores are equal.
    """
    x, v = logits_of(scores), scores * (1.0 - scores)
    terms = np.stack([np.ones_like(x), x])
    information = (terms * v) @ terms.T
    if not np.linalg.cond(information) < 1e12:
        return float("nan"), float("nan")
    gradient = terms @ (hits - scores)
    statistic = float(gradient @ np.linalg.solve(information, gradient))
    return statistic, float(chi2.sf(statistic, 2))


def noncentrality(scores, rates):
    """Return λ of one sample, gᵀ H⁻¹ g with g = E δ (1, x) and H = E v (1, x)(1, x)ᵀ.

    The score test of n samples has power about P(χ²₂(n λ) > 5.99).
    """
    x, v = logits_of(scores), scores * (1.0 - scores)
    terms = np.stack([np.ones_like(x), x])
    gradient = terms @ (rates - scores) / x.size
    information = (terms * v) @ terms.T / x.size
    return float(gradient @ np.linalg.pinv(information, hermitian=True) @ gradient)
