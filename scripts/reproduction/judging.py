"""Judging cells: data of known truth, a distribution of the scores and a calibration curve each.

They are read once, at the end of a method's design; the evidence has cells of the other half. A new
kind is an entry of DISTRIBUTIONS or CURVES.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.truth.curves import score
from calbias.truth.targets import quantile_grid

Floats = NDArray[np.float64]
DESIGN, JUDGING = "design", "judging"
"""The halves of cells: looked at while a method is changed, or read once at its end."""
_GRID = 1 << 16
VERBALISED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_SHARES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.10, 0.10, 0.13, 0.22, 0.22, 0.08)
_BINNED = (0.04, 0.11, 0.24, 0.33, 0.47, 0.58, 0.66, 0.79, 0.91, 0.97)


class Sample:
    """n ascending scores with their hits; of equal scores the misses come first.

    Scores have twelve digits, so that which ones are equal does not depend on the processor.
    """

    def __init__(self, scores: ArrayLike, hits: ArrayLike, seed: int = 0) -> None:
        given: NDArray[np.float64] = np.round(np.asarray(scores, float), 12)
        labels: NDArray[np.uint8] = np.asarray(hits, np.uint8)
        order = np.lexsort((labels, given))
        self.scores, self.hits, self.seed = given[order], labels[order], seed

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.scores.size

    @cached_property
    def data(self) -> SortedBatch:
        """The sample as a batch of one data set; equal scores share their mean hit."""
        return sorted_data_set(self.scores, self.hits)


class Drawn:
    """A cell whose data sets are drawn one at a time."""

    def draw(self, n: int, seed: int, number: int) -> Any:
        """Return data set ``number``: a function of the seed and of names."""
        raise NotImplementedError

    def batches(self, n: int, seed: int, data_sets: int) -> Iterator[tuple[Any]]:
        """Yield the data sets, each alone."""
        for number in range(data_sets):
            yield (self.draw(n, seed, number),)

    def truth(self, target: str) -> float:
        """Return NaN: a study whose reducer compares data sets with their own truths."""
        return float("nan")


@dataclass(frozen=True)
class HalfCell(Drawn):
    """A distribution of the scores and a curve, by name with parameters, and its half."""

    half: str
    distribution: tuple[str, tuple[float, ...]]
    curve: tuple[str, tuple[float, ...]]

    @property
    def name(self) -> str:
        """The distribution and the curve in words, such as ``beta_2_1_shift_0.5``."""
        return "_".join(
            f"{kind}_{'_'.join(f'{x:g}' for x in values)}".rstrip("_")
            for kind, values in (self.distribution, self.curve)
        )

    def grid(self) -> tuple[Floats, Floats]:
        """Return the distribution as points (Q,) with weights (Q,)."""
        kind, values = self.distribution
        return DISTRIBUTIONS[kind](*values)

    def draw(self, n: int, seed: int, number: int) -> Sample:
        """Return a Sample."""
        generator = stream(seed, "posterior", self.name, str(n), str(number))
        points, weights = self.grid()
        positions = generator.random(n)
        cumulative = np.cumsum(weights)
        below = np.minimum(np.searchsorted(cumulative, positions, side="right"), points.size - 1)
        scores = points[below]
        if self.distribution[0] == "beta":  # between the points of the grid
            ahead = points[np.minimum(below + 1, points.size - 1)]
            scores = scores + (ahead - scores) * (positions * points.size - below)
            scores = np.clip(scores, 0.0, 1.0)
        hits = generator.random(n) < self.rates(scores)
        return Sample(scores, hits)

    def rates(self, scores: Floats) -> Floats:
        """Return the probability of a hit at scores, an array of their shape."""
        kind, values = self.curve
        return np.clip(CURVES[kind](scores, *values), 0.0, 1.0)

    def truth(self, target: str) -> float:
        """Return the error ``l1`` or ``l2``."""
        scores, weights = self.grid()
        gaps = abs(self.rates(scores) - scores)
        return float(weights @ gaps if target == "l1" else np.sqrt(weights @ gaps**2))


def _beta(alpha: float, beta: float) -> tuple[Floats, Floats]:
    points = score(*quantile_grid(alpha, beta, _GRID))
    return points, np.full(_GRID, 1.0 / _GRID)


def _rounded(alpha: float, beta: float, digits: float) -> tuple[Floats, Floats]:
    points, _ = _beta(alpha, beta)
    values, counts = np.unique(np.round(points, int(digits)), return_counts=True)
    return values, counts / _GRID


DISTRIBUTIONS: dict[str, Callable[..., tuple[Floats, Floats]]] = {
    "beta": _beta,
    "rounded": _rounded,
    "verbalised": lambda: (np.array(VERBALISED), np.array(_SHARES)),
    "binned": lambda: (np.array(_BINNED), np.full(len(_BINNED), 1.0 / len(_BINNED))),
}


def _line(s: Floats, intercept: float, slope: float) -> Floats:
    inside = np.clip(s, 1e-15, 1.0 - 1e-15)
    return np.where((s <= 0.0) | (s >= 1.0), s, expit(intercept + slope * logit(inside)))


CURVES: dict[str, Callable[..., Floats]] = {
    "calibrated": lambda s: s,
    "slope": lambda s, slope: _line(s, 0.0, slope),
    "shift": lambda s, intercept: _line(s, intercept, 1.0),
    "line": _line,
    "power": lambda s, exponent: s**exponent,
    "wave": lambda s, amplitude, cycles: s + amplitude * np.sin(2 * np.pi * cycles * s),
    "jump": lambda s, place, height: s + height * (s >= place),
    "bump": lambda s, place, width, height: s + height * np.exp(-0.5 * ((s - place) / width) ** 2),
    "band": lambda s, low, high, height: s + height * ((s >= low) & (s < high)),
    "stairs": lambda s, steps: (np.minimum(np.floor(s * steps), steps - 1) + 0.5) / steps,
    "saw": lambda s, amplitude, period: s + amplitude * (2 * (s / period % 1) - 1),
    "zigzag": lambda s, size, period: s + np.where((s / period).astype(int) % 2, -size, size),
    "values": lambda s, size: s + size * np.sign(np.sin(997.0 * (s + 0.1))),
    "constant": lambda s, rate: np.full_like(s, rate),
}


def half_cells(
    half: str, *cells: tuple[str, tuple[float, ...], str, tuple[float, ...]]
) -> list[HalfCell]:
    """Return cells (distribution, its parameters, curve, its parameters) of a half."""
    return [HalfCell(half, cell[:2], cell[2:]) for cell in cells]


CELLS = half_cells(
    JUDGING,
    ("beta", (0.7, 0.7), "calibrated", ()),
    ("beta", (6, 1.5), "calibrated", ()),
    ("beta", (5, 0.09), "calibrated", ()),
    ("beta", (0.4, 4), "calibrated", ()),
    ("binned", (), "calibrated", ()),
    ("rounded", (3, 0.5, 2), "calibrated", ()),
    ("beta", (0.7, 0.7), "slope", (0.8,)),
    ("beta", (6, 1.5), "shift", (-0.35,)),
    ("beta", (5, 0.09), "slope", (0.6,)),
    ("beta", (5, 0.09), "shift", (-1,)),
    ("beta", (0.4, 4), "line", (0.4, 1)),
    ("beta", (0.4, 4), "power", (0.8,)),
    ("beta", (1, 1), "slope", (1.3,)),
    ("beta", (2, 1), "power", (2,)),
    ("beta", (1, 1), "wave", (0.05, 3)),
    ("beta", (2, 1), "wave", (0.03, 6)),
    ("beta", (2, 1), "jump", (0.5, 0.06)),
    ("beta", (2, 1), "bump", (0.5, 0.05, 0.15)),
    ("beta", (6, 1.5), "band", (0.9, 1.01, -0.06)),
    ("beta", (0.7, 0.7), "stairs", (8,)),
    ("beta", (2, 1), "stairs", (4,)),
    ("beta", (0.7, 0.7), "saw", (0.08, 0.25)),
    ("beta", (1, 1), "zigzag", (0.08, 0.125)),
    ("beta", (6, 1.5), "constant", (0.7,)),
    ("binned", (), "values", (0.06,)),
    ("rounded", (3, 0.5, 2), "shift", (-0.5,)),
    ("rounded", (1, 1, 1), "values", (0.1,)),
)
