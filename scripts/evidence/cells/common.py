"""Distributions of scores, as parameters of a Beta, and curves that several studies use."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit

UNIFORM, SPREAD, CONFIDENT, MIDDLE = (1.0, 1.0), (2.0, 1.0), (6.0, 1.5), (2.0, 2.0)
RARE = (0.8, 11.8)
SATURATED = (2.78, 0.048)
"""The published fit of resnet110_c10."""
SATURATED_ROUNDED = (2.8, 0.05)
"""The same as the paper's introduction rounds it."""

Curve = Callable[[np.ndarray], np.ndarray]


def line(intercept: float, slope: float) -> Curve:
    """Return the curve s -> expit(intercept + slope·logit s)."""
    return lambda s: expit(intercept + slope * logit(s))


def wave(cycles: float, height: float) -> Curve:
    """Return the curve s + height·sin(2π·cycles·s)."""
    return lambda s: s + height * np.sin(2 * np.pi * cycles * s)


def error_of(target: str, scores: np.ndarray, weights: np.ndarray, curve: Curve) -> float:
    """Return the error ``l1``, ``l2`` or ``l2^2`` of weighted scores (Q,) with a curve."""
    gaps = abs(curve(scores) - scores)
    if target == "l1":
        return float(weights @ gaps)
    square = float(weights @ gaps**2)
    return square if target == "l2^2" else float(np.sqrt(square))
