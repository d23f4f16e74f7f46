"""GLMs refitted to many bootstrap resamples at once, on scores in groups.

A resample only changes how often each score counts, as a hit and as a miss. So all resamples
share one design, and Newton's method runs on them side by side, started from the whole data's
fit. The log links keep their predictors at or below 0 as in ``calbias.fits.newton``.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from calbias.truth.curves import split_glm_name, transformed

_MAX_STEPS, _MAX_HALVINGS = 30, 40
_TOLERANCE = 1e-9  # accepted distance from the minimum, as a fraction of 1 + loss


class Groups(NamedTuple):
    """Scores in G groups with their counts in each of B resamples.

    ``log_score``, ``log1m_score`` (G,) are finite; ``hits``, ``misses`` (B, G) are counts.
    """

    log_score: np.ndarray
    log1m_score: np.ndarray
    hits: np.ndarray
    misses: np.ndarray


def refit(fit, groups):
    """Return (T, AIC) of a ``GlmFit``'s model refitted to each resample: (B, G) and (B,).

    T is the fraction of hits that the refitted curve gives at each group's score.
    """
    link, transform, terms = split_glm_name(fit.glm)
    events, others = groups.hits, groups.misses
    if link == "logflip":
        events, others = others, events
    if terms == "b0":
        eta, loss = _constant(link, events, others)
        eta = np.broadcast_to(eta[:, None], events.shape)
    else:
        t = transformed(transform, groups.log_score, groups.log1m_score)
        matrix, start, safe_start = _design(t, terms, fit.curve, link, events, others)
        x, loss = _minimise(link, matrix, events, others, start, safe_start)
        eta = x @ matrix.T
    aic = 2.0 * terms.count("b") + 2.0 * loss
    if link == "logit":
        return expit(eta), aic
    return (np.exp(eta) if link == "log" else -np.expm1(eta)), aic


def _constant(link, events, others):
    """Return the predictor and the loss, (B,), of the constant curve: the resample's hit rate."""
    n_events, n_others = events.sum(axis=1), others.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_rate = np.log(n_events / (n_events + n_others))
        log_other = np.log(n_others / (n_events + n_others))
        loss = -(
            np.where(n_events, n_events * log_rate, 0) + np.where(n_others, n_others * log_other, 0)
        )
    return (log_rate - log_other if link == "logit" else log_rate), loss


def _design(t, terms, curve, link, events, others):
    """Return the matrix (G, k), the whole fit's coordinates and a start inside the model, (k,).

    The coordinates are predictors at the lowest and highest t, as in ``calbias.fits.design``.
    """
    low, high = t.min(), t.max()
    if terms == "b1":
        far = high if high > -low else low
        matrix, start = (t / far)[:, None], np.array([curve.b1 * far])
        safe_start = np.array([0.0 if link == "logit" else far])
    else:
        matrix = np.stack([high - t, t - low], axis=1) / (high - low)
        start = curve.b0 + curve.b1 * np.array([low, high])
        rate = events.sum() / (events.sum() + others.sum())
        safe_start = np.full(2, np.log(rate / (1 - rate)) if link == "logit" else np.log(rate))
    return matrix, start if link == "logit" else np.minimum(start, 0.0), safe_start


def _minimise(link, matrix, events, others, start, safe_start):
    """Return the coordinates (B, k) and losses (B,) of least loss, a row per resample."""

    def loss_at(x):
        return _loss(link, x @ matrix.T, events, others)

    n_resamples = len(events)
    x = np.tile(start, (n_resamples, 1))
    loss = loss_at(x)
    outside = ~np.isfinite(loss)
    x[outside] = safe_start
    loss = loss_at(x)
    for _ in range(_MAX_STEPS):
        gradient, step = _newton_step(link, matrix, x, events, others)
        promised = -np.sum(gradient * step, axis=1)
        moving = promised > _TOLERANCE * (1 + loss)
        scale = moving.astype(float)
        for _ in range(_MAX_HALVINGS):
            candidate = x + scale[:, None] * step
            if link != "logit":
                candidate = np.minimum(candidate, 0.0)
            candidate_loss = loss_at(candidate)
            wanted = loss + 1e-4 * np.sum(gradient * (candidate - x), axis=1)
            better = (candidate_loss <= wanted) & moving
            if (better | ~moving).all():
                break
            scale = np.where(better, scale, scale / 2)
        if not better.any():
            break
        x = np.where(better[:, None], candidate, x)
        loss = np.where(better, candidate_loss, loss)
    return x, loss


def _newton_step(link, matrix, x, events, others):
    first, second = _slopes(link, x @ matrix.T, events, others)
    k = matrix.shape[1]
    gradient = first @ matrix
    products = (matrix[:, :, None] * matrix[:, None, :]).reshape(len(matrix), k * k)
    hessian = (second @ products).reshape(-1, k, k)
    held = (x == 0) & (gradient <= 0) if link != "logit" else np.zeros(x.shape, bool)
    diagonal = np.arange(k)
    hessian[held] = 0.0
    hessian.transpose(0, 2, 1)[held] = 0.0
    curvature = hessian[:, diagonal, diagonal]
    hessian[:, diagonal, diagonal] = np.where(held, 1.0, curvature * (1 + 1e-12) + 1e-12)
    free_gradient = np.where(held, 0.0, gradient)
    return gradient, -np.linalg.solve(hessian, free_gradient[..., None])[..., 0]


def _loss(link, eta, events, others):
    """Return the loss, (B,) in nats, at predictors (B, G); inf outside the model."""
    if link == "logit":
        softplus = np.log1p(np.exp(-np.abs(eta)))
        rows = events * np.maximum(-eta, 0) + others * np.maximum(eta, 0)
        return np.sum(rows + (events + others) * softplus, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_other = np.log(-np.expm1(eta))
        return np.sum(np.where(others > 0, -others * log_other, 0.0) - events * eta, axis=1)


def _slopes(link, eta, events, others):
    """Return the first and second derivative of the loss in each predictor, (B, G) each."""
    if link == "logit":
        p, q = expit(eta), expit(-eta)
        return others * p - events * q, (events + others) * p * q
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        odds = 1.0 / np.expm1(-eta)
        first = np.where(others > 0, others * odds, 0.0) - events
        return first, np.where(others > 0, others * odds * (1.0 + odds), 0.0)
