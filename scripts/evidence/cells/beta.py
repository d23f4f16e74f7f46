"""Cells of two Beta distributions with four curves, at two numbers of rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calbias.engine.seeding import stream
from calbias.truth.curves import score
from calbias.truth.targets import quantile_grid
from evidence.cells.curves import SATURATED_ROUNDED, UNIFORM, Wave
from evidence.cells.samples import Sample
from evidence.runner import Drawn

Floats = NDArray[np.float64]
DISTRIBUTIONS = {"uniform": UNIFORM, "saturated": SATURATED_ROUNDED}
SIZES = (200, 1000)
_GRID = 1 << 16


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
