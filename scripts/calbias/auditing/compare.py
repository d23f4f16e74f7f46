"""Which of two models is better calibrated, on the same rows: the difference of their ℓ1 errors.

Each model has an error e with an interval (l, u), as in its audit. The difference d = e₁ − e₂ has
the interval of Zou and Donner (2008), which puts two intervals together,

    low  = d − √((e₁ − l₁)² + (u₂ − e₂)² − 2ρ (e₁ − l₁)(u₂ − e₂)),
    high = d + √((u₁ − e₁)² + (e₂ − l₂)² − 2ρ (u₁ − e₁)(e₂ − l₂)).

The rows are the same, so the estimates are correlated: ρ is the correlation, over rows or clusters,
of g(s)(y − s), with g the gap of the model's curve divided by its standard deviation and cut to
[−1, 1]. The p-value is the smallest level at which the interval leaves 0 out. Beside it stands the
difference of the Brier scores with Student's interval: it counts discrimination too.

Zou and Donner, *Construction of confidence limits about effect measures*, Statistics in Medicine
27 (2008).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from calbias.auditing.calibration_curve import posterior_average
from calbias.auditing.gate import Answer, answer, answer_in_words
from calbias.auditing.interval import CalibrationInterval, calibration_interval
from calbias.auditing.verdict.clusters import cluster_codes, validate_cluster_number
from calbias.auditing.verdict.judge import judge
from calbias.conventions import CONFIDENCE_LEVEL, SIGNIFICANT
from calbias.engine.posterior import ONE_DEVIATION, curve_of
from calbias.engine.scores_and_hits import scores_and_hits, validate_level
from calbias.errors import InputError
from calbias.scored import Floats, Scored

FEWEST_ROWS = 20
_LEAST_P, _HALVINGS = 1e-6, 25


@dataclass(frozen=True)
class Comparison:
    """The result of ``calbias.compare``; errors and Brier scores are fractions.

    ``difference`` of the ℓ1 errors, first less second, has the interval ``low`` to ``high``: below
    0 the first is better calibrated. ``brier_difference`` is likewise the first's less the
    second's. ``n_clusters`` is None where rows are independent.
    """

    n: int
    error_first: float
    error_second: float
    difference: float
    low: float
    high: float
    p_value: float
    brier_difference: float
    brier_low: float
    brier_high: float
    confidence_level: float = CONFIDENCE_LEVEL
    n_clusters: int | None = None
    first: str = "first"
    second: str = "second"

    @property
    def better(self) -> str | None:
        """The name of the model that is better calibrated (5 %), or None."""
        if not self.p_value <= SIGNIFICANT:
            return None
        return self.first if self.difference < 0 else self.second

    def within(self, x: float) -> Answer:
        """Return whether the first is no worse than the second by more than ``x``, a fraction."""
        return answer((self.low, self.high), x)

    def sentence_within(self, x: float) -> str:
        """The sentence with the answer of ``within``, and how many rows would decide."""
        size = (self.n, "rows") if self.n_clusters is None else (self.n_clusters, "clusters")
        said = answer_in_words(self.difference, (self.low, self.high), x, *size)
        worse = f"{self.first} no worse than {self.second} by more than {100 * x:g} points"
        return f"{self.sentence[:-1]}; {worse}: {said}."

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        verdict = f"{self.better} is better calibrated" if self.better else "no difference found"
        rows = f" in {self.n_clusters} clusters" if self.n_clusters else ""
        p = f"p < {_LEAST_P:g}" if self.p_value <= _LEAST_P else f"p = {self.p_value:.2g}"
        return (
            f"n = {self.n}{rows}: calibration error {_percent(self.error_first)} % ({self.first}) "
            f"and {_percent(self.error_second)} % ({self.second}), difference "
            f"{_points(self.difference, self.low, self.high)} "
            f"({100 * self.confidence_level:g} %); {verdict}, {p}. {self._brier}."
        )

    @property
    def _brier(self) -> str:
        difference = _points(self.brier_difference, self.brier_low, self.brier_high)
        if self.brier_low <= 0 <= self.brier_high:
            return f"Brier scores differ by {difference}: neither is found to be lower"
        lower = self.first if self.brier_difference < 0 else self.second
        return f"{lower} has the lower Brier score, difference {difference}"

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> str:
        """Return the fields and the sentence as JSON."""
        return json.dumps({"sentence": self.sentence, **asdict(self)}, indent=2, ensure_ascii=False)


def compare(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    hits: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    clusters: ArrayLike | Sequence[ArrayLike] | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Return which of two models is better calibrated, on the same rows.

    Parameters
    ----------
    scores_a, scores_b : array_like (n,)
        Scores in [0, 1] of both models, row by row; n is at least 20.
    hits : array_like (n,), or a pair of them
        Events, 1 or 0; for top-label scores the pair (hits of a, hits of b), 1 where the model's
        prediction was correct.
    clusters : array_like (n,), or a list of such columns, optional
        As for ``calbias.audit``; at least 10 clusters.
    confidence_level : float
        Of the intervals, below 1.
    names : (str, str)
        What the sentence calls the models.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        For arrays that are not scores and hits, different numbers of rows, fewer than 20 rows and
        fewer than 10 clusters.

    Notes
    -----
    ``docs/compare.md`` has the level, the power and the coverage, and where they fail.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(2, 2, 3000)
    >>> hits = rng.random(3000) < risk
    >>> compare(risk, risk**0.5, hits).better
    'first'
    """
    pair = hits if isinstance(hits, tuple) and len(hits) == 2 else (hits, hits)
    (s, y), (t, z) = (
        scores_and_hits(*model) for model in zip((scores_a, scores_b), pair, strict=True)
    )
    n = s.size
    if t.size != n:
        raise InputError(f"{n} rows in the first and {t.size} in the second: give the same rows")
    if n < FEWEST_ROWS:
        raise InputError(f"{n} rows are too few to compare two models by: give at least 20")
    validate_level(confidence_level)
    cluster, number = None, n
    if clusters is not None:
        cluster, number = cluster_codes(clusters, n)
        validate_cluster_number(number)
    first, second = (_model(x, hit, cluster, number) for x, hit in ((s, y), (t, z)))
    rho = _correlation(first.influence, second.influence)
    errors, interval = _difference(first, second, rho, confidence_level)
    brier = _sums((s - y) ** 2 - (t - z) ** 2, cluster, number) / n
    total = float(brier.sum())
    spread = math.sqrt(number / (number - 1) * float(np.sum((brier - total / number) ** 2)))
    half = float(stdtrit(number - 1, 0.5 + confidence_level / 2)) * spread
    return Comparison(
        n, *errors, errors[0] - errors[1], *interval, _p_value(first, second, rho),
        total, total - half, total + half, confidence_level,
        None if clusters is None else number, *names,
    )  # fmt: skip


