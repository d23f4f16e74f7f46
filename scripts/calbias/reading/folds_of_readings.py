"""Scores or values of classes, and outcomes, of a table by its reading."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from shlex import quote

import numpy as np
from scipy.special import softmax

from calbias.defaults import LOGITS
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.reading.cells import (
    FILL,
    OF_CLASS,
    OF_ROW,
    as_number,
    by_text,
    is_value,
    numbers_of,
    texts_of,
)
from calbias.reading.checks import checked_labels
from calbias.reading.columns import listed
from calbias.reading.facts import NUMBERS, TRUTH, facts_of
from calbias.reading.forms import as_probabilities, as_scores
from calbias.reading.output_file import Fold, Place
from calbias.reading.question import JudgedRows
from calbias.reading.reading import CLASSES, EVENT, PREDICTED, Reading
from calbias.reading.top_label import share_ties, top_label_of_scores
from calbias.reading.words import GRADES, NOTHING


def fold_of(table: Mapping[str, np.ndarray], reading: Reading, location: Place) -> Fold:
    """Return the values and labels of all rows of a table, or of a part of it, by its reading."""
    if reading.group:
        fold = _of_classes(table, reading, location)
        if not reading.score:
            return fold
        _, hits = scores_and_outcomes(fold, replace(reading, score=None))
        return Fold(numbers_of(table, [reading.score], location, OF_ROW), hits, location)
    score, outcome = str(reading.score), str(reading.outcome)
    scores = numbers_of(table, [score], location, OF_ROW, reading.values)
    if reading.kind == EVENT:
        events = events_of(table, outcome, str(reading.event), location, reading.is_status)
        return Fold(scores, events, location)
    if reading.kind == PREDICTED:
        return Fold(scores, _equal(table, outcome, str(reading.prediction), location), location)
    remedy = "write 1 where the prediction was correct and 0 elsewhere, or correct and wrong"
    if table[outcome].dtype.kind == "O":
        return Fold(scores, by_text(table, outcome, GRADES, remedy, location), location)
    return Fold(scores, numbers_of(table, [outcome], location), location)


def events_of(
    table: Mapping[str, np.ndarray],
    label: str,
    event: str,
    location: Place,
    is_status: bool = False,
) -> np.ndarray:
    """Return 1 where a label is the event and else 0, (n,).

    A word for nothing is no outcome, except of a status.
    """
    column = table[label]
    if column.dtype.kind in "iufb" and as_number(event) is not None:
        numbers = numbers_of(table, [label], location)[:, 0]
        return (numbers == float(event)).astype(float)
    texts = texts_of(table, label)
    numbers_by_text = dict[str, int]()
    for text in dict.fromkeys(filter(None, texts)):
        if is_status or text.casefold() not in NOTHING or text == event:
            numbers_by_text[text.casefold()] = int(is_value(text, event))
    return by_text(table, label, numbers_by_text, f"no outcome; {FILL}", location)


def _equal(
    table: Mapping[str, np.ndarray], label: str, prediction: str, location: Place
) -> np.ndarray:
    """Return where two columns are equal, (n,): as numbers if both hold some, else as texts.

    True and 1 are equal where one column has truth values and the other 0 and 1.
    """
    one, other = table[label], table[prediction]
    if one.dtype.kind in "iu" and other.dtype.kind in "iu":
        return np.asarray(one == other)
    pair = {name: texts_of(table, name) for name in (label, prediction)}
    for name, texts in pair.items():
        if None in texts:
            raise location.error(f"column {name} is empty; {FILL}", texts.index(None))
    kinds = {facts_of(column).kind for column in (one, other)}
    if kinds == {NUMBERS, TRUTH}:
        words = {"true": "1", "false": "0"}
        pair = {
            name: [words.get(str(t).casefold(), t) for t in each] for name, each in pair.items()
        }
    first, second = (np.array(texts, dtype=object) for texts in pair.values())
    return np.asarray(first == second)


def _of_classes(table: Mapping[str, np.ndarray], reading: Reading, location: Place) -> Fold:
    """Return the values of the classes and the labels; of an event of two in their order."""
    group, form = reading.group, reading.values
    assert group is not None
    event = None if reading.kind == CLASSES else group.index_of(str(reading.event))
    names, order = [*group.names], [*range(len(group.names))]
    if reading.kind == EVENT and event is None:
        raise location.error(
            f"--event {reading.event}: no class has this label; the classes are "
            f"{listed(group.labels or group.names)}"
        )
    if event is not None and len(names) == 2:
        order = [1 - event, event]
        names = [names[k] for k in order]
    values = numbers_of(table, names, location, OF_CLASS, form)
    if reading.one_hot:
        labels = numbers_of(table, reading.one_hot, location)
        _validate_one_hot(labels, reading, location)
        labels = labels[:, order]
    else:
        labels = _labels(table, reading, location)[:, None]
        if len(order) == 2 and event is not None and order != [0, 1]:
            labels = np.where(labels < 2, 1 - labels, labels)
    if event is not None and len(names) > 2:
        if form == LOGITS:
            p = softmax(values, axis=1)
        else:
            p = as_probabilities(values, str(form), location)[0]
        hot = labels[:, event] if reading.one_hot else labels[:, 0] == event
        return Fold(p[:, [event]], np.asarray(hot, float), location)
    return Fold(values, labels, location)


def _validate_one_hot(labels: np.ndarray, reading: Reading, location: Place) -> None:
    several = np.flatnonzero(labels.sum(axis=1) > 1)
    if several.size > 1:
        score, label = reading.classes[0], reading.one_hot[0]
        raise location.error(
            f"{several.size} rows have several labels (multi-label): judge one label, such as "
            f"--score {quote(score)} --label {quote(label)}"
        )


def _labels(table: Mapping[str, np.ndarray], reading: Reading, location: Place) -> np.ndarray:
    """Return class numbers (n,) of a column of labels."""
    group, label = reading.group, str(reading.outcome)
    assert group is not None
    column = table[label]
    if group.labels:
        numbers = {text.casefold(): k for k, text in enumerate(group.labels)}
        numbers |= {name.casefold(): k for k, name in enumerate(group.names)}
        remedy = (
            f"the classes are the columns {listed(group.names)}; name a class as its column, "
            "number the classes from 0, or leave such rows out by --missing and the label"
        )
        return by_text(table, label, numbers, remedy, location)
    if column.dtype.kind == "O" or column.dtype.kind == "b":
        small = {str(cell).strip().casefold() for cell in np.unique(column[column != None])}  # noqa: E711
        if small <= {"true", "false", "yes", "no"}:
            return by_text(table, label, GRADES, "", location)
    return numbers_of(table, [label], location)[:, 0] - group.count_from


def judged_by(fold: Fold, reading: Reading) -> JudgedRows:
    """Return what tells a reading apart from others."""
    scores, hits = scores_and_outcomes(fold, reading)
    kind = bytes([reading.kind == EVENT])  # hits of predictions are judged otherwise
    digest = hashlib.blake2b(kind + np.round(scores, 9).tobytes() + hits.tobytes()).digest()
    return JudgedRows(len(scores), float(scores.mean()), float(hits.mean()), digest)


def scores_and_outcomes(fold: Fold, reading: Reading) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores (n,) and the hits or events (n,) of a fold."""
    values, labels = fold.values, np.ravel(fold.labels)
    if (
        reading.group
        and not reading.score
        and (reading.kind == CLASSES or len(reading.classes) == 2)
    ):
        form = str(reading.values)
        if form == LOGITS:
            values = softmax(values.astype(float), axis=1)
        else:
            values = as_probabilities(values, form, fold.place)[0]
        if fold.labels.shape == values.shape:
            labels = fold.labels.argmax(axis=1)
        if reading.kind == CLASSES:
            checked = checked_labels(labels, len(values), values.shape[1], fold.place, "--missing")
            top = top_label_of_scores(values.max(axis=1), values.argmax(axis=1) == checked)
            values, _, _, labels = share_ties(top, fold.values, checked)
        else:
            values = values[:, 1]
    scores = np.ravel(as_scores(values, None if reading.group else reading.values,
                                fold.place.error)).astype(float)  # fmt: skip
    if not reading.group:
        scores_and_hits(scores, labels, fold.place.error)
    return scores, np.ravel(labels).astype(float)
