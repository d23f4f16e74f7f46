"""A yes-or-no model by the numbers that a report of a risk model has, each with an interval.

With risks s_i, events y_i and x_i = logit s_i:

prevalence              ȳ; exact interval (Clopper and Pearson)
observed/expected       Σy/Σs; interval on the log scale, its error from y − (Σy/Σs)·s
intercept, slope 1      a in logit P(event) = a + x, *calibration in the large*
slope; intercept        (b, a) in logit P(event) = a + b·x, Cox (1958); errors of the sandwich, or
                        of the information where they are larger
ICI, E50, E90           mean, median and 90 % quantile of |ĉ(s_i) − s_i|, ĉ local parabolas (loess,
                        span 3/4, degree 2: Cleveland, JASA 1979); Austin and Steyerberg (2019).
                        ICI has the interval of the ℓ1 error; no interval of E50, E90 and Emax is
                        known to hold
Brier                   mean (y − s)², normal interval
Brier skill score       1 − Brier/UNC, against the event rate (climatology) as the forecast
MCB, DSC, UNC           Brier = MCB − DSC + UNC by isotonic regression (CORP); Dimitriadis, Gneiting
                        and Jordan (2021)
c statistic             P(risk of an event > risk of a non-event), ties one half; DeLong's interval

Coverages are in evidence/docs/measured.md. Rows are taken as independent; prevalence,
observed/expected and ICI have the intervals that the audit says.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from calbias.auditing.description import is_separated, observed_expected, outcomes_seen
from calbias.auditing.error.bins import binomial_limits
from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.verdict.groups import ends_of
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.recalibration.isotonic import isotonic
from calbias.recalibration.logistic import fit_cox, fit_shift, logits_of
from calbias.samples.by_score import Floats, Scored, dot

MEASURED, NOT_MEASURED = "measured", "not measured"
FEWEST = 20
"""Events, and non-events, from which on the coverage of the intervals was measured."""
_NAN = math.nan
_SPAN, _N_POINTS, _SINGULAR = 0.75, 101, 1e-10

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


class Outcomes(NamedTuple):
    """Ascending risks s, outcomes y, or their means, and how many ``rows`` are alike; (q,)."""

    s: Floats
    y: Floats
    rows: Floats

    @classmethod
    def of(cls, sample: Scored) -> Outcomes:
        """Return the outcomes of a sample with distinct scores, or its outcomes on average."""
        if sample.seen is not None and sample.clusters is not None:
            score, rows, hits = sample.clusters[2:5]
            return cls(sample.scores[score], hits / rows, rows.astype(np.float64))
        counts = np.stack([sample.rows - sample.hits, sample.hits], axis=1).ravel().astype(float)
        is_event = np.tile([0.0, 1.0], sample.scores.size)
        columns = (np.repeat(sample.scores, 2), is_event, counts)
        return cls(*(column[counts > 0] for column in columns))

    @property
    def n(self) -> float:
        """The number of rows."""
        return float(self.rows.sum())

    def mean(self, values: Floats) -> float:
        """Return the mean over the rows of values (q,)."""
        return dot(self.rows, values) / self.n

    def error(self, values: Floats) -> float:
        """Return the standard error of the mean of values (q,)."""
        squares = dot(self.rows, (values - self.mean(values)) ** 2)
        return math.sqrt(float(squares) / max(self.n - 1.0, 1.0) / self.n)


def risk_summary(
    sample: Scored,
    confidence_level: float = CONFIDENCE_LEVEL,
    interval: tuple[float, float] | None = None,
) -> tuple[Row, ...]:
    """Return the Rows of a risk model's report for a sample of risks and events, n >= 2.

    ``interval`` is the one of the ℓ1 error, if it is known.

    Fractions. A number that the data do not determine (a slope without an event, or where the risks
    separate events from the others) is NaN.

    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(1, 9, 2000)
    >>> rows = risk_summary(Scored.of(risk, rng.random(2000) < 0.7 * risk))
    >>> print(rows[2].name, round(rows[2].value, 2))
    observed/expected 0.68
    """
    enough = min(outcomes_seen(sample)) >= FEWEST
    sample = sample.by_score if sample.seen is None else sample
    outcomes = Outcomes.of(sample)
    z = float(ndtri(0.5 + confidence_level / 2))
    rows = [
        ("prevalence", *_prevalence(outcomes, confidence_level), "event rate; observed"),
        ("mean risk", *_mean(outcomes, outcomes.s, z), "expected"),
        ("observed/expected", *observed_expected(sample, confidence_level), "O:E ratio; 1/(E:O)"),
        *lines(sample, outcomes, z),
        *_distances(
            sample.by_score, interval or calibration_interval(sample).at(1, confidence_level)
        ),
    ]
    if sample.seen is None:
        rows += [
            *_brier(sample, outcomes, z, confidence_level),
            ("c statistic", *_c_statistic(sample, z), "val.prob: C (ROC); AUC; Dxy = 2C − 1"),
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


def _prevalence(outcomes: Outcomes, level: float) -> tuple[float, float, float]:
    """Return the rate with its exact interval."""
    events = dot(outcomes.rows, outcomes.y)
    low, high = binomial_limits(events, outcomes.n, level)
    return events / outcomes.n, float(low), float(high)


def _mean(outcomes: Outcomes, values: Floats, z: float) -> tuple[float, float, float]:
    """Return the mean of values in [0, 1] with its normal interval."""
    mean, half = outcomes.mean(values), z * outcomes.error(values)
    return mean, max(mean - half, 0.0), min(mean + half, 1.0)


def lines(sample: Scored, outcomes: Outcomes, z: float) -> Numbers:
    """Return the rows of both logistic lines, of a sample with distinct scores: shift, b and a."""
    shift, a, b = _NAN, _NAN, _NAN
    errors: tuple[float, ...] = (_NAN, _NAN, _NAN)
    if 0 < sample.hits.sum() < sample.n:
        ends = ends_of(sample)
        counts = logits_of(sample.scores, ends), sample.hits, sample.rows
        x, one = logits_of(outcomes.s, ends), np.ones_like(outcomes.s)
        shift = fit_shift(*counts)
        errors = (*_errors(one[None], outcomes, expit(shift + x)), _NAN, _NAN)
        if x.min() < x.max() and not is_separated(sample):
            a, b = map(float, fit_cox(*counts))
            both = _errors(np.stack([one, x]), outcomes, expit(a + b * x))
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


def _errors(design: Floats, outcomes: Outcomes, chance: Floats) -> tuple[float, ...]:
    """Return standard errors: of the sandwich, or of the information where they are larger."""
    n, k, residual = outcomes.n, design.shape[0], outcomes.y - chance
    # p of y − p: p where y = 0 is −residual, else 1 − residual; the variance is the same.
    is_certain = (outcomes.y == 0) | (outcomes.y == 1)
    size = np.where(is_certain, np.abs(residual), chance)
    information = (design * size * (1 - size) * outcomes.rows) @ design.T
    if np.linalg.cond(information) > 1e14:
        return (_NAN,) * k
    bread = np.linalg.inv(information)
    meat = (design * residual**2 * outcomes.rows) @ design.T
    if not is_certain.all():  # whose noise is not that of the information
        return tuple(np.sqrt(np.diagonal(bread @ meat @ bread)).tolist())
    sandwich = bread @ (meat * n / (n - k)) @ bread
    return tuple(float(v) for v in np.sqrt(np.maximum(np.diagonal(bread), np.diagonal(sandwich))))


def _distances(sample: Scored, interval: tuple[float, float]) -> Numbers:
    """Return the rows of ICI, E50 and E90."""
    gaps = np.abs(np.clip(local_parabola(sample), 0.0, 1.0) - sample.scores)
    order = np.argsort(gaps)
    upto = np.cumsum(sample.rows[order])
    rows = [
        ("ICI", sample.mean(gaps), *interval, "Eavg (val.prob: of lowess, degree 1); Emean"),
    ]
    for name, q, also in (
        ("E50", 0.5, "Emed"),
        ("E90", 0.9, "val.prob: E90 (of lowess, degree 1)"),
        ("Emax", 1.0, "val.prob: Emax"),
    ):
        below, share = divmod(q * (sample.n - 1), 1.0)
        ranks = below, min(below + 1, sample.n - 1)
        near, far = gaps[order][np.searchsorted(upto, ranks, "right")]
        rows.append((name, float(near + share * (far - near)), _NAN, _NAN, also))
    return rows


def local_parabola(sample: Scored) -> Floats:
    """Return the loess curve (m,) of a sample with distinct scores.

    At quantiles of the scores it is the value of a parabola fitted with tricube weights to the
    nearest 3/4 of the rows, or of a line or a mean where these have two scores or one. Between the
    quantiles it is linear.
    """
    n, s, rates, upto = sample.n, sample.scores, sample.hits / sample.rows, np.cumsum(sample.rows)
    nearest = min(max(int(_SPAN * n + 1e-5), 3), n)
    ranks = np.linspace(0, n - 1, min(n, _N_POINTS)).astype(np.int64)
    points = np.unique(s[np.searchsorted(upto, ranks, "right")])

    def fit_at(point: float) -> float:
        def is_nearest(start: int) -> bool:
            first, beyond = s[np.searchsorted(upto, (start, start + nearest), "right")]
            return bool(beyond - point >= point - first)

        start = bisect_left(range(n - nearest), True, key=is_nearest)
        inside = np.minimum(upto, start + nearest) - np.maximum(upto - sample.rows, start)
        kept = inside > 0
        return _local_value(Outcomes(s[kept], rates[kept], inside[kept].astype(float)), point)

    return np.interp(s, points, [fit_at(point) for point in points.tolist()])


def _local_value(near: Outcomes, at: float) -> float:
    """Return the value, at a risk, of the parabola fitted to the nearest rows."""
    reach = max(at - near.s[0], near.s[-1] - at)
    if reach <= 0:
        return near.mean(near.y)
    u = (near.s - at) / reach
    weights = near.rows * (1 - np.abs(u) ** 3) ** 3
    # Orthogonal polynomials of the weights, evaluated at u = 0.
    total = weights.sum()
    if total <= 0:
        return near.mean(near.y)
    mean = (weights @ u) / total
    value = (weights @ near.y) / total
    line = u - mean
    square = weights @ line**2
    if square <= _SINGULAR * total:
        return float(value)
    slope = weights @ (line * near.y) / square
    value -= slope * mean
    bend = weights @ line**3 / square
    parabola = line * line - bend * line - square / total
    curvature = weights @ parabola**2
    if curvature <= _SINGULAR * square:
        return float(value)
    at_zero = mean * mean + bend * mean - square / total
    return float(value + weights @ (parabola * near.y) / curvature * at_zero)


def _brier(sample: Scored, outcomes: Outcomes, z: float, level: float) -> Numbers:
    """Return the rows of the Brier score and its decomposition."""
    fitted = isotonic(sample).predict(outcomes.s)
    rate, low, high = _prevalence(outcomes, level)
    uncertainty = rate * (1 - rate)
    least, most = sorted((low * (1 - low), high * (1 - high)))
    if low < 0.5 < high:
        most = 0.25
    _, miscalibration, discrimination, _ = brier_parts(outcomes, fitted)
    brier = _mean(outcomes, (outcomes.y - outcomes.s) ** 2, z)
    return [
        ("Brier score", *brier, "val.prob: Brier"),
        (
            "Brier skill score",
            *skill_score(outcomes, z),
            "reference: the event rate; (DSC − MCB)/UNC",
        ),
        ("miscalibration (MCB)", miscalibration, _NAN, _NAN, "reliability, CORP"),
        ("discrimination (DSC)", discrimination, _NAN, _NAN, "resolution, CORP"),
        ("uncertainty (UNC)", uncertainty, least, most, "ȳ(1 − ȳ); Brier of the event rate"),
    ]


def brier_rows(brier: float, null: float) -> tuple[Row, Row]:
    """Return the rows of a Brier score and its skill, by that of the event rate, without limits."""
    skill = 1.0 - brier / null if null > 0.0 else _NAN
    none = _NAN, _NAN, NOT_MEASURED
    return (
        Row("Brier score", brier, *none, "riskRegression: Score; by inverse probability weights"),
        Row("Brier skill score", skill, *none, "riskRegression: IPA"),
    )


def brier_parts(outcomes: Outcomes, fitted: Floats) -> tuple[float, float, float, float]:
    """Return the Brier score and its MCB, DSC and UNC, by the isotonic fit (q,) of the outcomes."""
    brier, after = (outcomes.mean((outcomes.y - p) ** 2) for p in (outcomes.s, fitted))
    rate = outcomes.mean(outcomes.y)
    uncertainty = rate * (1 - rate)
    return brier, max(brier - after, 0.0), max(uncertainty - after, 0.0), uncertainty


def skill_score(outcomes: Outcomes, z: float) -> tuple[float, float, float]:
    """Return 1 − B/U with its normal interval, by the derivative in each row's part of B and ȳ."""
    rate, loss = outcomes.mean(outcomes.y), (outcomes.y - outcomes.s) ** 2
    brier, uncertainty = outcomes.mean(loss), rate * (1 - rate)
    if not uncertainty > 0:
        return _NAN, _NAN, _NAN
    ratio = brier / uncertainty
    rate_part = (1 - 2 * rate) / uncertainty * (outcomes.y - rate)
    half = z * outcomes.error(loss / uncertainty - ratio * rate_part)
    return 1 - ratio, 1 - ratio - half, 1 - ratio + half


def _c_statistic(sample: Scored, z: float) -> tuple[float, float, float]:
    """Return the area under the ROC curve with DeLong's interval on the log odds."""
    counts = [sample.hits.astype(float), (sample.rows - sample.hits).astype(float)]
    m, n = (float(count.sum()) for count in counts)
    if min(m, n) == 0:
        return _NAN, _NAN, _NAN
    # of each risk, the share of events and of non-events below it; ties count half
    events, others = ((np.cumsum(c) - 0.5 * c) / c.sum() for c in counts)
    c = float(counts[0] @ others) / m
    if min(m, n) < 2 or not 0 < c < 1:
        return c, _NAN, _NAN
    event_squares = counts[0] @ (others - c) ** 2
    other_squares = counts[1] @ (1.0 - events - c) ** 2
    error = math.sqrt(event_squares / (m - 1.0) / m + other_squares / (n - 1.0) / n)
    half = z * error / (c * (1 - c))
    return c, float(expit(logit(c) - half)), float(expit(logit(c) + half))
