"""Logistic regression on one variable by Newton's method, compiled: P(hit) = 1/(1 + e^−(a + b·x)).

The variable is the log-odds of the score, bounded where the score has rounded to 0 or 1.
"""

import math

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.simd import LANES, copies, load, select, store, sum_of_lanes
from evidence.lane_functions import exp_of, log_of, padded

_FARTHEST = 2.0**-53  # of a score from 0 and 1, where the log-odds are ±36.7
_ITERATIONS = 60
_SMALL = 1e-10  # Newton decrement per sample


@njit
def log_odds(score: float) -> float:
    """Return log(s/(1 − s)) of a score in [0, 1], within ±36.8."""
    inside = min(max(score, _FARTHEST), 1.0 - _FARTHEST)
    return math.log(inside) - math.log1p(-inside)


@njit(error_model="numpy")
def fit_line(x: np.ndarray, labels: np.ndarray, added: float) -> tuple[float, float]:
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
    t, target = np.zeros(padded(n)), np.zeros(padded(n))
    for i in range(n):
        t[i] = (x[i] - mean) / scale
        target[i] = low + (high - low) * labels[i]
    intercept, slope = mean, scale  # the line y = x: log-odds of scores are near their labels'
    sums = _sums(t, target, n, intercept, slope)
    if sums[0] > n * math.log(2.0):
        intercept = slope = 0.0
        sums = _sums(t, target, n, intercept, slope)
    for _ in range(_ITERATIONS):
        loss, g0, g1, h00, h01, h11 = sums
        h00, h11 = h00 + 1e-12 * n, h11 + 1e-12 * n
        determinant = h00 * h11 - h01 * h01
        step_0 = (h11 * g0 - h01 * g1) / determinant
        step_1 = (h00 * g1 - h01 * g0) / determinant
        decrement = step_0 * g0 + step_1 * g1
        if decrement < _SMALL * n:  # convergence is quadratic: the next step would be rounding
            intercept, slope = intercept + step_0, slope + step_1
            break
        length = 1.0
        while length > 1e-10:
            sums = _sums(t, target, n, intercept + length * step_0, slope + length * step_1)
            if sums[0] <= loss - 1e-4 * length * decrement:
                break
            length /= 2.0
        intercept, slope = intercept + length * step_0, slope + length * step_1
    return intercept - slope * mean / scale, slope / scale


@njit(error_model="numpy")
def _sums(
    t: np.ndarray, target: np.ndarray, n: int, intercept: float, slope: float
) -> tuple[float, ...]:
    """Return the negative log-likelihood, its two downward slopes and its three curvatures.

    Of intercept + slope·t; the arrays hold n samples and are padded to whole vectors.
    """
    is_sample = np.empty(2 * LANES)  # in all vectors but the last, and in the last one
    for k in range(2 * LANES):
        is_sample[k] = 1.0 if k < 2 * LANES - (t.shape[0] - n) else 0.0
    loss = g0 = g1 = h00 = h01 = h11 = copies(0.0)
    product = copies(1.0)  # of 1 + e^-|eta|; its logarithm is taken before it is out of range
    for i in range(0, t.shape[0], LANES):
        w = load(is_sample, LANES if i + LANES == t.shape[0] else 0)
        x, y = load(t, i), load(target, i)
        eta = x * slope + intercept
        is_positive = eta > 0.0
        rare = exp_of(select(is_positive, 0.0 - eta, eta))
        share = w / (rare + 1.0)
        loss = loss + w * (select(is_positive, eta, copies(0.0)) - y * eta)
        product = product * (w * rare + 1.0)
        if i % 4096 == 0:
            loss, product = loss + log_of(product), copies(1.0)
        residual = w * y - select(is_positive, share, rare * share)
        curvature = rare * share * share
        g0, g1 = g0 + residual, g1 + residual * x
        h00, h01 = h00 + curvature, h01 + curvature * x
        h11 = h11 + curvature * x * x
    loss = loss + log_of(product)
    return (
        *(sum_of_lanes(loss), sum_of_lanes(g0), sum_of_lanes(g1)),
        *(sum_of_lanes(h00), sum_of_lanes(h01), sum_of_lanes(h11)),
    )


@njit(error_model="numpy")
def fill_log_odds(scores: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out`` (n,) with ``log_odds`` of the scores (n,)."""
    n = scores.shape[0]
    part = np.empty(LANES)
    for start in range(0, n, LANES):
        for k in range(LANES):
            part[k] = scores[min(start + k, n - 1)]
        inside = load(part, 0)
        inside = select(inside > _FARTHEST, inside, copies(_FARTHEST))
        inside = select(inside < 1.0 - _FARTHEST, inside, copies(1.0 - _FARTHEST))
        store(part, 0, log_of(inside / (1.0 - inside)))
        for k in range(min(LANES, n - start)):
            out[start + k] = part[k]


@njit(error_model="numpy")
def fill_line(x: np.ndarray, intercept: float, slope: float, out: np.ndarray) -> None:
    """Fill ``out`` (n,) with 1/(1 + e^−(intercept + slope·x)), (n,)."""
    n = x.shape[0]
    part = np.empty(LANES)
    for start in range(0, n, LANES):
        for k in range(LANES):
            part[k] = x[min(start + k, n - 1)]
        eta = load(part, 0) * slope + intercept
        is_positive = eta > 0.0
        rare = exp_of(select(is_positive, 0.0 - eta, eta))
        store(part, 0, select(is_positive, copies(1.0), rare) / (rare + 1.0))
        for k in range(min(LANES, n - start)):
            out[start + k] = part[k]


@njit
def log_likelihood(x: np.ndarray, labels: np.ndarray, intercept: float, slope: float) -> float:
    """Return Σ [label·log p + (1 − label)·log(1 − p)], p = 1/(1 + e^−(intercept + slope·x))."""
    total = 0.0
    for i in range(x.shape[0]):
        eta = intercept + slope * x[i]
        total += max(eta, 0.0) + math.log1p(math.exp(-abs(eta))) - labels[i] * eta
    return -total
