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

from dataclasses import dataclass

import numpy as np

from calbias.auditing.intervals.interval import LEVEL, Interval
from calbias.auditing.redraw import FixedScores

GRID = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256)
_CONSTRAINED = 0.16
_REFINEMENTS = 1


@dataclass
class Inversion:
    """What the construction says of one estimator.

    Attributes
    ----------
    interval : Interval
        Of the target.
    corrected : float
        The target at the λ whose median estimate is the observed one; 0 if λ = 0 exceeds it.
    null_mean, null_sd : float
        Mean and standard deviation of the estimates of a calibrated model: the noise floor.
    p_value : float
        (1 + number of null estimates at least as large as the observed one)/(1 + replicates).
    """

    interval: Interval
    corrected: float
    null_mean: float
    null_sd: float
    p_value: float


class Construction:
    """Estimates drawn along the family c_λ, for several estimators at once.

    Parameters
    ----------
    sample : Sample
    runs : dict {name: run}
        ``run(data) -> (m,)`` estimates of a SortedBatch of m rows.
    targets : dict {name: target}
        ``target(scores, rates) -> float`` of scores (n,) with hits of probability rates (n,).
    replicates : int
        Data sets drawn at each λ.
    null_replicates : int, optional
        Data sets drawn at λ = 0, for the p-value.
    """

    def __init__(self, sample, runs, targets, replicates=400, null_replicates=None, name="audit"):
        self.sample, self.runs, self.targets = sample, runs, targets
        self.replicates = replicates
        self.null_replicates = max(null_replicates or replicates, replicates)
        self.fixed = FixedScores(sample.scores, sample.seed, name)
        observed = self.fixed.observed(sample.hits)
        self.observed = {name: float(run(observed)[0]) for name, run in runs.items()}
        self.estimates = {}
        self._explored = set()
        self._quantiles = {}

    def at(self, lam):
        """Return {name: estimates} at one λ."""
        if lam not in self.estimates:
            replicates = self.null_replicates if lam == 0 else self.replicates
            self.estimates[lam] = self.fixed.estimates(
                self.sample.rates(lam), self.runs, replicates
            )
        return self.estimates[lam]

    def target(self, name, lam):
        """Return the target of an estimator at one λ."""
        return self.targets[name](self.sample.scores, self.sample.rates(lam))

    def explore(self, level=LEVEL):
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
        for _ in range(_REFINEMENTS):
            lams = np.array(sorted(self.estimates))
            edges = [e for name in self.targets for e in self._edges(name, level)]
            brackets = {int(k) for k in np.searchsorted(lams, edges) if 0 < k < len(lams)}
            for k in brackets:
                self.at(float(lams[k - 1] + lams[k]) / 2)

    def invert(self, name, level=LEVEL):
        """Return the Inversion of one estimator."""
        self.explore(level)
        low, high, middle = self._edges(name, level)
        ends = sorted(self.target(name, lam) for lam in (low, high))
        if all(
            self._quantile(name, lam, (1 + level) / 2) < self.observed[name]
            for lam in self.estimates
        ):
            ends[1] = max(ends[1], self.observed[name])  # farther off than any curve of the family
        null = self.at(0.0)[name]
        exceed = np.count_nonzero(null >= self.observed[name])
        return Inversion(
            Interval(*ends),
            self.target(name, middle),
            float(null.mean()),
            float(null.std(ddof=1)),
            (1 + exceed) / (1 + null.size),
        )

    def _quantile(self, name, lam, probability):
        key = name, lam, probability
        if key not in self._quantiles:
            self._quantiles[key] = float(np.quantile(self.at(lam)[name], probability))
        return self._quantiles[key]

    def _ceiling(self, name):
        return max(self.observed[name], self._quantile(name, 0.0, _CONSTRAINED))

    def _rejected_above(self, name, lam, level):
        return lam > 0 and self._quantile(name, lam, (1 - level) / 2) > self._ceiling(name)

    def _edges(self, name, level):
        """Return λ at the interval's low end, at its high end, and of the median estimate."""
        lams = np.array(sorted(self.estimates))
        tail = (1 - level) / 2
        upper = np.array([self._quantile(name, lam, 1 - tail) for lam in lams])
        lower = np.array([self._quantile(name, lam, tail) for lam in lams])
        middle = np.array([self._quantile(name, lam, 0.5) for lam in lams])
        return (
            _first_at_least(lams, upper, self.observed[name]),
            _last_at_most(lams, lower, self._ceiling(name)),
            _first_at_least(lams, middle, self.observed[name]),
        )


def invert(sample, run, target, level=LEVEL, replicates=400):
    """Return the Interval of the target of one estimator.

    Parameters
    ----------
    sample : Sample
    run : callable
        ``run(data) -> (m,)`` estimates of a SortedBatch of m rows.
    target : callable
        ``target(scores, rates) -> float``.
    """
    construction = Construction(sample, {"one": run}, {"one": target}, replicates)
    return construction.invert("one", level).interval


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
