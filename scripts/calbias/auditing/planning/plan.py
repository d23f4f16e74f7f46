"""The planner: how many labels, or clusters, reach each goal.

What the verdict of an audit detects is simulated with the verdict itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import betaincinv, expit, ndtri

from calbias.auditing.audit_result import plain
from calbias.auditing.data import Data
from calbias.auditing.error import cox
from calbias.auditing.outcome_columns import OutcomeColumns, read_outcomes
from calbias.auditing.planning.validation_size import event_goals, validate_event
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.power import cluster_labels, verdict_labels
from calbias.defaults import SIGNIFICANT
from calbias.engine.scores_and_hits import as_array, is_number, scores_and_hits
from calbias.errors import InputError
from calbias.io.outputs import GENERATOR
from calbias.reading.columns import Columns
from calbias.recalibration.logistic import ENDS, logits_of

DETECT = (0.01, 0.02, 0.05)
_LARGEST = 1_000_000.0  # parameter of a Beta distribution: its scores are all but equal
_FARTHEST = 30.0  # log odds: beyond, a score is 0 or 1 in double precision
_QUANTILES = 20_000
_OF_CLUSTERS = ["clusters", "clusters_low", "clusters_high"]


class _Kind(NamedTuple):
    """A kind of error: its goal in words, its curves, and the (a, b) of one by log odds x, y."""

    goal: str
    family: Callable[[np.ndarray], Callable[[float], np.ndarray]]
    line: Callable[[np.ndarray, np.ndarray], tuple[float, float]]


_KINDS = (
    _Kind("detect", cox.overconfident, lambda x, y: (0.0, float(y @ x / (x @ x)))),
    _Kind("detect a shift of", cox.shifted, lambda x, y: (float(np.median(y - x)), 1.0)),
)


def plan(
    scores: ArrayLike | None = None,
    *,
    beta: tuple[float, float] | None = None,
    normal: tuple[float, float] | None = None,
    detect: Sequence[float] = DETECT,
    power: float = 0.8,
    slope_width: float = 0.1,
    gap_width: float = 0.01,
    oe_width: float | None = None,
    c_width: float | None = None,
    prevalence: float | None = None,
    c_statistic: float | None = None,
    hits: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return how many labels a study needs.

    Parameters
    ----------
    scores : array_like, shape (n,), optional
        Scores as in the study.
    beta : (float, float), optional
        In their place, the parameters of a Beta distribution of the scores.
    normal : (float, float), optional
        Or mean and standard deviation of a normal distribution of the scores' log odds, the linear
        predictor of a risk model.
    detect : sequence of float
        True ℓ1 errors to detect at the 5 % level, fractions, of a model whose accuracy c at a score
        s has logit c = a + b·logit s: of one that is too extreme (a = 0, b < 1), and of one that is
        shifted (b = 1), down if the mean score is above ½, else up.
    power : float
        The probability with which they are to be detected.
    slope_width, gap_width : float
        Half widths of the 95 % intervals of b, and of mean score less accuracy, a fraction.
    oe_width, c_width : float, optional
        Half widths of the 95 % intervals of observed/expected, around 1, and of the c statistic, of
        a risk model: a goal for each one given, by the formulas of Riley et al. (2021).
    prevalence : float, optional
        Of the event, for these two goals and the column ``events``; by default the mean score.
    c_statistic : float, optional
        That the study expects, with ``c_width``; by default that of a calibrated model with these
        scores.
    seed : int
        Of the simulations.
    hits, clusters : array_like, shape (n,), optional
        Of a pilot study whose rows depend on each other within clusters: the number of clusters
        like these is planned too, by verdicts on clusters of the pilot, drawn again.

    Returns
    -------
    DataFrame
        A row for each goal: ``labels``, infinite where ten million do not reach it; for an error to
        detect, by simulation of the verdict, with the range ``labels_low`` to ``labels_high`` of
        its Monte Carlo error (95 %),
        ``simulated_power`` there with its standard error, and the ``slope`` b and ``shift`` a of
        the error: plan for the larger number of both kinds. With clusters ``clusters``, with
        ``clusters_low`` to ``clusters_high``, what other pilots of as many clusters would plan
        (95 %); plan for the upper end if the pilot is small. With ``oe_width``, ``c_width`` or
        ``prevalence`` also ``events``, the events that these labels should have.

    Raises
    ------
    InputError
        Unless one of scores, beta and normal is given, for a power, width or other number out of
        range, and for hits or clusters without the scores, or of another length.

    Examples
    --------
    The slope's labels of Riley et al. (2021), for scores of Beta(0.5, 0.5):

    >>> import calbias
    >>> int(calbias.plan(beta=(0.5, 0.5), detect=()).loc["slope to ± 0.1", "labels"])
    1644
    """
    if sum(source is not None for source in (scores, beta, normal)) != 1:
        raise InputError(
            "give scores, or the two parameters of a Beta distribution, or mean and standard "
            "deviation of normal log odds"
        )
    _validate_goals(detect, power, slope_width, gap_width)
    validate_event(oe_width, c_width, prevalence, c_statistic)
    given = _quantiles(beta, normal) if scores is None else as_array("scores", scores)
    given, _ = scores_and_hits(given, np.zeros(np.shape(given)))
    _validate_pilot(given, scores is not None, hits, clusters)
    order = np.argsort(given, kind="stable")
    scores = given[order]
    kinds = [(error, kind) for error in detect for kind in _KINDS]
    curves = [cox.curve_with_error(kind.family(scores), scores, error) for error, kind in kinds]
    rows = [
        {"goal": f"{kind.goal} {points(error)}", **_detection(kind, scores, curve, power, seed)}
        for (error, kind), curve in zip(kinds, curves, strict=True)
    ]
    columns = ["goal", "labels", "labels_low", "labels_high", "slope", "shift", "simulated_power",
               "simulated_power_se"]  # fmt: skip
    if clusters is not None:
        back = np.argsort(order, kind="stable")
        for row, curve in zip(rows, curves, strict=True):
            if curve is not None and hits is not None:
                result = cluster_labels(given, hits, clusters, curve[back], power, seed)
                row |= dict(zip(_OF_CLUSTERS, result, strict=False))
        columns += _OF_CLUSTERS
    if beta is None:
        slope = cox.slope_labels(scores, slope_width)
    else:
        slope = cox.slope_labels_beta(*beta, slope_width)
    gap = cox.mean_gap_labels(scores, gap_width)
    rows += [
        {"goal": f"slope to ± {slope_width:g}", "labels": np.ceil(slope - 1e-9)},
        {"goal": f"mean gap to ± {points(gap_width)}", "labels": np.ceil(gap)},
    ]
    if any(number is not None for number in (oe_width, c_width, prevalence)):
        rate = float(scores.mean()) if prevalence is None else prevalence
        rows += event_goals(scores, rate, c_statistic, oe_width, c_width)
        for row in rows:
            row["events"] = np.ceil(row["labels"] * rate - 1e-9)
        columns.insert(columns.index("labels_high") + 1, "events")
    return pd.DataFrame(rows, columns=columns).set_index("goal")


