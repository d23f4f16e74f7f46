"""The logistic recalibration of Cox, logit c = a + b·logit s, and the noncentrality of its test.

Cox, *Two further applications of a model for binary regression* (Biometrika 1958); as a
recalibration it is Platt's scaling of the score's logit. Calibration is a = 0, b = 1.
"""

import numpy as np
from scipy.special import expit, logit

from calbias.engine.newton_line import newton_line

LEAST = 2.0**-53  # scores of 0 and 1 have no logit: they are taken this far from it


def logits_of(scores: np.ndarray) -> np.ndarray:
    """Return logit s, (n,), finite."""
    return logit(np.clip(scores, LEAST, 1.0 - LEAST))


def fit_cox(x: np.ndarray, hits: np.ndarray) -> tuple[float, float]:
    """Return (a, b) of greatest likelihood for logits x (n,).

    Of hits with the counts of one more hit and one more miss (Platt 1999) where a threshold
    separates them from misses. Where no slope is to be found, of equal logits or of hits of one
    kind, it is 0.
    """
    n, n_hits = hits.size, hits.sum()
    labels = hits.astype(np.float64)
    smoothed = 1.0 / (n - n_hits + 2.0) + labels * (
        (n_hits + 1.0) / (n_hits + 2.0) - 1.0 / (n - n_hits + 2.0)
    )
    if 0 < n_hits < n and np.ptp(x) > 0:
        for values in (labels, smoothed):
            if line := newton_line(x, values):
                return line
    return float(logit((n_hits + 0.5) / (n + 1.0))), 0.0


def cox_curve(x: np.ndarray, hits: np.ndarray, new_x: np.ndarray) -> np.ndarray:
    """Return the recalibrated scores at logits ``new_x`` (m,), fitted on x (n,) and hits (n,)."""
    a, b = fit_cox(x, hits)
    return expit(a + b * new_x)


def noncentrality(scores: np.ndarray, rates: np.ndarray) -> float:
    """Return λ of one sample, gᵀ H⁻¹ g with g = E δ (1, x) and H = E v (1, x)(1, x)ᵀ."""
    x, v = logits_of(scores), scores * (1.0 - scores)
    terms = np.stack([np.ones_like(x), x])
    gradient = terms @ (rates - scores)
    inverse = np.linalg.pinv((terms * v) @ terms.T, hermitian=True)
    return float(gradient @ inverse @ gradient) / scores.size
