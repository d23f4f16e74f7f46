"""Rows in time, for the monitor: streams that are calibrated, and streams with a fault.

CALIBRATED has streams with P(hit | past, score) = score, FAULTS streams that are miscalibrated from
a row on. Those of the half ``design`` were looked at while the monitor was made; the others were
chosen before, and run once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from calbias.engine.seeding import stream
from evidence.cells.beta import line
from reproduction.judging import DESIGN, JUDGING, Drawn

Floats = NDArray[np.float64]
Distribution = Callable[[np.random.Generator, int], Floats]
Steps = Iterator[tuple[Floats, NDArray]]  # scores, or NaN, and hits (streams, rows of a cluster)
_VERBAL = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])


class StreamRows(NamedTuple):
    """Scores and hits (n,) in time."""

    scores: Floats
    hits: NDArray


def _beta(a: float, b: float) -> Distribution:
    return lambda generator, n: np.clip(generator.beta(a, b, n), 1e-9, 1 - 1e-9)


def _band(low: float, high: float, by: float) -> Callable[[Floats], Floats]:
    return lambda s: np.clip(s + by * ((s >= low) & (s < high)), 0, 1)


def _wave(s: Floats) -> Floats:
    return s + 0.1 * np.minimum(1, 8 * s * (1 - s)) * np.sin(4 * np.pi * s)


def _growing(s: Floats) -> Floats:
    shift = -0.8 * np.minimum(np.arange(s.size) / 2000, 1)
    return expit(shift + logit(s))


DISTRIBUTIONS: dict[str, Distribution] = {
    "Beta(6, 1.5)": _beta(6, 1.5), "Beta(2, 1)": _beta(2, 1), "uniform": _beta(1, 1),
    "Beta(0.5, 0.5)": _beta(0.5, 0.5), "Beta(0.6, 30)": _beta(0.6, 30),
    "Beta(2.8, 0.05)": _beta(2.8, 0.05),
    "verbal": lambda generator, n: generator.choice(_VERBAL, n),
}  # fmt: skip


@dataclass(frozen=True)
class Fault(Drawn):
    """A distribution of the scores, and rates of hits from a row on; before it is calibrated."""

    name: str
    half: str
    distribution: str
    rates: Callable[[Floats], Floats]
    from_row: int

    def draw(self, n: int, seed: int, number: int) -> StreamRows:
        """Return a stream of n StreamRows."""
        return self.rows(stream(seed, "monitor", self.name, str(number)), n)

    def rows(self, generator: np.random.Generator, n: int) -> StreamRows:
        """Return n StreamRows of a generator."""
        scores = DISTRIBUTIONS[self.distribution](generator, n)
        before = self.from_row - 1
        rates = np.append(scores[:before], self.rates(scores[before:]))
        return StreamRows(scores, generator.random(n) < rates)


GROWING = "shift that grows"
FAULTS = [
    Fault("shift -0.2", DESIGN, "Beta(6, 1.5)", line(-0.2, 1), 1),
    Fault("slope 0.8", DESIGN, "Beta(6, 1.5)", line(0, 0.8), 1),
    Fault("shift -0.4", DESIGN, "Beta(6, 1.5)", line(-0.4, 1), 2001),
    Fault("shift -0.8", DESIGN, "Beta(6, 1.5)", line(-0.8, 1), 2001),
    Fault("slope 0.6", DESIGN, "Beta(6, 1.5)", line(0, 0.6), 2001),
    Fault("10 points too high above 0.9", DESIGN, "Beta(6, 1.5)", _band(0.9, 1.1, -0.1), 1),
    Fault("band 0.60 to 0.65", DESIGN, "Beta(6, 1.5)", _band(0.6, 0.65, -0.3), 1),
    Fault("slope 0.7", JUDGING, "uniform", line(0, 0.7), 1001),
    Fault("shift -0.3", JUDGING, "Beta(2, 1)", line(-0.3, 1), 3001),
    Fault("shift +0.4", JUDGING, "Beta(0.5, 0.5)", line(0.4, 1), 1),
    Fault("shift -0.7", JUDGING, "Beta(0.6, 30)", line(-0.7, 1), 1),
    Fault("slope 0.6, saturated", JUDGING, "Beta(2.8, 0.05)", line(0, 0.6), 501),
    Fault("wave of 2 cycles", JUDGING, "uniform", _wave, 1),
    Fault("0.8 is 20 points too high", JUDGING, "verbal", _band(0.79, 0.81, -0.2), 2001),
    Fault("shift that grows", JUDGING, "Beta(6, 1.5)", _growing, 2001),
    Fault("band 0.72 to 0.77", JUDGING, "Beta(6, 1.5)", _band(0.72, 0.77, -0.3), 1),
    Fault("band 0.30 to 0.35", JUDGING, "Beta(2, 1)", _band(0.3, 0.35, 0.3), 1),
    Fault("band 0.45 to 0.50", JUDGING, "uniform", _band(0.45, 0.5, -0.3), 2001),
]


@dataclass(frozen=True)
class ReadAgain(Drawn):
    """A calibrated stream whose verdict is read again and again."""

    name: str = "verdict every 200 rows"
    distribution: str = "Beta(6, 1.5)"

    def draw(self, n: int, seed: int, number: int) -> StreamRows:
        """Return a stream of n StreamRows."""
        generator = stream(seed, "verdict read again", str(number))
        scores = DISTRIBUTIONS[self.distribution](generator, n)
        return StreamRows(scores, generator.random(n) < scores)


def _independent(name: str) -> Callable[[np.random.Generator, int], Steps]:
    def steps(generator: np.random.Generator, streams: int) -> Steps:
        while True:
            scores = DISTRIBUTIONS[name](generator, streams)[:, None]
            yield scores, generator.random(scores.shape) < scores

    return steps


def _recent_share(generator: np.random.Generator, streams: int) -> Steps:
    recent = generator.random((streams, 20)) < 0.5
    while True:
        scores = (1 + recent.sum(axis=1, keepdims=True)) / 22
        hits = generator.random(scores.shape) < scores
        yield scores, hits
        recent = np.append(recent[:, 1:], hits, axis=1)


def _after_a_miss(generator: np.random.Generator, streams: int) -> Steps:
    hits = np.zeros((streams, 1), bool)
    while True:
        scores = np.where(hits, 0.3, 0.9)
        hits = generator.random(scores.shape) < scores
        yield scores, hits


def _clusters(generator: np.random.Generator, streams: int) -> Steps:
    while True:
        scores = generator.beta(2, 1, (streams, generator.integers(1, 21)))
        yield scores, generator.random((streams, 1)) < scores


def _until_a_miss(generator: np.random.Generator, streams: int) -> Steps:
    while True:
        scores = generator.uniform(0.4, 0.8, (streams, 30))
        hits = generator.random(scores.shape) < scores
        is_row = np.cumprod(hits, axis=1)[:, :-1] > 0
        yield np.where(np.c_[np.ones(streams, bool), is_row], scores, np.nan), hits


CALIBRATED = {
    **{x: _independent(x) for x in DISTRIBUTIONS if x not in ("Beta(2, 1)", "Beta(0.5, 0.5)")},
    "the share of hits in 20 rows": _recent_share,
    "0.9 after a miss, 0.3 after a hit": _after_a_miss,
    "clusters of one random number": _clusters,
    "clusters until a miss": _until_a_miss,
}
