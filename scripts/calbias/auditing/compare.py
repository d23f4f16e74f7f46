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
Subgroups are compared by their mean gaps (``paired_gaps``). Next to the errors stands the
difference of the Brier scores with Student's interval: it counts discrimination too.

Cross-fitting: Chernozhukov et al., *The Econometrics Journal* 21 (2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from calbias.auditing.comparison.comparison_result import (
    Compared,
    CompareOptions,
    Limits,
)
from calbias.auditing.comparison.differences import LEAST_P
from calbias.auditing.comparison.paired_gaps import differences
from calbias.auditing.data import EVENT, TOP_LABEL
from calbias.auditing.error.bins import picture_bins
from calbias.auditing.error.calibration_curve import (
    picture_curve,
    posterior_average,
    smooth_average,
)
from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.results import Comparison
from calbias.auditing.risk_model import Outcomes, skill_score
from calbias.auditing.subgroups.segments import By, segments_of
from calbias.auditing.verdict.clusters import cluster_codes, validate_cluster_number
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.rounding import unrounded_scores
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.engine.posterior import ONE_DEVIATION, Average, PosteriorCurve, curve_of
from calbias.engine.scores_and_hits import (
    scores_and_hits,
    validate_level,
    validate_same_order,
    validate_whole,
)
from calbias.engine.seeding import stream
from calbias.errors import InputError
from calbias.samples.by_score import Floats, Ints, Scored

FEWEST_ROWS = 20
_FOLDS, _TIMES = 5, 2
_FEW_CLUSTERS = 60
_TINY = 1e-12


def compare(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    hits: ArrayLike | tuple[ArrayLike, ArrayLike],
    *,
    clusters: ArrayLike | Sequence[ArrayLike] | None = None,
    by: By | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    seed: int = 0,
    names: tuple[str, str] = ("first", "second"),
    progress: Callable[[str], None] | None = None,
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
    by : array_like (n,), a list or dict of such columns, or a DataFrame, optional
        Columns that name subgroups, as for ``calbias.audit``: in which do the models differ?
    confidence_level : float
        Of the intervals, below 1.
    seed : int, default 0
        Seed of the folds; the same seed gives the same numbers.
    names : (str, str)
        What the sentence calls the models.
    progress : callable, optional
        Called with a short text before each step.

    Returns
    -------
    Comparison
        With ``difference``, ``p_value``, ``within``, ``plot`` and more.

    Raises
    ------
    InputError
        For arrays that are not scores and hits, different numbers of rows, fewer than 20 rows and
        fewer than 10 clusters.

    Notes
    -----
    ``docs/tool/compare.md`` has the level, the power and the coverage, and where they fail.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(2, 2, 3000)
    >>> hits = rng.random(3000) < risk
    >>> compare(risk, risk**0.5, hits).better
    'first'
    """
    if len(names) != 2:
        raise InputError(f"names: give one for each of the two models, not {len(names)}")
    is_pair = isinstance(hits, tuple) and len(hits) == 2
    pair = hits if isinstance(hits, tuple) and is_pair else (hits, hits)
    (s, y), (t, z) = (
        scores_and_hits(*model) for model in zip((scores_a, scores_b), pair, strict=True)
    )
    validate_same_order(scores_a=scores_a, scores_b=scores_b, hits=hits, clusters=clusters, by=by)
    n, say = s.size, progress or (lambda text: None)
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
    segments = None if by is None else segments_of(by, n)
    both = (s, y.astype(float)), (t, z.astype(float))
    rows = _Rows(both, cluster, number)
    both_names = " and ".join(names)
    say(f"{both_names}: difference of the calibration errors")
    outcome = _compared(rows, confidence_level, seed)
    losses = [_sums((p - event) ** 2, cluster, number) / n for p, event in rows.models]
    subgroups = None
    if segments is not None:
        say(f"{both_names}: subgroups")
        subgroups = differences(*both, cluster, segments, confidence_level, names)
    skill = _skill(losses[0], losses[1], confidence_level)
    return Comparison(
        n,
        outcome.audited[0].error,
        outcome.audited[1].error,
        *outcome.difference,
        *_mean_with_reach(losses[0] - losses[1], confidence_level),
        n_clusters=None if clusters is None else number,
        first=names[0],
        second=names[1],
        brier_skill=skill[0],
        skill_low=skill[1],
        skill_high=skill[2],
        kind=TOP_LABEL if is_pair else EVENT,
        options=CompareOptions(confidence_level, seed),
        warnings=() if clusters is None else _of_few_clusters(number),
        models=tuple(
            _model(name, audited, _mean_with_reach(loss, confidence_level), not is_pair)
            for name, audited, loss in zip(names, outcome.audited, losses, strict=True)
        ),
        subgroups=subgroups,
    )


def _of_few_clusters(number: int) -> tuple[str, ...]:
    """Return what fewer than 60 clusters mean."""
    if number >= _FEW_CLUSTERS:
        return ()
    return (f"{number} clusters are few: of equally wrong models up to 13 % are found to differ",)


class _Rows(NamedTuple):
    """The scores and hits (n,) of both models, and the rows' clusters, numbers from 0, or None.

    ``number`` is how many clusters there are, or rows.
    """

    models: tuple[tuple[Floats, Floats], ...]
    cluster: Ints | None
    number: int


class _Found(NamedTuple):
    """Both models, and the difference of their errors: value, low, high and p-value."""

    audited: tuple[_Audited, ...]
    difference: tuple[float, float, float, float]


def _compared(rows: _Rows, level: float, seed: int) -> _Found:
    models, cluster, number = rows
    audited = tuple(_audited(*model, cluster, number, level) for model in models)
    difference = audited[0].error - audited[1].error
    as_read = tuple((_read(*model), model[1]) for model in models)
    effects = tuple(each.effect for each in audited)
    total, error = _estimate(as_read, effects, cluster, number, seed)
    least, most = min(total, difference), max(total, difference)
    reach = float(stdtrit(number - 1, 0.5 + level / 2)) * error
    outside = max(least, -most, 0.0)
    p_value = max(2.0 * float(stdtr(number - 1, -outside / max(error, _TINY))), LEAST_P)
    return _Found(audited, (difference, least - reach, most + reach, p_value))


def _model(name: str, audited: _Audited, brier: Limits, is_event: bool) -> Compared:
    """Return one of the models with its picture and, of an event, its skill score."""
    sample, level, skill = audited.sample, audited.level, None
    if is_event:
        sample_skill = skill_score(Outcomes.of(sample.by_score), float(ndtri(0.5 + level / 2)))
        skill = Limits(*sample_skill)
        if sample.clusters is not None:  # as in an audit
            skill = Limits(skill[0], math.nan, math.nan)
    bins = picture_bins(sample, level, audited.effect)
    by_score = sample.by_score
    columns = by_score.scores, by_score.rows, by_score.hits
    curve = picture_curve(audited.average, bins, *columns, audited.effect, level)
    return Compared(name, Limits(audited.error, *audited.interval), brier, skill, curve, bins)


def _mean_with_reach(sums: Floats, level: float) -> Limits:
    """Return the total of independent sums (g,), each over n, with Student's interval."""
    number, total = sums.size, float(sums.sum())
    spread = math.sqrt(number / (number - 1) * float(np.sum((sums - total / number) ** 2)))
    half = float(stdtrit(number - 1, 0.5 + level / 2)) * spread
    return Limits(total, total - half, total + half)


def _skill(losses: Floats, reference: Floats, level: float) -> tuple[float | None, ...]:
    """Return 1 − Σ losses/Σ reference with its interval, by the derivative; None without losses."""
    size = float(reference.sum())
    if size <= 0:
        return None, None, None
    ratio = float(losses.sum()) / size
    _, low, high = _mean_with_reach((ratio * reference - losses) / size, level)
    return 1 - ratio, 1 - ratio + low, 1 - ratio + high


class _Audited(NamedTuple):
    """The error of one model, inside its interval, its design effect, and what they come from."""

    error: float
    interval: tuple[float, float]
    effect: float
    average: Average
    sample: Scored
    level: float


def _audited(
    scores: Floats, hits: Floats, cluster: NDArray | None, number: int, level: float
) -> _Audited:
    """Return the _Audited of scores and hits (n,), in ``number`` clusters if these are given."""
    sample = Scored.of(scores, hits, clusters=cluster)
    facts = None if cluster is None else judge(sample).cluster_facts
    effect = max(facts.design_effect, 1.0) if facts else 1.0
    low, high = calibration_interval(sample, effect).at(1, level)
    average = posterior_average(sample.scores, sample.rows, sample.hits, effect)
    return _Audited(min(max(average.l1, low), high), (low, high), effect, average, sample, level)


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
    """Return the curve of rows (n,) at scores, with a band of one deviation to either side.

    The smooth curve has nothing on scores of exactly 0 and 1, nor on any where all are next to
    these: there it is the share of hits.
    """
    values, score = np.unique(scores, return_inverse=True)
    rows, count = np.bincount(score), np.bincount(score, hits)
    average = smooth_average(values, rows, count, effect)
    curve = curve_of(average, at, ONE_DEVIATION)
    has_cells = average.cells.table.size > 0
    for is_on_side in (np.less, np.greater_equal):
        is_end, is_shown = (
            is_on_side(x, 0.5) & ~(has_cells & (x > 0.0) & (x < 1.0)) for x in (values, at)
        )
        if is_end.any():
            share = count[is_end].sum() / rows[is_end].sum()
            error = math.sqrt(share * (1.0 - share) * effect / rows[is_end].sum())
            curve.mean[is_shown] = share
            curve.low[is_shown], curve.high[is_shown] = share - error, share + error
    return curve


def _sums(values: Floats, cluster: NDArray | None, number: int) -> Floats:
    """Return the sums of values (n,) by cluster, or the values of rows that are independent."""
    return values if cluster is None else np.bincount(cluster, values, number).astype(np.float64)
