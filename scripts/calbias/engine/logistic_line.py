"""Logistic regression on one variable by Newton's method, compiled: P(hit) = 1/(1 + e^−(a + b·x)).

The variable is the log-odds of the score, bounded where the score has rounded to 0 or 1.
"""

import math

from calbias.engine.jit import njit

_FARTHEST = 2.0**-53  # of a score from 0 and 1, where the log-odds are ±36.7
_ITERATIONS = 60
_SMALL = 1e-10  # Newton decrement per sample


@njit
def log_odds(score):
    """Return log(s/(1 − s)) of a score in [0, 1], within ±36.8."""
    inside = min(max(score, _FARTHEST), 1.0 - _FARTHEST)
    return math.log(inside) - math.log1p(-inside)


@njit
def expit(x):
    """Return 1/(1 + e^−x)."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    grown = math.exp(x)
    return grown / (1.0 + grown)


@njit(error_model="numpy")
def fit_line(x, labels, added):
    """Return (a, b) of greatest likelihood for x (n,) and labels (n,) in [0, 1].

    With ``added`` = 1 the labels 0 and 1 are moved to 1/(n₀ + 2) and (n₁ + 1)/(n₁ + 2) as Platt
    (1999) does, so that separable data have a finite fit; with 0 the iteration ends far out there.
    x is centred and scaled. Where all x agree b is 1 and a fits the mean.
    """
    n = x.shape[0]
    mean = square = n_hits = 0.0
    for i in range(n):
        mean += x[i]
        n_hits += labels[i]
    mean /= n
    for i in range(n):
        square += (x[i] - mean) ** 2
    scale = math.sqrt(square / n)
    low, high = 0.0, 1.0
    if added > 0.0:
        low = added / (n - n_hits + 2.0 * added)
        high = (n_hits + added) / (n_hits + 2.0 * added)
    if scale < 1e-12 * max(1.0, abs(mean)):
        rate = low + (high - low) * n_hits / n
        return math.log(rate) - math.log1p(-rate) - mean, 1.0
    intercept, slope = mean, scale  # the line y = x: log-odds of scores are near their labels'
    best = _loss(x, labels, mean, scale, low, high, intercept, slope)
    flat = _loss(x, labels, mean, scale, low, high, 0.0, 0.0)
    if flat < best:
        intercept, slope, best = 0.0, 0.0, flat
    for _ in range(_ITERATIONS):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for i in range(n):
            t = (x[i] - mean) / scale
            p = expit(intercept + slope * t)
            residual = low + (high - low) * labels[i] - p
            weight = p * (1.0 - p)
            g0 += residual
            g1 += residual * t
            h00 += weight
            h01 += weight * t
            h11 += weight * t * t
        h00, h11 = h00 + 1e-12 * n, h11 + 1e-12 * n
        determinant = h00 * h11 - h01 * h01
        step_0 = (h11 * g0 - h01 * g1) / determinant
        step_1 = (h00 * g1 - h01 * g0) / determinant
        decrement = step_0 * g0 + step_1 * g1
        length = 1.0
        while length > 1e-10:
            loss = _loss(
                x, labels, mean, scale, low, high,
                intercept + length * step_0, slope + length * step_1,
            )  # fmt: skip
            if loss <= best - 1e-4 * length * decrement or decrement < _SMALL * n:
                break
            length /= 2.0
        best = loss
        intercept, slope = intercept + length * step_0, slope + length * step_1
        if decrement < _SMALL * n:  # convergence is quadratic: the next step would be rounding
            break
    return intercept - slope * mean / scale, slope / scale


@njit
def log_likelihood(x, labels, intercept, slope):
    """Return Σ [label·log p + (1 − label)·log(1 − p)], p = 1/(1 + e^−(intercept + slope·x))."""
    return -_loss(x, labels, 0.0, 1.0, 0.0, 1.0, intercept, slope)


@njit
def _loss(x, labels, mean, scale, low, high, intercept, slope):
    """Return the negative log-likelihood."""
    total = 0.0
    for i in range(x.shape[0]):
        eta = intercept + slope * (x[i] - mean) / scale
        target = low + (high - low) * labels[i]
        total += max(eta, 0.0) + math.log1p(math.exp(-abs(eta))) - target * eta
    return total
