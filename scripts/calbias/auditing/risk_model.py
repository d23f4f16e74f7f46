"""A yes-or-no model by the numbers that a report of a risk model has, each with an interval.

With risks s_i, events y_i and x_i = logit s_i:

prevalence              ȳ; interval of Wilson
observed/expected       Σy/Σs; interval on the log scale, its error from y − (Σy/Σs)·s
intercept, slope 1      a in logit P(event) = a + x, *calibration in the large*
slope; intercept        (b, a) in logit P(event) = a + b·x, Cox (1958); errors of the sandwich, or
                        of the information where they are larger
ICI, E50, E90           mean, median and 90 % quantile of |ĉ(s_i) − s_i|, ĉ local parabolas (loess,
                        span 3/4, degree 2); Austin and Steyerberg (2019). ICI has the interval
                        of the ℓ1 error; no interval of E50, E90 and Emax is known to hold
Brier                   mean (y − s)², normal interval
MCB, DSC, UNC           Brier = MCB − DSC + UNC by isotonic regression (CORP); Dimitriadis, Gneiting
                        and Jordan (2021)
c statistic             P(risk of an event > risk of a non-event), ties one half; DeLong's interval

Coverages are in ``docs/risk_model.md``. Rows are taken as independent.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from calbias.auditing.cox import fit_cox, fit_shift, logits_of
from calbias.auditing.description import is_separated
from calbias.auditing.interval import calibration_interval
from calbias.conventions import CONFIDENCE_LEVEL
from calbias.engine.local_parabola import local_parabola
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError
from calbias.estimation.inputs import validate_level
from calbias.recalibration import isotonic
from calbias.scored import Scored

MEASURED, NOT_MEASURED = "measured", "not measured"
FEWEST = 20
"""Events, and non-events, from which on the coverage of the intervals was measured."""
_NAN = math.nan

Numbers = list[tuple[str, float, float, float, str]]  # rows without their coverage


class Row(NamedTuple):
    """A number of a risk model's report, with the ends of its interval, NaN where it has none.

    ``coverage`` says whether the coverage of this interval was measured, or that the value, which
    counts noise as error, lies outside; ``also`` are the names that it has elsewhere.
    """

    name: str
    value: float
    low: float
    high: float
    coverage: str
    also: str


def risk_summary(
    scores: ArrayLike, hits: ArrayLike, confidence_level: float = CONFIDENCE_LEVEL
) -> tuple[Row, ...]:
    """Return the Rows of a risk model's report for risks (n,) and events (n,), 1 or 0, n >= 2.

    Fractions. A number that the data do not determine (a slope without an event, or where the risks
    separate events from the others) is NaN. InputError for other risks and events.

    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(1, 9, 2000)
    >>> rows = risk_summary(risk, rng.random(2000) < 0.7 * risk)
    >>> print(rows[2].name, round(rows[2].value, 2))
    observed/expected 0.68
    """
    s, hit = scores_and_hits(scores, hits)
    if s.size < 2:
        raise InputError(f"{s.size} rows are too few for a summary: give at least 2")
    validate_level(confidence_level)
    order = np.lexsort((hit, s))
    s, y = s[order], hit[order].astype(np.float64)
    z = float(ndtri(0.5 + confidence_level / 2))
    n_events = int(y.sum())
    enough = min(n_events, y.size - n_events) >= FEWEST
    rows = [
        ("prevalence", *_prevalence(y, z), "event rate; observed"),
        ("mean risk", *_mean(s, z), "expected"),
        ("observed/expected", *_observed_expected(s, y, z), "O:E ratio; 1/(E:O)"),
        *_lines(s, y, z),
        *_distances(s, y, confidence_level),
        *_brier(s, y, z),
        ("c statistic", *_c_statistic(s, y, z), "val.prob: C (ROC); AUC; Dxy = 2C − 1"),
    ]
    note = MEASURED if enough else f"below {FEWEST} events"
    return tuple(
        Row(name, value, low, high, _coverage(value, low, high, note), also)
        for name, value, low, high, also in rows
    )


def _coverage(value: float, low: float, high: float, note: str) -> str:
    if math.isnan(low):
        return NOT_MEASURED
    return note if low <= value <= high else "value outside"


def _prevalence(y: np.ndarray, z: float) -> tuple[float, float, float]:
    """Return the rate with Wilson's interval."""
    n, p = y.size, float(y.mean())
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return p, max(middle - half, 0.0), min(middle + half, 1.0)


def _mean(values: np.ndarray, z: float) -> tuple[float, float, float]:
    """Return the mean of values in [0, 1] with its normal interval."""
    mean, half = float(values.mean()), z * float(values.std(ddof=1)) / math.sqrt(values.size)
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)


