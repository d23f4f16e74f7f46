"""The logistic recalibration of Cox, logit c = a + b·logit s: its power, its labels.

Cox, *Two further applications of a model for binary regression* (Biometrika 1958); as a
recalibration it is Platt's scaling of the score's logit. Calibration is a = 0, b = 1.

How many labels, by closed forms:

- Slope of the logistic recalibration to ± w (Riley et al., *Minimum sample size for external
  validation of a clinical prediction model with a binary outcome*, Statistics in Medicine 2021):
  n = I₀₀ / (se² (I₀₀ I₁₁ − I₀₁²)), se = 2w/3.92, with I = E v (1, x)(1, x)ᵀ, v = s(1 − s) and
  x = logit s. For Beta(a, b) scores that is 1/(se² I₀₀ (ψ₁(a + 1) + ψ₁(b + 1))) with
  I₀₀ = ab/((a + b)(a + b + 1)): weighted by v, the scores follow Beta(a + 1, b + 1), and ψ₁, the
  trigamma function, gives the variance of their logit.
- Mean gap (mean score less accuracy) to ± w: n = 1.96² I₀₀ / w².
- Cox score test of level 5 % with 80 % power: n = 9.635/λ, λ = gᵀ I⁻¹ g, g = E δ (1, x). In
  general the noncentrality at which χ² of 2 degrees of freedom has the power asked for.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import chdtri, chndtr, chndtrinc, expit, polygamma

from calbias.defaults import SIGNIFICANT, Z_95
from calbias.recalibration.logistic import logits_of

_LARGEST_LAMBDA = 1e4


def noncentrality(scores: np.ndarray, rates: np.ndarray) -> float:
    """Return λ of one sample, gᵀ H⁻¹ g with g = E δ (1, x) and H = E v (1, x)(1, x)ᵀ."""
    x, v = logits_of(scores), scores * (1.0 - scores)
    terms = np.stack([np.ones_like(x), x])
    gradient = terms @ (rates - scores)
    inverse = np.linalg.pinv((terms * v) @ terms.T, hermitian=True)
    return float(gradient @ inverse @ gradient) / scores.size


def slope_labels(scores: np.ndarray, half_width: float = 0.1) -> float:
    """Return n at which the slope of the Cox recalibration has a 95 % interval of ± half_width."""
    x, v = logits_of(scores), scores * (1.0 - scores)
    i00, i01, i11 = v.mean(), (v * x).mean(), (v * x * x).mean()
    determinant = i00 * i11 - i01**2
    if not determinant > 1e-15:
        return np.inf
    return float(i00 / ((2 * half_width / 3.92) ** 2 * determinant))


def slope_labels_beta(a: float, b: float, half_width: float = 0.1) -> float:
    """Return the same for scores of Beta(a, b)."""
    i00 = a * b / ((a + b) * (a + b + 1))
    spread = polygamma(1, a + 1) + polygamma(1, b + 1)
    return float(1 / ((2 * half_width / 3.92) ** 2 * i00 * spread))


def mean_gap_labels(scores: np.ndarray, half_width: float = 0.01) -> float:
    """Return n at which mean score less accuracy is known to ± half_width (95 %)."""
    return float(Z_95**2 * np.mean(scores * (1.0 - scores)) / half_width**2)


def needed_noncentrality(power: float = 0.8) -> float:
    """Return the noncentrality at which χ² of 2 df exceeds its 95 % quantile with ``power``."""
    return float(chndtrinc(chdtri(2, SIGNIFICANT), 2, 1 - power))


def detection_labels(scores: np.ndarray, rates: np.ndarray, power: float = 0.8) -> float:
    """Return n at which the Cox score test detects the curve ``rates`` (n,) at ``scores`` (n,)."""
    per_sample = noncentrality(scores, rates)
    return needed_noncentrality(power) / per_sample if per_sample > 0 else np.inf


def cox_power(scores: np.ndarray, rates: np.ndarray, n: float) -> float:
    """Return the approximate power of the Cox score test of n samples at the 5 % level."""
    return float(1 - chndtr(chdtri(2, SIGNIFICANT), 2, n * noncentrality(scores, rates)))


def curve_with_error(
    rates_at: Callable[[float], np.ndarray], scores: np.ndarray, error: float
) -> np.ndarray | None:
    """Return the rates of the family ``rates_at(λ)`` with this ℓ1 error, or None if none has it."""
    from scipy.optimize import brentq  # of plans alone

    def excess(lam: float) -> float:
        return float(np.abs(rates_at(lam) - scores).mean()) - error

    high = 1.0
    while excess(high) < 0:
        high *= 2
        if high > _LARGEST_LAMBDA:
            return None
    return rates_at(brentq(excess, 0.0, high, xtol=1e-9))


def overconfident(scores: np.ndarray) -> Callable[[float], np.ndarray]:
    """Return the family λ → rates of logit c = logit s/(1 + λ)."""
    return lambda lam: expit(1 / (1 + lam) * logits_of(scores))


def shifted(scores: np.ndarray) -> Callable[[float], np.ndarray]:
    """Return the family λ → rates of logit c = logit s ∓ λ, down if the mean score is above ½."""
    sign = -1.0 if np.mean(scores) > 0.5 else 1.0
    return lambda lam: expit(logits_of(scores) + sign * lam)
