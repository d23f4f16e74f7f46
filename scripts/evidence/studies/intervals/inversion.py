"""Test inversion by construction: an interval for the target of any estimator.

The family c_λ = s + λ(ĉ(s) − s) leads from perfect calibration (λ = 0) through the fitted curve
ĉ (λ = 1) and beyond, on the user's own scores. At each λ hits are drawn from c_λ and the estimator
is applied to them. The values of λ whose central 1 − α range of the estimates holds the observed
estimate are kept; the interval is the range of the target over them (Neyman 1937; the family is
the construction of Roelofs et al. 2022, section 4).

Where the observed estimate is lower than usual even for a calibrated model, the upper end is the
one of an estimate at the null's 16 % quantile: no bound is sharper than the data can be (a
power-constrained limit; Cowan, Cranmer, Gross and Vitells 2011).
"""

from typing import NamedTuple

import numpy as np

from calbias.auditing.intervals.interval import Interval
from calbias.conventions import CONFIDENCE_LEVEL

GRID = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256)
_CONSTRAINED = 0.16
# If all rows are hits, or all misses, no draw has a larger estimate than the observed one. The
# upper quantile then jumps to it at some λ, which is searched for by this many halvings.
_AT_A_JUMP = 8


class Inversion(NamedTuple):
    """The interval of an estimator's target, and the target at the λ of the observed median.

    ``corrected`` is 0 where already the median of a calibrated model exceeds the observed estimate.
    """

    interval: Interval
    corrected: float


class Construction:
    """Estimates drawn along the family c_λ of a FittedSample, for several estimators at once.

    Each of ``estimators`` {name: estimator} has ``run(data) -> (m,)``, estimates of m drawn data
    sets, and ``target(scores, rates) -> float`` of scores (n,) with hits of probability rates (n,),
    or None. ``replicates`` data sets are drawn at each λ, ``null_replicates`` at λ = 0.
    """

    def __init__(self, sample, estimators, replicates=400, null_replicates=0):
        self.sample, self.estimators = sample, estimators
        self.runs = {name: each.run for name, each in estimators.items()}
        self.replicates = replicates
        self.null_replicates = max(null_replicates, replicates)
        self.fixed = sample.redraws("audit")
        self.data = self.fixed.observed(sample.hits)
        self.observed = {name: float(run(self.data)[0]) for name, run in self.runs.items()}
        self.estimates = {}
        self._explored = set()
        self._sorted = {}
        self._of_lams = {}  # quantiles, by estimator, probability and λ: asked for many times

    def at(self, lam):
        """Return {name: estimates} at one λ."""
        if lam not in self.estimates:
            replicates = self.null_replicates if lam == 0 else self.replicates
            rates = self.sample.rates(lam)
            self.estimates[lam] = self.fixed.estimates(rates, self.runs, replicates)
        return self.estimates[lam]

    def target(self, name, lam):
        """Return the target of an estimator at one λ."""
        return self.estimators[name].target(self.sample.scores, self.sample.rates(lam))

    def explore(self, level=CONFIDENCE_LEVEL):
        """Draw at all λ that the intervals of all estimators need: once."""
        if level in self._explored:
            return
        self._explored.add(level)
        previous = None
        for step in GRID:
            lam = step * self.sample.unit
            rates = self.sample.rates(lam)
            if previous is not None and np.array_equal(rates, previous):
                break
            previous = rates
            self.at(lam)
            if all(self._rejected_above(name, lam, level) for name in self.runs):
                break
        self._halve(e for name in self._with_target() for e in self._edges(name, level))
        for _ in range(_AT_A_JUMP):
            lows = {self._edges(name, level)[0] for name in self._with_target()}
            self._halve(low for low in lows if low in self.estimates)

    def invert(self, name, level=CONFIDENCE_LEVEL):
        """Return the Inversion of one estimator."""
        self.explore(level)
        low, high, middle = self._edges(name, level)
        ends = sorted(self.target(name, lam) for lam in (low, high))
        if all(
            self._quantile(name, lam, (1 + level) / 2) < self.observed[name]
            for lam in self.estimates
        ):
            ends[1] = max(ends[1], self.observed[name])  # farther off than any curve of the family
        return Inversion(Interval(*ends), self.target(name, middle))

    def _halve(self, edges):
        """Draw at the middle of each interval of λ that has an edge inside or at its upper end."""
        lams = np.array(sorted(self.estimates))
        for k in {int(k) for k in np.searchsorted(lams, list(edges)) if 0 < k < len(lams)}:
            self.at(float(lams[k - 1] + lams[k]) / 2)

    def _with_target(self):
        return [name for name, each in self.estimators.items() if each.target]

    def _quantile(self, name, lam, probability):
        return float(self._quantiles(name, [lam], probability)[0])

    def _quantiles(self, name, lams, probability):
        """Return the quantiles (l,) of an estimator's estimates at each λ."""
        known = self._of_lams.setdefault((name, probability), {})
        for lam in lams:
            if lam not in known:
                known[lam] = _quantile(self._ascending(name, lam), probability)
        return np.array([known[lam] for lam in lams])

    def _ascending(self, name, lam):
        if (name, lam) not in self._sorted:
            self._sorted[name, lam] = np.sort(self.at(lam)[name])
        return self._sorted[name, lam]

    def _ceiling(self, name):
        return max(self.observed[name], self._quantile(name, 0.0, _CONSTRAINED))

    def _rejected_above(self, name, lam, level):
        return lam > 0 and self._quantile(name, lam, (1 - level) / 2) > self._ceiling(name)

    def _edges(self, name, level):
        """Return λ at the interval's low end, at its high end, and of the median estimate."""
        grid = sorted(self.estimates)
        lams, tail = np.array(grid), (1 - level) / 2
        lower, middle, upper = (self._quantiles(name, grid, p) for p in (tail, 0.5, 1 - tail))
        return (
            _first_at_least(lams, upper, self.observed[name]),
            _last_at_most(lams, lower, self._ceiling(name)),
            _first_at_least(lams, middle, self.observed[name]),
        )


def invert(sample, estimator, level=CONFIDENCE_LEVEL, replicates=400):
    """Return the Interval of the target of one estimator, see Construction, on a Sample."""
    return Construction(sample, {"one": estimator}, replicates).invert("one", level).interval


def _quantile(ascending, probability):
    """Return a linear quantile; ``np.quantile`` took a fifth of an audit."""
    place = probability * (len(ascending) - 1)
    below = int(place)
    above = min(below + 1, len(ascending) - 1)
    return float(ascending[below] + (place - below) * (ascending[above] - ascending[below]))


def _first_at_least(lams, values, level):
    """Return the least λ whose value, linear between the given ones, is at least ``level``."""
    above = np.flatnonzero(values >= level)
    if above.size == 0:
        return float(lams[-1])
    k = above[0]
    return float(lams[0]) if k == 0 else _crossing(lams, values, k, level)


def _last_at_most(lams, values, level):
    below = np.flatnonzero(values <= level)
    if below.size == 0:
        return float(lams[0])
    k = below[-1] + 1
    return float(lams[-1]) if k == len(lams) else _crossing(lams, values, k, level)


def _crossing(lams, values, k, level):
    share = (level - values[k - 1]) / (values[k] - values[k - 1])
    return float(lams[k - 1] + share * (lams[k] - lams[k - 1]))
