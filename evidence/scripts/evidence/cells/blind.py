"""Blind cells: distributions of scores with calibration curves at a number of rows.

Their authors had not seen how the interval that the cells judge is computed. A distribution draws n
scores and integrates a function of the score, to 1e-6 and better. A curve maps scores (n,) to the
probability of a hit at each of them (n,).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, expit, ndtri

from calbias.engine.seeding import stream
from reproduction.judging import Drawn, Sample

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


class Distribution(Protocol):
    """A distribution of scores."""

    def __call__(self, generator: np.random.Generator, n: int) -> Floats:
        """Return n scores."""

    def expectation(self, function: Curve) -> float:
        """Return the mean of a function of the score."""

    def points(self, size: int) -> tuple[Floats, Floats]:
        """Return scores (Q,) and weights (Q,) that stand for the distribution."""


class Values:
    """Scores on a finite number of values; the shares are scaled to the sum 1."""

    def __init__(self, values: ArrayLike, shares: ArrayLike) -> None:
        self.values = np.asarray(values, float)
        weights = np.asarray(shares, float)
        self.shares = weights / np.sum(weights)

    def __call__(self, generator: np.random.Generator, n: int) -> Floats:
        """Return n scores."""
        return generator.choice(self.values, n, p=self.shares)

    def expectation(self, function: Curve) -> float:
        """Return the exact sum."""
        return float(self.shares @ function(self.values))

    def points(self, size: int = 0) -> tuple[Floats, Floats]:
        """Return the values and their shares; the size is not used."""
        return self.values, self.shares


@dataclass
class Continuous:
    """Scores by their quantile function, which may have flat parts."""

    quantile: Curve

    def __call__(self, generator: np.random.Generator, n: int) -> Floats:
        """Return n scores."""
        return self.quantile(generator.random(n))

    def expectation(self, function: Curve) -> float:
        """Return the integral over the quantile function."""
        return integral(lambda u: function(self.quantile(u)))

    def points(self, size: int) -> tuple[Floats, Floats]:
        """Return equally likely quantiles."""
        return self.quantile((np.arange(size) + 0.5) / size), np.full(size, 1.0 / size)


@dataclass
class Mixture:
    """A mixture of distributions with shares that add up to 1."""

    shares: Sequence[float]
    parts: Sequence[Distribution]

    def __call__(self, generator: np.random.Generator, n: int) -> Floats:
        """Return n scores in random order."""
        part = generator.choice(len(self.parts), n, p=self.shares)
        scores = np.empty(n)
        for number, distribution in enumerate(self.parts):
            scores[part == number] = distribution(generator, int(np.sum(part == number)))
        return scores

    def expectation(self, function: Curve) -> float:
        """Return the weighted mean of the parts' expectations."""
        means = [part.expectation(function) for part in self.parts]
        return float(np.dot(self.shares, means))

    def points(self, size: int) -> tuple[Floats, Floats]:
        """Return the points of all parts."""
        points = [part.points(size // len(self.parts)) for part in self.parts]
        weights = [share * w for share, (_, w) in zip(self.shares, points, strict=True)]
        return np.concatenate([scores for scores, _ in points]), np.concatenate(weights)


def integral(function: Curve) -> float:
    """Integrate over (0, 1): Gauss-Legendre, panels halved until both halves agree with them."""
    low, width, total = np.arange(1024) / 1024, np.full(1024, 1 / 1024), 0.0

    def panels(low: Floats, width: Floats) -> Floats:
        nodes = low[:, None] + width[:, None] * (_NODES + 1) / 2
        return function(nodes.ravel()).reshape(nodes.shape) @ _WEIGHTS * width / 2

    coarse = panels(low, width)
    tolerance = 1e-9 * np.sum(abs(coarse))
    for _ in range(40):
        width = np.repeat(width / 2, 2)
        low = np.repeat(low, 2) + width * (np.arange(width.size) % 2)
        halves = panels(low, width)
        both = halves.reshape(-1, 2).sum(1)
        open_panels = abs(both - coarse) > tolerance
        total += float(np.sum(both[~open_panels]))
        again = np.repeat(open_panels, 2)
        low, width, coarse = low[again], width[again], halves[again]
        if not coarse.size:
            break
    return total + float(np.sum(coarse))


def beta(alpha: float, beta: float, low: float = 0.0, high: float = 1.0) -> Continuous:
    """Return the Beta distribution on [low, high]."""
    return Continuous(lambda u: low + (high - low) * betaincinv(alpha, beta, u))


def normal(mean: float, deviation: float) -> Continuous:
    """Return the distribution of scores whose log odds are normal."""
    return Continuous(lambda u: expit(mean + deviation * ndtri(u)))


def float32(distribution: Continuous) -> Continuous:
    """Return scores as a softmax in single precision stores them: from 1 - 3e-8 on they are 1."""
    return Continuous(lambda u: distribution.quantile(u).astype(np.float32).astype(float))


def logit(s: Floats) -> Floats:
    """Return the log odds of scores, which are kept 1e-12 away from 0 and 1."""
    inside = np.clip(s, 1e-12, 1 - 1e-12)
    return np.log(inside) - np.log1p(-inside)


def calibrated(s: Floats) -> Floats:
    """Return the curve without error."""
    return +s


def line(slope: float, shift: float = 0.0) -> Curve:
    """Return a curve that is a line in the log odds."""
    return lambda s: expit(slope * logit(s) + shift)


def joined(values: ArrayLike, rates: ArrayLike) -> Curve:
    """Return the curve that joins rates at values by lines."""
    x, y = np.asarray(values, float), np.asarray(rates, float)
    return lambda s: np.interp(s, x, y)


def tabulated(scores: Floats, rates: Floats, shares: Floats | None = None) -> tuple[Values, Curve]:
    """Join equal scores; without shares all points are equally likely."""
    values, index = np.unique(scores, return_inverse=True)
    weights = np.ones(len(scores)) if shares is None else shares
    mass = np.bincount(index, weights)
    return Values(values, mass), joined(values, np.bincount(index, weights * rates) / mass)


def two_rates(place: float, below: float, from_there: float) -> Curve:
    """Return the curve with one rate below a place and one from there on."""
    return lambda s: np.where(s < place, below, from_there)


def wave(size: float, cycles: float) -> Curve:
    """Return the curve with a sine around the diagonal, smaller towards 0 and 1."""
    return lambda s: s + size * 4 * s * (1 - s) * np.sin(2 * np.pi * cycles * s)


def odds_wave(size: float, frequency: float) -> Curve:
    """Return the curve with a sine around the diagonal of the log odds."""
    return lambda s: expit(logit(s) + size * np.sin(frequency * logit(s)))


def stairs(steps: int) -> Curve:
    """Return the curve with the middle of its step as the rate of each score."""
    return lambda s: (np.minimum(np.floor(s * steps), steps - 1) + 0.5) / steps


def fault(low: float, high: float, rate: float, elsewhere: Curve = calibrated) -> Curve:
    """Return the curve with one rate for scores in [low, high), another curve elsewhere."""
    return lambda s: np.where((s >= low) & (s < high), rate, elsewhere(s))


@dataclass(frozen=True)
class BlindCell(Drawn):
    """A distribution of scores with a curve at a number of rows.

    ``blind_set`` names the streams. Cells of 2026 have a mark with its reason.
    """

    blind_set: str
    name: str
    n: int
    distribution: Distribution
    curve: Curve
    assumption_holds: bool | None = None
    reason: str = ""

    def draw(self, n: int, seed: int, number: int) -> Sample:
        """Return a Sample; hits are 1 with the probability ``curve(scores)``."""
        generator = stream(seed, self.blind_set, self.name, str(n), str(number))
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
    scores, index = np.unique(points, return_inverse=True)
    weights = np.bincount(index, masses)
    rates = cell.curve(scores)
    gaps = rates - scores
    power = weights @ abs(gaps) ** norm
    error = float(power ** (1 / norm))
    if error == 0:
        return 0.0
    shown = error
    for bins in (np.floor(1.5 * cell.n**0.35), np.ceil(1.5 * cell.n**0.35)):
        light = weights < 1 / bins
        bin_of = ((np.cumsum(weights[light]) - weights[light] / 2) * bins).astype(int)
        mass = np.bincount(bin_of, weights[light]) + 1e-300
        means = np.bincount(bin_of, (weights * gaps)[light]) / mass
        parts = weights[~light] @ abs(gaps[~light]) ** norm + mass @ abs(means) ** norm
        shown = min(shown, float(parts ** (1 / norm)))
    slope = norm * abs(gaps) ** (norm - 1)
    variance = weights @ (slope**2 * rates * (1 - rates) + (abs(gaps) ** norm - power) ** 2)
    deviation = np.sqrt(variance / cell.n) / (norm * error ** (norm - 1))
    return float((error - shown) / (deviation + 1e-300))
