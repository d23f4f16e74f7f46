"""Beta calibration: logit c = a·log s − b·log(1 − s) + m, with a and b of at least 0.

Kull, Silva Filho and Flach, *Beta calibration: a well-founded and easily implemented improvement on
logistic calibration for binary classifiers* (AISTATS 2017). The likelihood is concave, so where the
free optimum has a negative a or b, the constrained one has a 0 in its place.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from calbias.recalibration.logistic import ENDS, smoothed

_STEPS, _HALVINGS, _CLOSE = 100, 40, 1e-12


class BetaMap(NamedTuple):
    """The parameters a, b and the intercept m, for scores taken to lie within the ends."""

    a: float
    b: float
    intercept: float
    least: float
    greatest: float

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the recalibrated scores, (m,)."""
        log_s, log_1m = _variables(scores, (self.least, self.greatest))
        return expit(self.intercept + self.a * log_s + self.b * log_1m)


def fit_beta(
    scores: np.ndarray, hits: np.ndarray, rows: np.ndarray, ends: tuple[float, float] = ENDS
) -> BetaMap:
    """Return the most likely ``BetaMap``; ``hits`` (n,) are of ``rows`` rows at each score.

    Where a threshold separates hits from misses, one more hit and one more miss are counted.
    """
    x, more = _variables(scores, ends), smoothed(hits, rows)
    for values in (hits, more) if 0 < hits.sum() < rows.sum() else (more,):
        fits = [_fit(x, values, rows, used) for used in itertools.product((True, False), repeat=2)]
        possible = [fit for fit in fits if fit is not None and min(fit[1:]) >= 0]
        if fits[0] is not None or values is more:
            likelihoods = [_likelihood(x, values, rows, fit) for fit in possible]
            intercept, a, b = map(float, possible[int(np.argmax(likelihoods))])
            return BetaMap(a, b, intercept, *ends)
    raise AssertionError("the constant is always possible")


def _variables(scores: np.ndarray, ends: tuple[float, float]) -> np.ndarray:
    """Return log s and −log(1 − s), (2, n)."""
    inside = np.clip(scores, *ends)
    return np.stack([np.log(inside), -np.log1p(-inside)])


def _likelihood(x: np.ndarray, hits: np.ndarray, rows: np.ndarray, fit: np.ndarray) -> float:
    y = fit[0] + fit[1:] @ x
    return float(np.sum(hits * y - rows * np.logaddexp(0.0, y)))


def _fit(
    x: np.ndarray, hits: np.ndarray, rows: np.ndarray, used: Sequence[bool]
) -> np.ndarray | None:
    """Return (m, a, b) of greatest likelihood, with 0 for variables not ``used``, by Newton.

    None where the likelihood has no maximum, or the variables cannot be told apart.
    """
    columns = [0, *(k + 1 for k in (0, 1) if used[k])]
    terms = np.vstack([np.ones(x.shape[1]), x])
    scale = np.maximum(np.sqrt(rows @ terms.T**2 / rows.sum()), 1e-300)
    fit = np.zeros(3)
    reached = _likelihood(x, hits, rows, fit)
    for _ in range(_STEPS):
        p = expit(fit @ terms)
        scaled = terms[columns] / scale[columns, None]
        gradient = scaled @ (hits - rows * p)
        hessian = (scaled * (rows * p * (1.0 - p))) @ scaled.T
        if not np.linalg.cond(hessian) < 1e13:
            return None
        step = np.zeros(3)
        step[columns] = np.linalg.solve(hessian, gradient) / scale[columns]
        length = 1.0
        for _ in range(_HALVINGS):
            now = _likelihood(x, hits, rows, fit + length * step)
            if now >= reached - 1e-12 * abs(reached):
                break
            length *= 0.5
        fit, reached = fit + length * step, now
        if np.max(np.abs(step * scale)) < _CLOSE * max(1.0, np.max(np.abs(fit * scale))):
            return fit
        if gradient @ np.linalg.solve(hessian, gradient) < 1e-20 * rows.sum():
            return fit
    return None
