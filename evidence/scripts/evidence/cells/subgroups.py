"""Cells of the test over all subgroups: scores, columns of subgroups, and a curve by subgroup.

The method was made on the cells of the half ``design``; those of ``judging`` were written after it
was frozen. Cells named "shared" have one fault in all rows; they were written for the test beyond
it, before it was run on any of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr

from calbias.engine.seeding import stream
from reproduction.judging import DESIGN, JUDGING, Drawn

Columns = dict[str, np.ndarray]
LogOdds = Callable[[np.ndarray, Columns], np.ndarray]
PAIR, VALUE = "a = v1 and b = v2", "a = v1"
"""The segment that is at fault where a pair is, or a value."""


class Segmented(NamedTuple):
    """Scores, hits, true rates (n,), columns of subgroups, clusters (n,) or None, and a number."""

    scores: np.ndarray
    hits: np.ndarray
    columns: Columns
    clusters: np.ndarray | None
    rates: np.ndarray
    number: int


@dataclass(frozen=True)
class SubgroupCell(Drawn):
    """n rows of scores, columns of so many ``levels``, and the log odds of a hit.

    Rows of a cluster of ``cluster_rows`` share a normal effect on the probit scale with the
    ``correlation``; shares of ``uneven`` levels fall by 0.6. The log odds of the scores rise by
    ``tilt`` from value to value of the first column. ``fault`` is the segment that differs from the
    others, "" where none does, None where several do.
    """

    name: str
    half: str
    n: int
    scores: Callable[[np.random.Generator, int], np.ndarray]
    levels: tuple[int, ...]
    log_odds: LogOdds
    cluster_rows: int = 0
    correlation: float = 0.0
    uneven: bool = False
    tilt: float = 0.0
    fault: str | None = ""

    @property
    def is_calibrated(self) -> bool:
        """Whether each row has the chance that its score says."""
        return self.log_odds is _same

    def draw(self, n: int, seed: int, number: int) -> Segmented:
        """Return Segmented rows."""
        generator = stream(seed, "subgroup cells", self.name, str(number))
        scores = self.scores(generator, n)
        columns = {}
        for column, levels in zip("abc", self.levels, strict=False):
            shares = np.ones(levels) if not self.uneven else 0.6 ** np.arange(levels)
            columns[column] = generator.choice(levels, n, p=shares / shares.sum())
        if self.tilt:
            scores = expit(logit(scores) + self.tilt * (columns["a"] - 1))
        rates = expit(self.log_odds(logit(scores), columns))
        if not self.cluster_rows:
            hits = generator.random(n) < rates
            return Segmented(scores, hits, columns, None, rates, number)
        clusters = np.arange(n) // self.cluster_rows
        shared = generator.normal(size=clusters.max() + 1)[clusters]
        noise = generator.normal(size=n)
        effect = np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * noise
        return Segmented(scores, ndtr(effect) < rates, columns, clusters, rates, number)


def _beta(a: float, b: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda generator, n: generator.beta(a, b, n)


def _normal(mean: float, sd: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda generator, n: expit(generator.normal(mean, sd, n))


def _tied(*values: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda generator, n: generator.choice(values, n)


def _same(x: np.ndarray, columns: Columns) -> np.ndarray:
    return x


def _pair(shift: float) -> LogOdds:
    return lambda x, columns: x + shift * ((columns["a"] == 1) & (columns["b"] == 2))


def _shift(shift: float) -> LogOdds:
    return lambda x, columns: x + shift


def _slope(slope: float, value: int | None = None) -> LogOdds:
    def log_odds(x: np.ndarray, columns: Columns) -> np.ndarray:
        return np.where((columns["a"] == value) | (value is None), slope * x, x)

    return log_odds


def _and(shared: LogOdds, other: LogOdds) -> LogOdds:
    return lambda x, columns: other(shared(x, columns), columns)


def _value(shift: float) -> LogOdds:
    return lambda x, columns: x + shift * (columns["a"] == 1)


def _steps(x: np.ndarray, columns: Columns) -> np.ndarray:
    return x + 0.8 * np.sign(np.sin(3 * x))


def _by_value(step: float) -> LogOdds:
    return lambda x, columns: x + step * (columns["a"] - 1)


def _zigzag(x: np.ndarray, columns: Columns) -> np.ndarray:
    return x + 1.5 * np.sign(np.sin(3 * x))


def _opposite(x: np.ndarray, columns: Columns) -> np.ndarray:
    return x + 0.8 * (2 * ((columns["a"] + columns["b"]) % 2) - 1)


_FEW, _SOME, _MANY = (4, 5, 3), (8, 8, 8), (11, 11, 11)
_VERBAL = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
CELLS = [
    SubgroupCell("calibrated", DESIGN, 2000, _beta(6, 1.5), _FEW, _same),
    SubgroupCell("two values", DESIGN, 500, _beta(2, 1), (2,), _same),
    SubgroupCell("ties", DESIGN, 2000, _tied(*_VERBAL), _FEW, _same),
    SubgroupCell("saturated", DESIGN, 3000, _normal(6, 3), _FEW, _same),
    SubgroupCell("rare events", DESIGN, 4000, _beta(1, 60), _FEW, _same),
    SubgroupCell("217 segments", DESIGN, 12_000, _beta(6, 1.5), _SOME, _same),
    SubgroupCell("pair -0.6", DESIGN, 5000, _beta(6, 1.5), _FEW, _pair(-0.6), fault=PAIR),
    SubgroupCell("pair -0.9", DESIGN, 5000, _beta(6, 1.5), _FEW, _pair(-0.9), fault=PAIR),
    SubgroupCell("all shifted", DESIGN, 2000, _beta(6, 1.5), _FEW, _shift(-0.8)),
    SubgroupCell("slope of all", DESIGN, 2000, _normal(0, 3), _FEW, _slope(0.5)),
    SubgroupCell("each value", DESIGN, 2000, _beta(2, 1), _FEW, _by_value(0.6), fault=None),
    SubgroupCell("zigzag", DESIGN, 2000, _normal(0, 3), _FEW, _zigzag),
    SubgroupCell("saturated, shifted", DESIGN, 3000, _normal(6, 3), _FEW, _shift(-1.5)),
    SubgroupCell("uniform", JUDGING, 1000, _beta(1, 1), (3, 3), _same),
    SubgroupCell("three values", JUDGING, 300, _beta(8, 2), (3,), _same),
    SubgroupCell("two scores", JUDGING, 1500, _tied(0.6, 0.9), (5, 4, 2), _same),
    SubgroupCell("nearly all 1", JUDGING, 6000, _normal(9, 3), (6, 4), _same),
    SubgroupCell("rare, uneven", JUDGING, 8000, _beta(0.5, 80), (6, 6, 4), _same, uneven=True),
    SubgroupCell("390 segments", JUDGING, 8000, _beta(3, 1), _MANY, _same),
    SubgroupCell("U-shaped", JUDGING, 2500, _beta(0.4, 0.4), (4, 4, 4), _same),
    SubgroupCell("one pair -0.6", JUDGING, 5000, _beta(5, 2), _FEW, _pair(-0.6), fault=PAIR),
    SubgroupCell("one pair -0.9", JUDGING, 5000, _beta(5, 2), _FEW, _pair(-0.9), fault=PAIR),
    SubgroupCell("one pair +0.9", JUDGING, 5000, _beta(5, 2), _FEW, _pair(0.9), fault=PAIR),
    SubgroupCell(
        "slope of a value", JUDGING, 4000, _normal(0, 2), (4, 3), _slope(0.6, 1), fault=VALUE,
    ),
    SubgroupCell("opposite", JUDGING, 2500, _beta(3, 1), (4, 4), _opposite, fault=None),
    SubgroupCell("all too low", JUDGING, 2500, _beta(2, 3), (5, 4), _shift(0.7)),
    SubgroupCell("too extreme", JUDGING, 2500, _beta(0.4, 0.4), (4, 4), _slope(0.3)),
    SubgroupCell("rare, tripled", JUDGING, 6000, _beta(1, 80), (4, 4), _shift(1.1)),
    SubgroupCell(
        "few scores, wrong", JUDGING, 1500, _tied(0.1, 0.5, 0.97), (4, 3), _by_value(0.7),
        fault=None,
    ),
    SubgroupCell(
        "uneven, wrong", JUDGING, 4000, _beta(4, 1), (6, 6), _by_value(-0.4), uneven=True,
        fault=None,
    ),
    SubgroupCell("clusters of 5", DESIGN, 2000, _beta(6, 1.5), _FEW, _same, 5, 0.5),
    SubgroupCell("clusters of 20", JUDGING, 4000, _beta(3, 1), (4, 3), _same, 20, 0.3),
    SubgroupCell("few clusters", JUDGING, 1500, _beta(2, 1), (3, 2), _same, 50, 0.3),
    SubgroupCell(
        "clusters of 8, wrong", JUDGING, 3200, _beta(3, 1), (4, 3), _by_value(-0.5), 8, 0.4,
        fault=None,
    ),
    SubgroupCell("clusters, saturated", JUDGING, 6000, _normal(5, 2), (4, 3), _same, 10, 0.4),
    SubgroupCell("shared shift", DESIGN, 2000, _beta(6, 1.5), _FEW, _shift(-0.5), tilt=0.5),
    SubgroupCell("shared slope", JUDGING, 3000, _normal(0, 1.5), (5, 4), _slope(0.6), tilt=0.6),
    SubgroupCell("shared steps", JUDGING, 4000, _normal(0, 1.5), (4, 4), _steps, tilt=0.7),
    SubgroupCell("shared, 300 rows", JUDGING, 300, _normal(1, 1), (3,), _shift(-1.0), tilt=0.8),
    SubgroupCell("shared, rare", JUDGING, 8000, _beta(0.8, 40), (4, 3), _shift(0.7), tilt=0.5),
    SubgroupCell("shared, ties", JUDGING, 2000, _tied(*_VERBAL), (4, 4), _shift(-0.7)),
    SubgroupCell("shared, saturated", JUDGING, 4000, _normal(6, 3), (4, 3), _shift(-2), tilt=1.0),
    SubgroupCell(
        "shared, uneven", JUDGING, 4000, _beta(2, 2), (6, 5), _shift(0.7), uneven=True, tilt=0.6
    ),
    SubgroupCell("shared, clusters", JUDGING, 3000, _beta(3, 1), (3, 3), _shift(-0.6), 10, 0.3),
    SubgroupCell(
        "shared, and a pair", JUDGING, 5000, _beta(5, 2), _FEW,
        _and(_shift(-0.4), _pair(-1.0)), tilt=0.3, fault=PAIR,
    ),
    SubgroupCell("one value", JUDGING, 4000, _beta(3, 1), (4, 3), _value(-0.9), fault=VALUE),
]  # fmt: skip