def _validate_goals(
    detect: Sequence[float], power: float, slope_width: float, gap_width: float
) -> None:
    """Raise InputError for a goal that is out of range."""
    if not SIGNIFICANT < power < 1:
        raise InputError(f"power must be above 0.05 and below 1, not {power:g}")
    if np.ndim(detect) != 1:
        raise InputError(
            f"detect must be a list of true errors, such as [0.05], not {detect!r:.60}"
        )
    if not slope_width > 0:
        raise InputError(f"slope_width must be above 0, not {slope_width!r:.60}")
    for name, value in (("gap_width", gap_width), *(("detect", error) for error in detect)):
        if not 0 < value < 1:
            hint = f": {points(value / 100)} is {value / 100:g}" if 1 <= value < 100 else ""
            raise InputError(f"{name} takes fractions between 0 and 1, not {value!r:.60}{hint}")


def plan_json(table: pd.DataFrame, options: dict[str, Any], notes: Sequence[str]) -> str:
    """Return a plan as JSON; an infinite number of labels is null."""
    goals = table.reset_index()
    each = (f"{goal}: {labels:.0f} labels" for goal, labels in goals[["goal", "labels"]].to_numpy())
    return json.dumps(
        {
            "generator": GENERATOR.format("plan"),
            "sentence": "; ".join(each).replace("inf labels", "more than ten million labels"),
            "goals": plain(goals),
            "options": plain(options),
            "notes": list(notes),
            "warnings": [],
        },
        indent=2,
        ensure_ascii=False,
        allow_nan=False,
    )


