"""Which of two models is better calibrated, on the same rows: the difference of their ℓ1 errors.

With scores s, hits y and the calibration curve c, E|c(s) − s| = E g(s)(y − s) for g = sign(c − s).
Twice the rows are put into five folds at random, and the curve of the other four gives g; s is the
score as rounding may have moved it (``rounding``). The mean T of each row's part in the difference,

    ψ = g₁(s₁)(y₁ − s₁) − g₂(s₂)(y₂ − s₂),

is one estimate, with the paired standard error of a mean: it needs no correlation, and models that
are the same differ by 0. Where signs are not certain, both errors in T are too near to 0. The other
estimate, d, is the difference of the errors of the audits; these are too near to 0 too, but not by
the same amount. The interval contains the limits of both,

    min(T, d) − t·se  to  max(T, d) + t·se,

and the p-value is the smallest level at which it leaves 0 out. Few events look more certain than
they are: se² is at least Σ P m(1 − m)/n², where P is the probability that a curve lies between both
scores and m is their mean. With clusters ψ is summed by cluster, and the folds are of clusters.
Next to it stands the difference of the Brier scores with Student's interval: it counts
discrimination too.

Cross-fitting: Chernozhukov et al., *The Econometrics Journal* 21 (2018).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr, stdtrit

from calbias.auditing.calibration_curve import posterior_average, smooth_average
from calbias.auditing.gate import Answer, answer, answer_in_words
from calbias.auditing.interval import calibration_interval
from calbias.auditing.verdict.clusters import cluster_codes, validate_cluster_number
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.rounding import unrounded_scores
from calbias.conventions import CONFIDENCE_LEVEL, SIGNIFICANT, p_digits
from calbias.engine.posterior import ONE_DEVIATION, PosteriorCurve, curve_of
from calbias.engine.scores_and_hits import scores_and_hits, validate_level, validate_whole
from calbias.engine.seeding import stream
from calbias.errors import InputError
from calbias.scored import Floats, Scored

FEWEST_ROWS = 20
_FOLDS, _TIMES, _LEAST_P = 5, 2, 1e-6
_TINY = 1e-12


@dataclass(frozen=True)
class Comparison:
    """The result of ``calbias.compare``; errors and Brier scores are fractions.

    ``difference`` of the ℓ1 errors, first less second, has the interval ``low`` to ``high``: below
    0 the first is better calibrated. ``brier_difference`` is likewise the first's less the
    second's, and ``brier_skill``, ``skill_low`` to ``skill_high``, is 1 less their ratio: the skill
    score of the first with the second as the reference forecast, None where the second's is 0.
    ``n_clusters`` is None where rows are independent.
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
    brier_skill: float | None = None
    skill_low: float | None = None
    skill_high: float | None = None

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
        decision = answer_in_words(self.difference, (self.low, self.high), x, *size)
        worse = f"{self.first} no worse than {self.second} by more than {100 * x:g} points"
        return f"{self.sentence[:-1]}; {worse}: {decision}."

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        verdict = f"{self.better} is better calibrated" if self.better else "no difference found"
        rows = f" in {self.n_clusters} clusters" if self.n_clusters else ""
        p = f"p < {_LEAST_P:g}" if self.p_value <= _LEAST_P else f"p = {p_digits(self.p_value)}"
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
        mark = {"generator": "calbias compare", "sentence": self.sentence}
        return json.dumps(mark | asdict(self), indent=2, ensure_ascii=False)


