"""What a user hands in, arrays or a file, as ``Data``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calbias.auditing.data import EVENT, Data
from calbias.defaults import LOGITS
from calbias.engine.scores_and_hits import (
    as_array,
    scores_and_hits,
)
from calbias.errors import InputError
from calbias.outcomes.given import Given, shares_of
from calbias.reading import plausibility
from calbias.reading.checks import as_top_label, log_probabilities, zero_floor
from calbias.reading.columns import Columns
from calbias.reading.forms import form_of
from calbias.reading.output_file import Fold
from calbias.reading.read_logits import SCORE_FORMS, read_outputs
from calbias.reading.top_label import TopLabel, share_ties, tied_rows, top_label_of_scores
from calbias.reading.top_label import top_label as top_label_of
from calbias.truth.curves import score

_NOTE_OF_RISKS = (
    "scores and hits are judged as a classifier's; risks p of an event y are "
    "audit(probabilities=p, labels=y), which adds audit.risk"
)


def prepared(
    scores: ArrayLike | None = None,
    hits: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    logits: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    clusters: Any = None,
    *,
    top_label: bool = False,
) -> Data:
    """Return the Data of one of: scores and hits; probabilities and labels; logits and labels.

    ``probabilities`` (n,) are those of class 1 of two. With two classes the Data is of the event of
    class 1, unless ``top_label`` asks for the top class.
    """
    if probabilities is not None and _is_column(as_array("probabilities", probabilities)):
        if labels is None:
            raise InputError("probabilities go with labels: give these")
        pair = scores_and_hits(probabilities, labels, names=("probabilities", "labels"))
        top = top_label_of_scores(*pair)
        return of_event(top, top_label, form="binary", clusters=clusters)
    top = as_top_label(scores, hits, logits=logits, probabilities=probabilities, labels=labels)
    if scores is not None:
        risks = (_NOTE_OF_RISKS,) if top.score.min() < 0.5 else ()
        return Data.of(top, clusters, notes=risks)
    values = np.asarray(probabilities if logits is None else logits)
    labels = np.asarray(labels)
    labels = labels.argmax(axis=1) if labels.shape == values.shape else labels.reshape(-1)
    labels, form = labels.astype(np.int64), "logits" if logits is not None else "probabilities"
    log_values = values
    if logits is None:
        floor = zero_floor([values])  # of a zero: of the least positive value
        log_values = log_probabilities(values, floor)
    data: dict[str, Any] = {"form": form, "logits": log_values, "labels": labels}
    data["clusters"] = clusters
    if values.shape[1] == 2 and not top_label:
        return of_event(of_class_1(values, labels, form), False, **data)
    notes = _note_of_ties(values)
    if logits is not None and (likely := form_of(values)) != LOGITS:
        notes = (*notes, f"the logits may be {likely or 'shares'}: then give probabilities")
    return Data.of(share_ties(top, values, labels), notes=notes, **data)


def prepared_means(
    scores: ArrayLike | None,
    hits: ArrayLike | None,
    probabilities: ArrayLike | None,
    labels: ArrayLike | None,
    clusters: Any,
    by: Any,
    given: Given,
) -> Data:
    """Return the Data of scores, or probabilities (n,), with outcomes that are right on average."""
    is_event = probabilities is not None
    outcome, name = (labels, "labels") if is_event else (hits, "hits")
    first = as_array(
        "probabilities" if is_event else "scores", probabilities if is_event else scores
    )
    if not _is_column(first):
        raise InputError(
            "follow-up, weights, a judge and shares go with one column, of scores with hits or of "
            "probabilities with labels"
        )
    n = first.size
    if is_event and (scores is not None or hits is not None):
        raise InputError("probabilities go with labels or follow-up: leave scores and hits out")
    if labels is not None and not is_event:
        raise InputError("scores go with hits: give these instead of labels")
    if given.is_follow_up:
        if outcome is not None or not is_event:
            raise InputError(
                "follow-up goes with probabilities of the event, without labels or hits"
            )
        values = np.zeros(n)
    elif outcome is None:
        raise InputError(f"give {name} too")
    else:
        values = shares_of(outcome, name, may_be_missing=given.judge is not None)
        if values.size != n:
            raise InputError(f"{name} have {values.size} rows, and the scores have {n}")
    zeros = np.zeros(n, np.uint8)
    data = (
        prepared(probabilities=first.reshape(-1), labels=zeros, clusters=clusters)
        if is_event
        else prepared(first.reshape(-1), zeros, clusters=clusters)
    )
    data = replace(data, by=by)
    return data.with_outcomes(given.outcomes(data.single.score, values))


def _note_of_ties(values: np.ndarray) -> tuple[str, ...]:
    """Return a note on rows with more than one largest value, if there are any."""
    n = tied_rows(values).size
    if not n:
        return ()
    return (
        f"classes tie for the largest value in {n} of {len(values)} rows: where k classes tie and "
        "one is the label, every k-th row counts as a hit",
    )


def read_data(
    path: Path | str | Sequence[Path | str],
    by: Sequence[str] = (),
    *,
    columns: Columns | None = None,
    top_label: bool = False,
) -> Data:
    """Return the Data of a file's fold ``test``, with the columns of subgroups that are named.

    ``path`` is a file of any format, ``-`` for standard input, or several tables; ``columns`` are
    those that the user names. With ``top_label`` the top class of two is audited, else class 1 is
    an event.
    """
    top_label = top_label or bool(columns and columns.top_label)
    columns = replace(columns or Columns(), top_label=top_label)
    outputs = read_outputs(path, by, columns)
    data = _data_of(outputs.folds["test"], outputs.form, top_label, outputs.clusters)
    warnings = outputs.warnings
    if data.n_classes == 2 and outputs.form not in SCORE_FORMS:
        label, is_event = plausibility.said_of("test", outputs.folds), data.kind == EVENT
        warnings = (*warnings, *plausibility.of_two_classes(label, data.single, is_event))
    validation = outputs.folds.get("validation")
    return replace(
        data, warnings=warnings, hints=outputs.hints, by=outputs.by, classes=outputs.classes,
        place=outputs.folds["test"].place, score=outputs.score, read_as=outputs.read_as,
        validation=None if validation is None else _data_of(validation, outputs.form, top_label),
        notes=(
            outputs.reading or _in_words(data, top_label), *outputs.notes, *data.notes,
        ),
    )  # fmt: skip


def _data_of(
    fold: Fold, form: str | None, top_label: bool, clusters: np.ndarray | None = None
) -> Data:
    """Return the Data of a fold."""
    if form in SCORE_FORMS:
        top = top_label_of_scores(*fold)
        if form == "event":
            return of_event(top, top_label, form="binary", clusters=clusters)
        return Data.of(top, clusters, form=form)
    more: dict[str, Any] = {"form": form, "logits": fold.logits, "labels": fold.labels}
    values, is_event = fold.probabilities, fold.logits.shape[1] == 2 and not top_label
    if is_event:
        top = of_class_1(fold.logits, fold.labels, "logits")
    else:
        top = top_label_of(fold.logits, fold.labels)
    if values is not None:
        column = np.ones(len(values), int) if is_event else values.argmax(axis=1)
        top = _with_zeros(top, values, column)
    if is_event:
        return of_event(top, False, clusters=clusters, **more)
    values = fold.logits if values is None else values
    top = share_ties(top, values, fold.labels)
    return Data.of(top, clusters, notes=_note_of_ties(values), **more)


def _with_zeros(top: TopLabel, values: np.ndarray, column: np.ndarray) -> TopLabel:
    """Return the TopLabel with the probabilities (n, K) themselves in rows with a zero.

    There the logits are logarithms of something above 0. ``column`` (n,) is the judged class.
    """
    rows = np.flatnonzero((values == 0).any(axis=1))
    p = values[rows].astype(np.float64)
    p /= p.sum(axis=1, keepdims=True)
    score = p[np.arange(rows.size), column[rows]].copy()
    p[np.arange(rows.size), column[rows]] = 0
    with np.errstate(divide="ignore"):
        exact = score, np.log(score), np.log(p.sum(axis=1))
    for given, values_of_rows in zip(top, exact, strict=False):
        given[rows] = values_of_rows
    return top


def _in_words(data: Data, top_label: bool) -> str:
    if data.kind == EVENT and data.form == "binary":
        return "the score is audited as the probability of label 1, an event"
    if data.kind == EVENT:
        return (
            "two classes: the probability of class 1, an event, is audited; --top-label audits "
            "the confidence of the predicted class"
        )
    if top_label:
        return "the confidence of the predicted class is audited (--top-label)"
    return "the confidence of the predicted class is audited (hit: the prediction was correct)"


def of_event(event: TopLabel, top_label: bool, **more: Any) -> Data:
    """Return the Data of an event or, with ``top_label``, of the predicted class."""
    if not top_label:
        return Data.of(event, kind=EVENT, **more)
    is_1 = event.score >= 0.5
    top = TopLabel(
        np.maximum(event.score, 1 - event.score),
        np.where(is_1, event.log_score, event.log1m_score),
        np.where(is_1, event.log1m_score, event.log_score),
        (event.hit == is_1).astype(np.uint8),
    )
    return Data.of(top, **more)


def of_class_1(values: np.ndarray, labels: np.ndarray, form: str) -> TopLabel:
    """Return a TopLabel of class 1 of two: its probability, both logarithms and the label."""
    if form == "probabilities":
        return top_label_of_scores(np.minimum(values[:, 1], 1.0).astype(np.float64), labels == 1)
    margin = values[:, 1].astype(np.float64) - values[:, 0].astype(np.float64)
    log_score, log1m_score = -np.logaddexp(0, -margin), -np.logaddexp(0, margin)
    return TopLabel(
        score(log_score, log1m_score), log_score, log1m_score, (labels == 1).astype(np.uint8)
    )


def _is_column(values: np.ndarray) -> bool:
    return values.ndim == 1 or (values.ndim == 2 and 1 in values.shape)