class _Model(NamedTuple):
    """The error of one model, its interval, and the influence of each row or cluster on it."""

    error: float
    interval: CalibrationInterval
    influence: Floats


def _model(scores: Floats, hits: NDArray, cluster: NDArray | None, number: int) -> _Model:
    """Return the _Model of scores and hits (n,), in ``number`` clusters if these are given."""
    sample = Scored.of(scores, hits, clusters=cluster)
    facts = None if cluster is None else judge(sample).cluster_facts
    effect = max(facts.design_effect, 1.0) if facts else 1.0
    interval = calibration_interval(sample, effect)
    average = posterior_average(sample.scores, sample.rows, sample.hits, effect)
    weight = curve_of(average, sample.scores, ONE_DEVIATION).signed_gap
    of_row = weight[np.searchsorted(sample.scores, scores)] * (hits - scores)
    return _Model(average.l1, interval, _sums(of_row, cluster, number))


def _sums(values: Floats, cluster: NDArray | None, number: int) -> Floats:
    """Return the sums of values (n,) by cluster, or the values of rows that are independent."""
    return values if cluster is None else np.bincount(cluster, values, number).astype(np.float64)


def _correlation(one: Floats, other: Floats) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / size if size > 0 else 0.0


def _difference(
    first: _Model, second: _Model, rho: float, level: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return both errors, inside their intervals, and the interval of their difference."""
    (l1, u1), (l2, u2) = (model.interval.at(1, level) for model in (first, second))
    e1, e2 = min(max(first.error, l1), u1), min(max(second.error, l2), u2)

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(a * a + b * b - 2.0 * rho * a * b, 0.0))

    low, high = e1 - e2 - reach(e1 - l1, u2 - e2), e1 - e2 + reach(u1 - e1, e2 - l2)
    return (e1, e2), (low, high)


def _p_value(first: _Model, second: _Model, rho: float) -> float:
    """Return the smallest level at which the interval leaves 0 out, by halving its logarithm."""

    def excluded(level: float) -> bool:
        low, high = _difference(first, second, rho, 1.0 - level)[1]
        return low > 0.0 or high < 0.0

    if excluded(_LEAST_P):
        return _LEAST_P
    if not excluded(1.0 - 1e-9):
        return 1.0
    low, high = math.log(_LEAST_P), 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excluded(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _percent(x: float) -> str:
    return f"{100 * x:.1f}"


def _points(x: float, low: float, high: float) -> str:
    return f"{100 * x:.2f} points ({100 * low:.2f} to {100 * high:.2f})"