def plan_file(
    path: str,
    columns: Columns,
    top_label: bool,
    say: Callable[[str], None],
    outcomes: OutcomeColumns | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Return the plan of a file's scores; ``say`` gets the notes on how it was read.

    ``outcomes`` are columns of follow-up, weights or a judge: labels are then times the design
    effect of this pilot.
    """
    data = read_outcomes(path, (), columns, top_label, outcomes or OutcomeColumns())
    for note in data.notes:
        say(note)
    if data.scored.seen is not None:
        return _with_effect(data, say, options)
    return plan(
        data.single.score,
        hits=None if data.clusters is None else data.single.hit,
        clusters=data.clusters,
        **options,
    )


def _with_effect(data: Data, say: Callable[[str], None], options: dict[str, Any]) -> pd.DataFrame:
    """Return the plan of rows whose outcomes are right on average."""
    facts = judge(data.scored).cluster_facts
    effect = facts.design_effect if facts else 1.0
    say(f"labels are {effect:.2f} times those of hits, the design effect of these rows")
    table = plan(data.single.score, **options)
    columns = [name for name in table if name.startswith(("labels", "events"))]
    table[columns] = np.ceil(table[columns] * effect)
    return table


def _quantiles(beta: tuple[float, float] | None, normal: tuple[float, float] | None) -> np.ndarray:
    """Return scores of a Beta distribution, or of normal log odds, at even probabilities."""
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    if beta is not None:
        least = 1.0 / _LARGEST
        if len(beta) != 2 or not all(is_number(x) and least <= x <= _LARGEST for x in beta):
            raise InputError(
                f"the two parameters of a Beta distribution are between {least:g} and "
                f"{_LARGEST:.0f}, not {beta!r:.60}"
            )
        scores = betaincinv(*beta, middles)
    else:
        if (
            normal is None
            or len(normal) != 2
            or not all(is_number(value) and abs(value) <= _FARTHEST for value in normal)
            or normal[1] <= 0
        ):
            raise InputError(
                "normal log odds have a mean and a standard deviation above 0, both at most "
                f"{_FARTHEST:.0f} in size, not {normal!r:.60}"
            )
        scores = expit(normal[0] + normal[1] * ndtri(middles))
    return np.clip(scores, *ENDS)


def _validate_pilot(
    scores: np.ndarray,
    has_scores: bool,
    hits: ArrayLike | None,
    clusters: ArrayLike | None,
) -> None:
    """Raise InputError unless hits and clusters go with the scores (n,) and each other."""
    if not has_scores and (hits is not None or clusters is not None):
        raise InputError(
            "hits and clusters go with scores, not with a Beta distribution or normal log odds"
        )
    if (hits is None) != (clusters is None):
        raise InputError("hits and clusters of a pilot study go together: give both")
    if hits is not None and np.shape(hits) != scores.shape:
        raise InputError(f"hits must be one for each of the {scores.size} scores")


def _detection(
    kind: _Kind, scores: np.ndarray, curve: np.ndarray | None, power: float, seed: int
) -> dict[str, Any]:
    """Return the labels that detect a curve at ascending scores, both (n,), and its line."""
    if curve is None:  # no curve of the family is that far off
        return {"labels": np.inf}
    shift, slope = kind.line(logits_of(scores), logits_of(curve))
    result = verdict_labels(scores, curve, power, seed)
    return {**result._asdict(), "slope": slope, "shift": shift}


def points(error: float) -> str:
    """Return a fraction as text, in percentage points."""
    return f"{100 * error:g} point{'' if error == 0.01 else 's'}"
