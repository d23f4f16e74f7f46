"""Maximum-likelihood fit of a Beta distribution to scores (Roelofs et al. 2022, Eq. 9).

The likelihood depends on the data only through the means of log c and log(1 - c), so the fit is
a two-dimensional convex problem for any number of scores.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, polygamma, psi

from calbias.errors import InputError
from pipeline.fits.design import checked_scores

_TOO_CONCENTRATED = (
    "the scores lie too close together, or too close to 1, for a Beta distribution with parameters "
    "below 1e7; give scores that are spread out more"
)


class BetaFit(NamedTuple):
    """A fitted Beta(alpha, beta); ``nll`` sums -log density over the n_samples scores, in nats."""

    alpha: float
    beta: float
    nll: float
    n_samples: int


def fit_beta(log_score: ArrayLike, log1m_score: ArrayLike) -> BetaFit:
    """Return the BetaFit of scores given as log c and log(1 - c), two arrays of shape (n,).

    Scores of exactly 1 are taken as 1 - 2^-53 with a warning, as in the published fits. InputError
    for fewer than two distinct scores: the likelihood then has no maximum.

    >>> fit = fit_beta(np.log([0.2, 0.5, 0.8]), np.log([0.8, 0.5, 0.2]))
    >>> round(fit.alpha, 4) == round(fit.beta, 4) == 1.8953
    True
    """
    log_score, log1m_score = checked_scores(log_score, log1m_score)
    n = len(log_score)
    mean_log_score, mean_log1m_score = float(log_score.mean()), float(log1m_score.mean())
    if np.ptp(log_score) == 0 and np.ptp(log1m_score) == 0:
        raise InputError(
            "all scores are equal: a Beta distribution cannot be fitted; give at least two "
            "distinct scores"
        )
    alpha, beta = beta_from_means(mean_log_score, mean_log1m_score)
    loss = betaln(alpha, beta) - (alpha - 1) * mean_log_score - (beta - 1) * mean_log1m_score
    return BetaFit(alpha, beta, float(n * loss), n)


def beta_from_means(mean_log_score: float, mean_log1m_score: float) -> tuple[float, float]:
    """Return (alpha, beta) with these means of log c and log(1 - c), by Newton in logarithms.

    InputError when no Beta with parameters up to 1e7 has these means: by Jensen's inequality
    exp(E log c) + exp(E log(1 - c)) < 1.
    """
    means = np.array([mean_log_score, mean_log1m_score])
    room = -np.expm1(mean_log_score) - np.exp(mean_log1m_score)
    if not room > 1e-12 * -np.expm1(means).max():
        raise InputError(_TOO_CONCENTRATED)

    def loss(log_shape: np.ndarray) -> float:
        shape = np.exp(log_shape)
        return betaln(*shape) - shape @ means

    # Close for large shapes (psi(x) ~ log(x - 1/2)); for small ones Newton has a few more steps.
    log_shape = np.log(0.5 + np.exp(means) / (2 * room))
    value = loss(log_shape)
    for _ in range(200):
        shape = np.exp(log_shape)
        gradient = shape * (psi(shape) - psi(shape.sum()) - means)
        gauss = np.outer(shape, shape) * fisher_information(*shape)
        step = _descent_step(gauss, gradient)
        step *= min(1.0, 3.0 / np.abs(step).max()) if step.any() else 1.0
        # Below 1e-4 convergence is quadratic and the loss too flat to compare.
        while np.abs(step).max() > 1e-4 and not loss(log_shape + step) < value:
            step /= 2
        log_shape = log_shape + step
        value = loss(log_shape)
        if np.abs(step).max() < 1e-12:
            break
    alpha, beta = np.exp(log_shape)
    if not max(alpha, beta) < 1e7:
        raise InputError(_TOO_CONCENTRATED)
    return float(alpha), float(beta)


def fisher_information(alpha: float, beta: float) -> np.ndarray:
    """Return the Fisher information (2, 2) of one Beta(alpha, beta) score in its parameters."""
    shared = polygamma(1, alpha + beta)
    return np.diag(polygamma(1, [alpha, beta])) - shared


def _descent_step(gauss: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return Newton's step in the logarithms, or the scoring step where the loss is not convex."""
    hessian = gauss + np.diag(gradient)
    if hessian[0, 0] <= 0 or np.linalg.det(hessian) <= 0:
        hessian = gauss
    return -np.linalg.solve(hessian, gradient)
