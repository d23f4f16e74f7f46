"""Calibration curves from Gaussian processes on cells, by Laplace's approximation.

    y_k ~ Binomial(n_k, σ(L_k + f_k)),  f ~ N(0, C),  C_ij = τ²(1 + t_i t_j) + s² M(|u_i − u_j|/ℓ)

with the Matérn function M(d) = (1 + √5 d + 5d²/3) e^(−√5 d). All models are fitted at once, as one
stack of linear systems (Rasmussen and Williams 2006, algorithms 3.1 and 5.1): with the weights
W = n p(1 − p) and C a = f, Newton's next point solves (1 + W C) a = W f + y − n p. A step is halved
where the posterior falls. The evidence is the height of the mode less ½ log |1 + W C|.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from calbias.engine.posterior_cells import (
    HITS,
    LOG_ODDS,
    PLACE,
    SIZE,
    TILT,
    Errors,
    Floats,
    errors_of_curves,
)

_ITERATIONS, _HALVINGS = 50, 25
_ENOUGH = 1e-8  # of log probability: steps that gain less are the last
_LEAST_WEIGHT = 1e-12


class Fits(NamedTuple):
    """Fitted curves on cells; each row is one model.

    Attributes
    ----------
    evidence : ndarray (M,)
        Log evidence relative to the calibrated model.
    modes, deviations : ndarray (M, K)
        Posterior mode and standard deviation of f, the curve's distance in log odds.
    errors : Errors
        Of the curves, without the ends.
    """

    evidence: Floats
    modes: Floats
    deviations: Floats
    errors: Errors


def fit_curves(table: Floats, models: Floats) -> Fits:
    """Return the Fits of models (M, 3), rows of τ, s and ℓ, to the table of cells (8, K)."""
    prior = _covariances(table, models)
    f, height = _modes(table, prior)
    weight = _weights(table, f)[1]
    system = _systems(prior, weight)
    covariance = _solved(np.swapaxes(system, 1, 2), prior)
    evidence = height - 0.5 * np.linalg.slogdet(system)[1]
    spread = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 1e-300))
    return Fits(evidence, f, spread, errors_of_curves(table, f, covariance))


def _covariances(table: Floats, models: Floats) -> Floats:
    """Return C (M, K, K)."""
    line, rough, length = models.T[..., None, None]
    distance = abs(table[PLACE][:, None] - table[PLACE])
    d = np.sqrt(5.0) * distance / np.where(length > 0.0, length, 1.0)
    tilt = 1.0 + np.outer(table[TILT], table[TILT])
    return line**2 * tilt + rough**2 * (1.0 + d + d * d / 3.0) * np.exp(-d)


def _weights(table: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return y − n p and n p(1 − p), (M, K)."""
    p = expit(table[LOG_ODDS] + f)
    weight = table[SIZE] * p * (1.0 - p)
    return table[HITS] - table[SIZE] * p, np.maximum(weight, _LEAST_WEIGHT)


def _systems(prior: Floats, weight: Floats) -> Floats:
    """Return 1 + W C, (M, K, K)."""
    system = weight[..., None] * prior
    k = np.arange(prior.shape[1])
    system[:, k, k] += 1.0
    return system


def _solved(systems: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(systems, right), np.float64)


def _modes(table: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return the modes (M, K) and the log posterior there, relative to f = 0."""
    p = expit(table[LOG_ODDS])

    def heights(a: Floats, f: Floats) -> Floats:
        likelihood = table[HITS] * f - table[SIZE] * np.log1p(p * np.expm1(f))
        return np.sum(likelihood - 0.5 * a * f, axis=1)

    f = a = np.zeros(prior.shape[:2])
    best = np.zeros(len(prior))
    for _ in range(_ITERATIONS):
        residual, weight = _weights(table, f)
        new_a = _solved(_systems(prior, weight), (weight * f + residual)[..., None])
        new_f = (prior @ new_a)[..., 0]
        new_a = new_a[..., 0]
        height = heights(new_a, new_f)
        for _ in range(_HALVINGS):
            falls = height < best
            if not falls.any():
                break
            new_a[falls] = 0.5 * (new_a + a)[falls]
            new_f[falls] = 0.5 * (new_f + f)[falls]
            height = heights(new_a, new_f)
        gain = np.maximum(height - best, 0.0)
        rises = height >= best
        f, a = np.where(rises[:, None], new_f, f), np.where(rises[:, None], new_a, a)
        best = best + gain
        if gain.max(initial=0.0) < _ENOUGH:
            break
    return f, best
