"""The confidence band of a fitted calibration curve, by the delta method on the predictor."""

import numpy as np
from scipy.special import chdtri, expit, ndtri

from calbias.truth.curves import split_glm_name, transformed


def curve_band(fit, log_score, log1m_score, level=0.95, simultaneous=False):
    """Return (low, high), the band of T at scores given as log c and log(1 - c).

    ``fit`` is a ``GlmFit``; scores have shape (m,) and are finite; low and high are fractions of
    shape (m,). The band is eta ± z·se(eta) sent through the inverse link, with se from the
    covariance of (b0, b1), and T clipped to [0, 1]. ``level`` is in (0, 1).

    z is the normal quantile (pointwise), or with ``simultaneous`` the root of the chi-square
    quantile with as many degrees of freedom as there are terms (Scheffé): that band covers the
    whole curve at once. A fit on the boundary has no spread there: its band is a lower bound.
    """
    link, transform, terms = split_glm_name(fit.glm)
    log_score, log1m_score = np.asarray(log_score, float), np.asarray(log1m_score, float)
    t = (
        transformed(transform, log_score, log1m_score)
        if terms != "b0"
        else np.zeros(log_score.shape)
    )
    b0, b1 = fit.curve.b0, fit.curve.b1
    variance = fit.covariance[0, 0] + t * (2 * fit.covariance[0, 1] + t * fit.covariance[1, 1])
    n_terms = terms.count("b")
    z = np.sqrt(chdtri(n_terms, 1 - level)) if simultaneous else ndtri((1 + level) / 2)
    spread = z * np.sqrt(np.maximum(variance, 0.0))
    eta = b0 + b1 * t
    if link == "logit":
        return expit(eta - spread), expit(eta + spread)
    lower, upper = np.minimum(eta - spread, 0.0), np.minimum(eta + spread, 0.0)
    if link == "log":
        return np.exp(lower), np.exp(upper)
    return -np.expm1(upper), -np.expm1(lower)
