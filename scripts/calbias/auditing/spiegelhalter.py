"""Spiegelhalter's test of calibration (Statistics in Medicine 1986), two-sided.

    z = Σ (y − s)(1 − 2s) / √Σ (1 − 2s)² s(1 − s)

is standard normal, about, if the scores are calibrated. It is the Brier score's distance from its
expectation. A one-sided test has no power against one of over- and underconfidence.
"""

import numpy as np
from scipy.stats import norm


def spiegelhalter(scores, hits):
    """Return (z, p-value) of scores (n,) and hits (n,); NaN where no score has a variance."""
    weight = 1.0 - 2.0 * scores
    variance = np.sum(weight**2 * scores * (1.0 - scores))
    if variance == 0:
        return float("nan"), float("nan")
    z = float(np.sum((hits - scores) * weight) / np.sqrt(variance))
    return z, float(2 * norm.sf(abs(z)))
