"""Which of two models is better calibrated, on the same rows.

The reliability term of the Brier score is estimated row by row: (y − s)² − (y − g(s))², g the
logistic recalibration (Cox, Platt) fitted on the other folds; scores within 10⁻⁶ of 0 or 1, whose
logits are rounding, get the rate of their hits. The mean of the terms estimates E δ², from below.
The difference of two models' terms is a paired mean: it has a normal interval. The redraw test asks
how large the standardised difference is when both models are equally far from calibrated: their
hits are drawn from curves of the fitted shapes scaled to the same E δ², with the correlation of the
hits kept.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from calbias.auditing.cox import cox_curve, logits_of
from calbias.auditing.inputs import read_pair
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.seeding import stream
from calbias.errors import InputError

FOLDS = 5
SATURATED = 1e-6
"""Scores this near to 0 or 1 are 0 or 1 that were rounded, or clipped for a logarithm."""


@dataclass
class Comparison:
    """The result of ``compare``; reliabilities are E δ², fractions squared.

    ``difference``, first less second, has a 95 % interval: below 0 the first is better calibrated.
    ``p_value`` is that of the redraw test, ``normal_p_value`` of the standardised difference.
    """

    n: int
    reliability_first: float
    reliability_second: float
    difference: float
    low: float
    high: float
    p_value: float
    normal_p_value: float
    first: str = "first"
    second: str = "second"

    @property
    def sentence(self):
        """The verdict in one sentence."""
        verdict = "no difference found"
        if self.p_value < 0.05:
            verdict = f"{self.first if self.difference < 0 else self.second} is better calibrated"
        return (
            f"n = {self.n}: reliability {1e4 * self.reliability_first:.2f}·10⁻⁴ ({self.first}) and "
            f"{1e4 * self.reliability_second:.2f}·10⁻⁴ ({self.second}), difference "
            f"{1e4 * self.difference:.2f}·10⁻⁴ ({1e4 * self.low:.2f} to {1e4 * self.high:.2f}); "
            f"{verdict}, p = {self.p_value:.2g}."
        )

    def to_json(self):
        """Return the fields and the sentence as JSON."""
        return json.dumps({"sentence": self.sentence, **asdict(self)}, indent=2, ensure_ascii=False)


def compare(first, second, replicates=499, seed=0, names=("first", "second"), progress=None):
    """Return which of two models is better calibrated, on the same rows.

    Parameters
    ----------
    first, second : (array_like, array_like)
        Scores (n,) in [0, 1] and hits (n,), 1 where the prediction was correct and 0 elsewhere, of
        each model; the rows are in the same order.
    replicates : int
        Data sets of the redraw test.
    seed : int
        Of the folds and the redraw test.
    names : (str, str)
        What the sentence calls the models.
    progress : callable, optional
        Called with a short text every 100 redraws.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        For arrays that are not scores and hits, different numbers of rows, and fewer than 20 rows.
    """
    (s, y), (t, z) = (scores_and_hits(*model) for model in (first, second))
    n = s.size
    if t.size != n:
        raise InputError(f"{n} rows in the first and {t.size} in the second: give the same rows")
    if n < 20:
        raise InputError(f"{n} rows are too few to compare two models by: give at least 20")
    # Rows in an order of their own, so that the folds do not depend on the files' order.
    order = np.lexsort((z, y, t, s))
    s, y, t, z = s[order], y[order].astype(float), t[order], z[order].astype(float)
    fold = stream(seed, "compare", str(n)).permutation(n) % FOLDS
    one, other = reliability_terms(s, y, fold), reliability_terms(t, z, fold)
    difference, error = _mean_and_error(one - other)
    observed = _standardised(difference, error)
    square = max((one.mean() + other.mean()) / 2, 0.0)  # E δ² of both, at curves of their shapes
    rates = [_scaled(s, y, square), _scaled(t, z, square)]
    shared = _shared(y - rates[0], z - rates[1], *rates)
    generator = stream(seed, "redraws", str(n))
    exceed = 0
    for k in range(replicates):
        if progress and k % 100 == 0:
            progress(f"redraw {k} of {replicates}")
        u, v, common = generator.random((3, n))
        v = np.where(common < shared, u, v)
        drawn = (
            reliability_terms(s, (u < rates[0]).astype(float), fold)
            - reliability_terms(t, (v < rates[1]).astype(float), fold)
        )  # fmt: skip
        exceed += abs(_standardised(*_mean_and_error(drawn))) >= abs(observed)
    half = ndtri(0.975) * error
    return Comparison(
        n=n,
        reliability_first=float(one.mean()),
        reliability_second=float(other.mean()),
        difference=difference,
        low=difference - half,
        high=difference + half,
        p_value=(1 + int(exceed)) / (1 + replicates),
        normal_p_value=float(2 * ndtr(-abs(observed))),
        first=names[0],
        second=names[1],
    )


def compare_files(first, second, replicates=499, seed=0, progress=None):
    """Return the Comparison of two files as ``calbias audit`` reads them."""
    if replicates < 20 or seed < 0:
        raise InputError("--replicates must be at least 20 and --seed at least 0")
    pairs = [read_pair(file) for file in (first, second)]
    names = [Path(file).stem for file in (first, second)]
    return compare(*pairs, replicates, seed, names, progress)


def reliability_terms(scores, hits, fold):
    """Return (y − s)² − (y − g(s))² of each row, (n,), g fitted on the other folds."""
    recalibrated = np.empty_like(scores)
    for k in range(FOLDS):
        held = fold == k
        recalibrated[held] = _recalibrated(scores[~held], hits[~held], scores[held])
    return (hits - scores) ** 2 - (hits - recalibrated) ** 2


def _recalibrated(scores, hits, new):
    """Return the recalibrated ``new`` scores (m,), fitted on scores (n,) and hits (n,).

    Scores next to 0 are a group, and those next to 1. The rate of a group is that of its hits and
    of one more row that agrees with the scores; the logistic curve is fitted on the other scores.
    """
    inside = np.minimum(scores, 1 - scores) > SATURATED
    rates = cox_curve(logits_of(scores[inside]), hits[inside], logits_of(new))
    for end in (0.0, 1.0):
        at_end = hits[np.abs(scores - end) <= SATURATED]
        rates[np.abs(new - end) <= SATURATED] = (at_end.sum() + end) / (at_end.size + 1)
    return rates


def _scaled(scores, hits, square):
    """Return the rates (n,) at the curve of the fitted shape with E δ² = ``square``."""
    direction = _recalibrated(scores, hits, scores) - scores

    def excess(lam):
        return float(np.mean((np.clip(scores + lam * direction, 0, 1) - scores) ** 2)) - square

    if square == 0 or not direction.any():
        return scores
    high = 1.0
    while excess(high) < 0 and high < 1e4:
        high *= 2
    lam = brentq(excess, 0.0, high) if excess(high) > 0 else high
    return np.clip(scores + lam * direction, 0, 1)


def _shared(one, other, p, q):
    """Return the share of rows whose hits are decided by one uniform: it gives their covariance."""
    most = np.mean(np.minimum(p, q) - p * q)
    return float(np.clip(np.mean(one * other) / most, 0, 1)) if most > 0 else 0.0


def _standardised(mean, error):
    """Return mean/error, infinite where only the error is 0."""
    if error > 0:
        return mean / error
    return float(np.copysign(np.inf, mean)) if mean else 0.0


def _mean_and_error(values):
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))
