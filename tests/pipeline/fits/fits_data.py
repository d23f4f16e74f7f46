"""Scores and hits for the tests of the fits, and a slow optimiser that shares no code with them."""

import numpy as np
from checkout import GENUINE
from scipy.optimize import minimize_scalar

from calbias.reading.top_label import top_label
from calbias.truth.curves import Curve
from pipeline.fits.glm import fit_all
from pipeline.pickles import read_pickle

# A published scenario for each data set and each family that Table 3 selects (Tables 2 and 3).
SCENARIOS = {
    "resnet110_c10": (2.7752, 0.0478, Curve("logflip_logflip_b0_b1", -0.24, 0.30)),
    "densenet40_c10": (1.9824, 0.0397, Curve("logit_logflip_b1", 0.0, -0.26)),
    "resnet110_SD_c100": (1.1233, 0.1147, Curve("logit_logit_b0_b1", -0.88, 0.49)),
    "densenet161_imgnet": (1.1928, 0.2206, Curve("log_log_b0_b1", -0.03, 1.27)),
}


def draw(alpha, beta, curve, n, seed=0):
    """Return (log c, log(1 - c), hit) of n draws, log(1 - c) good to all digits near 1."""
    rng = np.random.default_rng(seed)
    x, y = (np.log(rng.gamma(a + 1, size=n)) + np.log1p(-rng.random(n)) / a for a in (alpha, beta))
    log1m_score = y - np.logaddexp(x, y)
    log_score = np.where(log1m_score < -0.7, np.log1p(-np.exp(log1m_score)), x - np.logaddexp(x, y))
    return log_score, log1m_score, np.log(rng.random(n)) < curve.log_hit(log_score, log1m_score)


def fit_glm(name, log_score, log1m_score, hit, **options):
    """Return the fit of one GLM."""
    return fit_all(log_score, log1m_score, hit, names=(name,), **options)[0]


def genuine(softmax, fold="test"):
    """Return the TopLabel of the paper's ResNet-110 CIFAR-10 file."""
    validation, test = read_pickle(GENUINE)
    return top_label(*(test if fold == "test" else validation), softmax)


def slow_loss(link, eta, hit):
    """Return the loss of Eq. 10 in the plainest form that does not cancel."""
    with np.errstate(all="ignore"):
        if link == "logit":
            return np.logaddexp(0, np.where(hit, -eta, eta)).sum()
        event = hit if link == "log" else ~hit
        loss = -eta[event].sum() - np.log(-np.expm1(eta[~event])).sum()
    return loss if (eta <= 0).all() and np.isfinite(loss) else 1e300


def slow_minimum(name, log_score, log1m_score, hit, widths=(1, 10)):
    """Return the least loss by nested bounded scalar searches: no gradient, no start, no link code.

    For each slope b1 in [-width, width] the best b0 is searched below the value at which a
    probability reaches 1, so that optima on the boundary are found too.
    """
    link, transform, terms = name.split("_", 2)
    t = {"logit": log_score - log1m_score, "log": log_score, "logflip": log1m_score}[transform]
    hit = np.asarray(hit, bool)

    def best_intercept(b1):
        slope = b1 * t if b1 else np.zeros(t.shape)
        low, high = (-50, 50) if link == "logit" else (-slope.max() - 40, -slope.max())
        return minimize_scalar(
            lambda b0: slow_loss(link, b0 + slope, hit),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-9},
        ).fun

    if terms == "b0":
        return best_intercept(0.0)

    def loss(b1):
        return best_intercept(b1) if terms == "b0_b1" else slow_loss(link, b1 * t, hit)

    return min(
        minimize_scalar(loss, bounds=(-width, width), method="bounded", options={"xatol": 1e-8}).fun
        for width in widths
    )
