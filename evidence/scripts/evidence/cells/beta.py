"""Cells of two Beta distributions with four curves, at two numbers of rows; a line and a wave."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from calbias.engine.seeding import stream
from calbias.truth.curves import score
from calbias.truth.targets import quantile_grid
from reproduction.judging import Drawn, Sample

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]
DISTRIBUTIONS = {"uniform": (1.0, 1.0), "saturated": (2.8, 0.05)}
"""Parameters of a Beta; ``saturated`` is resnet110_c10 as the paper's introduction rounds it."""
SIZES = (200, 1000)
_GRID = 1 << 16


def line(intercept: float, slope: float) -> Curve:
    """Return the curve s -> expit(intercept + slope·logit s)."""
    return lambda s: expit(intercept + slope * logit(s))


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


def _slope(slope: float) -> Callable[[Floats, Floats], Floats]:
    return lambda log_score, log1m_score: expit(slope * (log_score - log1m_score))


CURVES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "calibrated": _slope(1.0),
    "slope_0.8": _slope(0.8),
    "slope_0.5": _slope(0.5),
    "wave": Wave().hit,
}
"""Functions of log s and log(1 - s)."""


@dataclass(frozen=True)
class BetaCell(Drawn):
    """A distribution of DISTRIBUTIONS with a curve of CURVES."""

    distribution: str
    curve: str

    @property
    def name(self) -> str:
        """Both names, such as ``uniform_wave``."""
        return f"{self.distribution}_{self.curve}"

    def draw(self, n: int, seed: int, number: int) -> Sample:
        """Return a Sample."""
        generator = stream(seed, "coverage", self.distribution, self.curve, str(n), str(number))
        # log of a Gamma(a) variate by Gamma(a + 1) and a uniform, which cannot underflow
        x, y = (
            np.log(generator.gamma(a + 1, size=n)) + np.log(1 - generator.random(n)) / a
            for a in DISTRIBUTIONS[self.distribution]
        )
        logs = x - np.logaddexp(x, y), y - np.logaddexp(x, y)
        hits = generator.random(n) < CURVES[self.curve](*logs)
        scores = np.minimum(score(*logs), 1.0)
        return Sample(scores, hits, seed=int(generator.integers(2**31)))

    def truth(self, target: str) -> float:
        """Return ``l1``, ``l2`` or ``l2^2`` by the mid-quantiles of the distribution."""
        logs = quantile_grid(*DISTRIBUTIONS[self.distribution], _GRID)
        gaps = CURVES[self.curve](*logs) - score(*logs)
        if target == "l1":
            return float(np.mean(np.abs(gaps)))
        square = float(np.mean(gaps**2))
        return square if target == "l2^2" else square**0.5
