"""Distributions of scores, as parameters of a Beta, and curves that several studies use."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from calbias.truth.curves import score

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]
UNIFORM, SPREAD = (1.0, 1.0), (2.0, 1.0)
SATURATED = (2.78, 0.048)
"""The published fit of resnet110_c10."""
SATURATED_ROUNDED = (2.8, 0.05)
"""The same as the paper's introduction rounds it."""


def line(intercept: float, slope: float) -> Curve:
    """Return the curve s -> expit(intercept + slope·logit s)."""
    return lambda s: expit(intercept + slope * logit(s))


def error_of(target: str, scores: Floats, weights: Floats, curve: Curve) -> float:
    """Return the error ``l1``, ``l2`` or ``l2^2`` of weighted scores (Q,) with a curve."""
    gaps = abs(curve(scores) - scores)
    if target == "l1":
        return float(weights @ gaps)
    square = float(weights @ gaps**2)
    return square if target == "l2^2" else float(np.sqrt(square))


class Wave(NamedTuple):
    """T(c) = c + b0·sin(2π·b1·c): amplitude b0, at most 1/(4·b1), and cycles b1; a ``Curve``.

    It crosses the diagonal 2·b1 times, so that no line in the log-odds follows it, a monotone
    fit hardly does, and errors of opposite sign lie close together.
    """

    name: str = "wave"
    b0: float = 0.03
    b1: int = 6

    def log_hit(self, log_score: Floats, log1m_score: Floats) -> Floats:
        """Return log T."""
        with np.errstate(divide="ignore"):
            return np.log(self._risen(score(log_score, log1m_score)))

    def log_not_hit(self, log_score: Floats, log1m_score: Floats) -> Floats:
        """Return log(1 − T); the sine is odd about 1 too, so that 1 − T is the wave of 1 − c."""
        with np.errstate(divide="ignore"):
            return np.log(self._risen(score(log1m_score, log_score)))

    def hit(self, log_score: Floats, log1m_score: Floats) -> Floats:
        """Return T, a fraction."""
        return self._risen(score(log_score, log1m_score))

    def log_abs_slope(self, log_score: Floats, log1m_score: Floats) -> tuple[NDArray, Floats]:
        """Return (sign, log|dT/dc|)."""
        angle = 2 * np.pi * self.b1
        slope = 1.0 + self.b0 * angle * np.cos(angle * score(log_score, log1m_score))
        with np.errstate(divide="ignore"):
            return np.sign(slope), np.log(np.abs(slope))

    def overshoot(self, log_score: Floats, log1m_score: Floats) -> Floats:
        """Return −1: T is never clipped."""
        return np.full_like(np.asarray(log_score, float), -1.0)

    def _risen(self, c: Floats) -> Floats:
        return np.maximum(c + self.b0 * np.sin(2 * np.pi * self.b1 * c), 0.0)
