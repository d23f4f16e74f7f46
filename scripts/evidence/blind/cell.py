"""A cell of a blind set: its draws, its true error, and whether bins of equal mass show the error.

The authors of the blind sets had not seen how the interval that the cells judge is computed.
"""

from dataclasses import dataclass

import numpy as np

from calbias.engine.seeding import stream
from evidence.blind.distributions import Curve, Distribution
from evidence.cells.samples import Sample
from evidence.runner import Drawn


@dataclass(frozen=True)
class BlindCell(Drawn):
    """A distribution of scores with a curve at a number of rows, and the mark with its reason."""

    name: str
    n: int
    distribution: Distribution
    curve: Curve
    assumption_holds: bool
    reason: str

    def draw(self, n: int, seed: int, number: int) -> Sample:
        """Return a Sample; hits are 1 with the probability ``curve(scores)``."""
        generator = stream(seed, "blind 2026", self.name, str(n), str(number))
        scores = self.distribution(generator, n)
        return Sample(scores, generator.random(n) < self.curve(scores))

    def truth(self, target: str) -> float:
        """Return E|c(s) - s| (``l1``) or sqrt(E (c(s) - s)^2) (``l2``), a fraction."""
        norm = int(target[1])
        gaps = self.distribution.expectation(lambda s: abs(self.curve(s) - s) ** norm)
        return float(gaps ** (1 / norm))


def hidden(cell: BlindCell, norm: int) -> float:
    """Return how much of the error the bins do not show, in standard errors.

    The bins show the error with the mean gap of a bin for the gaps in it: opposite signs cancel,
    and for norm 2 gaps of different size are averaged. Bins have equal mass in the population; a
    value with the mass of a bin is a bin. The number of bins that hides more is taken of
    1.5 n^0.35 rounded down and up. The standard error is the one of the error's
    plug-in estimate from n rows, where each score's gap is known up to the noise of the hits.
    """
    points, masses = cell.distribution.points(1 << 15)
    scores, place = np.unique(points, return_inverse=True)
    weights = np.bincount(place, masses)
    rates = cell.curve(scores)
    gaps = rates - scores
    power = weights @ abs(gaps) ** norm
    error = float(power ** (1 / norm))
    if error == 0:
        return 0.0
    shown = error
    for bins in (np.floor(1.5 * cell.n**0.35), np.ceil(1.5 * cell.n**0.35)):
        light = weights < 1 / bins
        places = ((np.cumsum(weights[light]) - weights[light] / 2) * bins).astype(int)
        mass = np.bincount(places, weights[light]) + 1e-300
        means = np.bincount(places, (weights * gaps)[light]) / mass
        parts = weights[~light] @ abs(gaps[~light]) ** norm + mass @ abs(means) ** norm
        shown = min(shown, float(parts ** (1 / norm)))
    slope = norm * abs(gaps) ** (norm - 1)
    variance = weights @ (slope**2 * rates * (1 - rates) + (abs(gaps) ** norm - power) ** 2)
    deviation = np.sqrt(variance / cell.n) / (norm * error ** (norm - 1))
    return float((error - shown) / (deviation + 1e-300))