def compare(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    hits: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    clusters: ArrayLike | Sequence[ArrayLike] | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    seed: int = 0,
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
    seed : int, default 0
        Seed of the folds; the same seed gives the same numbers.
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
    validate_whole("seed", seed, 0)
    cluster, number = None, n
    if clusters is not None:
        cluster, number = cluster_codes(clusters, n)
        validate_cluster_number(number)
    models = (s, y.astype(float)), (t, z.astype(float))
    first_model, second_model = (_audited(*m, cluster, number, confidence_level) for m in models)
    difference = first_model.error - second_model.error
    effects = first_model.effect, second_model.effect
    total, error = _estimate(
        tuple((_read(*m), m[1]) for m in models), effects, cluster, number, seed
    )
    least, most = min(total, difference), max(total, difference)
    reach = float(stdtrit(number - 1, 0.5 + confidence_level / 2)) * error
    outside = max(least, -most, 0.0)
    p_value = max(2.0 * float(stdtr(number - 1, -outside / max(error, _TINY))), _LEAST_P)
    losses = [_sums((p - event) ** 2, cluster, number) / n for p, event in models]
    brier = _mean_with_reach(losses[0] - losses[1], confidence_level)
    return Comparison(
        n, first_model.error, second_model.error, difference, least - reach, most + reach, p_value,
        *brier, confidence_level, None if clusters is None else number, *names,
        *_skill(losses[0], losses[1], confidence_level),
    )  # fmt: skip


def _mean_with_reach(sums: Floats, level: float) -> tuple[float, float, float]:
    """Return the total of independent sums (g,), each over n, with Student's interval."""
    number, total = sums.size, float(sums.sum())
    spread = math.sqrt(number / (number - 1) * float(np.sum((sums - total / number) ** 2)))
    half = float(stdtrit(number - 1, 0.5 + level / 2)) * spread
    return total, total - half, total + half


def _skill(losses: Floats, reference: Floats, level: float) -> tuple[float | None, ...]:
    """Return 1 − Σ losses/Σ reference with its interval, by the derivative; None without losses."""
    size = float(reference.sum())
    if size <= 0:
        return None, None, None
    ratio = float(losses.sum()) / size
    _, low, high = _mean_with_reach((ratio * reference - losses) / size, level)
    return 1 - ratio, 1 - ratio + low, 1 - ratio + high


class _Audited(NamedTuple):
    """The error of one model, inside its interval, and its design effect."""

    error: float
    effect: float


def _audited(
    scores: Floats, hits: Floats, cluster: NDArray | None, number: int, level: float
) -> _Audited:
    """Return the _Audited of scores and hits (n,), in ``number`` clusters if these are given."""
    sample = Scored.of(scores, hits, clusters=cluster)
    facts = None if cluster is None else judge(sample).cluster_facts
    effect = max(facts.design_effect, 1.0) if facts else 1.0
    low, high = calibration_interval(sample, effect).at(1, level)
    error = posterior_average(sample.scores, sample.rows, sample.hits, effect).l1
    return _Audited(min(max(error, low), high), effect)


def _read(scores: Floats, hits: Floats) -> Floats:
    """Return scores (n,) as the verdict reads them: moved as far as rounding may do it."""
    values, place = np.unique(scores, return_inverse=True)
    return unrounded_scores(values, np.bincount(place), np.bincount(place, hits))[place]


def _estimate(
    models: tuple[tuple[Floats, Floats], ...],
    effects: tuple[float, ...],
    cluster: NDArray | None,
    number: int,
    seed: int,
) -> tuple[float, float]:
    """Return T and se; nothing depends on the order of rows, models and names of clusters."""
    n = models[0][0].size
    unit = np.arange(n) if cluster is None else cluster
    # by the scores and, where both models have the same, by the pairs of score and hit
    ordered = sorted(models, key=lambda m: [np.sort(x).tobytes() for x in (m[0], m[0] + 1j * m[1])])
    order = np.lexsort([_sums(x, cluster, number) for model in ordered for x in model])
    parts, between = np.zeros((2, n))
    generator = stream(seed, "folds of a comparison")
    for _ in range(_TIMES):
        fold = np.empty(number, np.int64)
        fold[order] = generator.permutation(number) % _FOLDS
        for k in range(_FOLDS):
            inside = fold[unit] == k
            both = [scores[inside] for scores, _ in models]
            for (scores, hits), effect, sign in zip(models, effects, (1, -1), strict=True):
                curve = _curve(scores[~inside], hits[~inside], effect, scores[inside])
                g = sign * np.sign(curve.mean - curve.scores)
                parts[inside] += g * (hits - scores)[inside] / _TIMES
                below, above = (ndtr((x - curve.mean) / curve.deviation) for x in both)
                between[inside] += abs(above - below) / (2 * _TIMES)
    middle = 0.5 * (models[0][0] + models[1][0])
    least = float(between @ (middle * (1.0 - middle))) * max(effects)
    spread = np.sort(_sums(parts - parts.mean(), cluster, number))
    square = number / (number - 1) * float(spread @ spread)
    return float(parts.mean()), math.sqrt(max(square, least)) / n


def _curve(scores: Floats, hits: Floats, effect: float, at: Floats) -> PosteriorCurve:
    """Return the curve of rows (n,) at scores, with a band of one deviation to either side."""
    values, score = np.unique(scores, return_inverse=True)
    average = smooth_average(values, np.bincount(score), np.bincount(score, hits), effect)
    return curve_of(average, at, ONE_DEVIATION)


def _sums(values: Floats, cluster: NDArray | None, number: int) -> Floats:
    """Return the sums of values (n,) by cluster, or the values of rows that are independent."""
    return values if cluster is None else np.bincount(cluster, values, number).astype(np.float64)


def _percent(x: float) -> str:
    return f"{100 * x:.1f}"


def _points(x: float, low: float, high: float) -> str:
    return f"{100 * x:.2f} points ({100 * low:.2f} to {100 * high:.2f})"
