"""How often ``calbias.compare`` is right: pairs of models of which one is better calibrated.

The first model's scores are drawn from a law and have a calibration curve; the probabilities r that
it gives the hits are the truth. The second model's scores are an increasing function of r, so that
its curve is the inverse of that function. ``DESIGN`` was looked at while ``compare`` was written;
``JUDGING`` was written down before and evaluated once.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr

from calbias.auditing.compare import compare
from calbias.conventions import SIGNIFICANT
from calbias.engine.seeding import stream
from evidence.scenarios.sets import (
    CONFIDENT,
    MIDDLE,
    RARE,
    SATURATED_ROUNDED,
    UNIFORM,
    line,
    wave,
)

_QUANTILES = 200_001
_NEAREST = 1e-12
_ROUNDING = 1e-9  # of an interval that holds the truth


class Pair(NamedTuple):
    """A law Beta(a, b) of the first scores, their curve, and the second score of a probability.

    ``digits`` rounds the first scores.
    """

    law: tuple[float, float]
    curve: Callable
    second: Callable
    digits: int | None = None

    def drawn(self, n: int, generator: np.random.Generator, rows=1, correlation=0.0):
        """Return scores of both models, hits and clusters, (n,) each.

        Each cluster has ``rows`` rows, whose hits share a normal effect of this correlation.
        """
        first, rate = self._of(generator.beta(*self.law, n))
        cluster = np.arange(n) // rows
        effect = np.sqrt(correlation) * generator.standard_normal(n)[cluster]
        noise = np.sqrt(1 - correlation) * generator.standard_normal(n)
        return first, self.second(rate), (ndtr(effect + noise) < rate).astype(np.uint8), cluster

    @property
    def difference(self) -> float:
        """The true E δ² of the first model less the second's."""
        u = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
        first, rate = self._of(betaincinv(*self.law, u))
        return float(np.mean((first - rate) ** 2) - np.mean((self.second(rate) - rate) ** 2))

    def _of(self, scores):
        scores = scores if self.digits is None else np.round(scores, self.digits)
        scores = np.clip(scores, _NEAREST, 1 - _NEAREST)
        return scores, np.clip(self.curve(scores), 1e-9, 1 - 1e-9)


def _same(p):
    return p


DESIGN = {
    "two-cycle wave of 10 points, shift 0.2": Pair(UNIFORM, wave(2, 0.1), line(0.2, 1)),
    "10 points above 0.9, shift 0.15": Pair(
        CONFIDENT, lambda s: s - 0.1 * (s > 0.9), line(0.15, 1)
    ),
    "calibrated, shift 0.3": Pair(MIDDLE, _same, line(0.3, 1)),
    "one band .60-.65 too high by 30 points, slope 1.25": Pair(
        UNIFORM, lambda s: s - 0.3 * ((s > 0.6) & (s < 0.65)), line(0, 1.25)
    ),
    "one decimal, neighbours wrong by 10 points, calibrated": Pair(
        UNIFORM, lambda s: s + 0.1 * np.cos(np.pi * np.round(10 * s)), _same, 1
    ),
}
JUDGING = {
    "jump of 12 points at 1/2, slope 1.3": Pair(
        UNIFORM, lambda s: s - 0.12 * (s > 0.5), line(0, 1.3)
    ),
    "three-cycle wave of 6 points, slope 0.85": Pair(MIDDLE, wave(3, 0.06), line(0, 0.85)),
    "risks: slope 0.75, shift 0.3": Pair(RARE, line(-0.6, 0.75), line(0.3, 1)),
    "one decimal, 8 points too high, slope 1.2": Pair(
        CONFIDENT, lambda s: s - 0.08, line(0, 1.2), 1
    ),
    "too sure below 0.3 by 8 points, shift -0.2": Pair(
        UNIFORM, lambda s: s + 0.08 * (s < 0.3), line(-0.2, 1)
    ),
    "saturated, slope 0.7; calibrated": Pair(SATURATED_ROUNDED, line(0, 0.7), _same),
}
EQUAL = {
    "the same calibrated model": Pair(CONFIDENT, _same, _same),
    "the same model, slope 0.7": Pair(UNIFORM, line(0, 0.7), line(0, 1 / 0.7)),
    "too high and too low, by shifts": Pair(UNIFORM, line(-0.3, 1), line(-0.3039, 1)),
    "wave and shift of one size": Pair(UNIFORM, wave(2, 0.05), line(0.1921, 1)),
}


def comparison_rows(pairs, replicates, n=2000, rows=1, correlation=0.0):
    """Yield a row per pair: true and mean difference, coverage, and shares of both verdicts.

    ``wrong`` is the share of data sets that call the worse model better, for equal models the share
    that finds any difference. With ``rows`` above 1 the rows of a cluster depend on each other.
    """
    for name, pair in pairs.items():
        truth, comparisons = pair.difference, []
        for k in range(replicates):
            generator = stream(0, name, str(n), str(k))
            first, second, hits, cluster = pair.drawn(n, generator, rows, correlation)
            cluster = cluster if rows > 1 else None
            comparisons.append(compare(first, second, hits, clusters=cluster))
        significant = np.array([c.p_value <= SIGNIFICANT for c in comparisons])
        estimates = np.array([c.difference for c in comparisons])
        right = significant & (np.sign(estimates) == np.sign(truth)) & (abs(truth) > 1e-6)
        covered = [c.low - _ROUNDING <= truth <= c.high + _ROUNDING for c in comparisons]
        yield {
            "pair": name,
            "n_samples": n,
            "truth": 1e4 * truth,
            "mean_estimate": 1e4 * estimates.mean(),
            "mean_estimate_se": 1e4 * estimates.std(ddof=1) / np.sqrt(replicates),
            "sd": 1e4 * estimates.std(ddof=1),
            "coverage": np.mean(covered),
            "right": right.mean(),
            "wrong": (significant & ~right).mean(),
        }