def _observed_expected(s: np.ndarray, y: np.ndarray, z: float) -> tuple[float, float, float]:
    if s.sum() == 0:
        return _NAN, _NAN, _NAN
    ratio = float(y.sum() / s.sum())
    if ratio == 0 or y.size < 2:
        return ratio, _NAN, _NAN
    error = float(np.std(y - ratio * s, ddof=1)) / math.sqrt(y.size) / float(y.mean())
    return ratio, ratio * math.exp(-z * error), ratio * math.exp(z * error)


def _lines(s: np.ndarray, y: np.ndarray, z: float) -> Numbers:
    """Return the rows of both logistic lines."""
    x, shift, a, b = logits_of(s), _NAN, _NAN, _NAN
    errors: tuple[float, ...] = (_NAN, _NAN, _NAN)
    if y.min() < y.max():
        shift = fit_shift(x, y)
        errors = (*_errors(np.ones((1, y.size)), y - expit(shift + x)), _NAN, _NAN)
        if x.min() < x.max() and not is_separated(Scored.of(s, y)):
            a, b = map(float, fit_cox(x, y))
            both = _errors(np.stack([np.ones_like(x), x]), y - expit(a + b * x))
            errors = (errors[0], *both)
    return [
        (name, value, value - z * error, value + z * error, also)
        for name, value, error, also in (
            ("intercept, slope fixed at 1", shift, errors[0],
             "calibration in the large; CalibrationCurves: Intercept"),
            ("slope", b, errors[2], "val.prob: Slope; CalibrationCurves: Slope; weak calibration"),
            ("intercept with the slope", a, errors[1], "val.prob: Intercept"),
        )
    ]  # fmt: skip


def _errors(design: np.ndarray, residual: np.ndarray) -> tuple[float, ...]:
    """Return standard errors: of the sandwich, or of the information where they are larger."""
    n, k = residual.size, design.shape[0]
    # p of y − p: p where y = 0 is −residual, else 1 − residual; the variance is the same.
    size = np.abs(residual)
    variance = size * (1 - size)
    information = (design * variance) @ design.T
    if np.linalg.cond(information) > 1e14:
        return (_NAN,) * k
    bread = np.linalg.inv(information)
    meat = (design * residual**2) @ design.T * n / (n - k)
    sandwich = bread @ meat @ bread
    return tuple(float(v) for v in np.sqrt(np.maximum(np.diagonal(bread), np.diagonal(sandwich))))


def _distances(s: np.ndarray, y: np.ndarray, level: float) -> Numbers:
    """Return the rows of ICI, E50 and E90."""
    curve = np.clip(local_parabola(s, y), 0.0, 1.0)
    gaps = np.abs(curve - s)
    low, high = calibration_interval(Scored.of(s, y)).at(1, level)
    rows = [("ICI", float(gaps.mean()), low, high, "Eavg (val.prob: of lowess, degree 1); Emean")]
    for name, q, also in (
        ("E50", 0.5, "Emed"),
        ("E90", 0.9, "val.prob: E90 (of lowess, degree 1)"),
        ("Emax", 1.0, "val.prob: Emax"),
    ):
        rows.append((name, float(np.quantile(gaps, q)), _NAN, _NAN, also))
    return rows


def _brier(s: np.ndarray, y: np.ndarray, z: float) -> Numbers:
    """Return the rows of the Brier score and its decomposition."""
    fitted = isotonic(Scored.of(s, y)).predict(s)
    rate, low, high = _prevalence(y, z)
    uncertainty = rate * (1 - rate)
    least, most = sorted((low * (1 - low), high * (1 - high)))
    if low < 0.5 < high:
        most = 0.25
    before, after = _mean((y - s) ** 2, z), float(np.mean((y - fitted) ** 2))
    brier = before[0]
    return [
        ("Brier score", *before, "val.prob: Brier"),
        ("miscalibration (MCB)", max(brier - after, 0.0), _NAN, _NAN, "reliability, CORP"),
        ("discrimination (DSC)", max(uncertainty - after, 0.0), _NAN, _NAN, "resolution, CORP"),
        ("uncertainty (UNC)", uncertainty, least, most, "ȳ(1 − ȳ)"),
    ]


def _c_statistic(s: np.ndarray, y: np.ndarray, z: float) -> tuple[float, float, float]:
    """Return the area under the ROC curve with DeLong's interval on the log odds."""
    events, others = s[y == 1], s[y == 0]
    m, n = events.size, others.size
    if min(m, n) == 0:
        return _NAN, _NAN, _NAN
    above = (np.searchsorted(others, events, "left") + np.searchsorted(others, events, "right")) / 2
    below = (np.searchsorted(events, others, "left") + np.searchsorted(events, others, "right")) / 2
    shares = above / n, 1 - below / m
    c = float(shares[0].mean())
    if min(m, n) < 2 or not 0 < c < 1:
        return c, _NAN, _NAN
    error = math.sqrt(shares[0].var(ddof=1) / m + shares[1].var(ddof=1) / n)
    half = z * error / (c * (1 - c))
    return c, float(expit(logit(c) - half)), float(expit(logit(c) + half))
