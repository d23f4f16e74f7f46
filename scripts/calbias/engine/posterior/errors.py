"""The ℓ1 error and the square of the ℓ2 error under fitted curves.

With f ~ N(mode, S) on cells of weight w and score p, g_k(z) = σ(L_k + f_k + √S_kk z) − p_k, all
means over z by 16 normal quantiles:

    ℓ1 = Σ_k w_k E|g_k|,   q = Σ_k w_k E g_k²

The variance of q is by the delta method: with d = σ(1 − σ) and g at the mode, G = d S dᵀ,

    var q  = Σ_ij w_i w_j (2 G_ij² + 4 g_i g_j G_ij)
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from calbias.engine.posterior.cells import LOG_ODDS, SCORE, WEIGHT, Floats

# normal quantiles at (j − ½)/16 above the median, scaled so that 16 of them have variance 1
_ABOVE = np.array(
    [
        0.08158754520790505, 0.2468070697447189, 0.41853826767225977, 0.6025828031870283,
        0.8078611960795813, 1.0508874261229404, 1.3713807536348692, 1.9381589616524153,
    ]
)  # fmt: skip
_NORMAL = np.concatenate([-_ABOVE, _ABOVE])


class Errors(NamedTuple):
    """Means of the ℓ1 error and of the square of the ℓ2 error, and the square's variance, (M,)."""

    l1: Floats
    square: Floats
    variance: Floats

    def root(self, square: float = 0.0, variance: float = 0.0) -> Floats:
        """Return the means of the ℓ2 error, where the ends add to the square and its variance."""
        total = self.square + square
        shrinkage = (self.variance + variance) / (8.0 * np.maximum(total, 1e-150) ** 2)
        return np.sqrt(total) * np.maximum(1.0 - shrinkage, _LEAST_SHRINKAGE)


_LEAST_SHRINKAGE = 0.7


def mean_rates(table: Floats, modes: Floats, deviations: Floats) -> Floats:
    """Return the posterior mean probability of a hit in each cell, (M, K)."""
    return _rates(table, modes, deviations).mean(axis=0)


def errors_of_curves(
    table: Floats, modes: Floats, covariance: Floats, inside: Floats | None = None
) -> Errors:
    """Return the Errors of M curves on cells (8, K), with modes (M, K) and covariance (M, K, K).

    Only of the cells where ``inside`` (M, K) is 1, if it is given; elsewhere it is 0.
    """
    score, weight = table[SCORE], table[WEIGHT]
    spread = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
    gap = _rates(table, modes, spread) - score
    if inside is not None:
        gap *= inside
    l1, square = np.abs(gap).mean(axis=0) @ weight, np.square(gap).mean(axis=0) @ weight
    p = expit(table[LOG_ODDS] + modes)
    slope = weight * p * (1.0 - p) * (1.0 if inside is None else inside)
    bend, pull = slope**2 / weight, slope * (p - score)
    variance = 2.0 * _form(covariance**2, bend) + 4.0 * _form(covariance, pull)
    return Errors(l1, square, variance)


def _rates(table: Floats, modes: Floats, deviations: Floats) -> Floats:
    return expit(table[LOG_ODDS] + modes + deviations * _NORMAL[:, None, None])


def _form(matrices: Floats, vectors: Floats) -> Floats:
    """Return vᵀ M v of each."""
    return np.sum((matrices @ vectors[..., None])[..., 0] * vectors, axis=1)
