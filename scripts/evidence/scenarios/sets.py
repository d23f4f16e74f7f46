"""Score laws, as parameters of a Beta, and calibration curves of s that several studies use."""

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
