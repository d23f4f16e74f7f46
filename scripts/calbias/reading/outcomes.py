"""Which columns of a table may be labels, hits, predictions or times of follow-up."""

from __future__ import annotations

from collections.abc import Sequence

from calbias.reading.columns import Columns
from calbias.reading.facts import TRUTH, WORDS, Facts
from calbias.reading.reading import CLASSES, Header, Reading
from calbias.reading.scores import Score, named_outcomes
from calbias.reading.words import (
    FOLD,
    FOLLOW_UP,
    GRADES,
    HIT,
    LABEL,
    LESS_OFTEN_LABEL,
    PREDICTION,
    PREDICTION_WORDS,
    STATUS,
    plain,
    words_of,
)  # fmt: skip

MOST_LABELS = 20
"""A column of more values next to a score is no label of an event, unless one of them is named."""


def _cells_name(facts: Facts, score: str) -> bool:
    """Return whether one value of a label stands in a score's name, as M in prob_M."""
    words = plain(score).split("_")
    if facts.kind != WORDS or facts.is_binary or not 1 < len(facts.labels) <= MOST_LABELS:
        return False
    return sum(plain(value) in words for value in facts.labels) == 1


def free_columns(header: Header, columns: Columns) -> list[str]:
    """Return the columns that may be outcomes: they are nothing else."""
    taken = {columns.score, columns.prediction, *columns.classes, *header.apart}
    free = [name for name in header.names if name not in taken]
    return [name for name in free if plain(name) not in FOLD]


def labels_of(header: Header, columns: Columns, scores: Sequence[Score] = ()) -> list[str]:
    """Return the columns that are labels by their names, or by those of the scores."""
    if columns.label:
        return [columns.label]
    if columns.hit:
        return []
    free = free_columns(header, columns)
    named = [name for name in free if plain(name) in LABEL and not header.facts(name).is_fraction]
    if not named:
        named = [n for score in scores for n in named_outcomes(score.name, free)]
        named = named or [
            n for score in scores for n in free
            if n != score.name and _cells_name(header.facts(n), score.name)
        ]  # fmt: skip
    if not named and all(score.is_confidence for score in scores):
        named = [
            n for n in free
            if header.facts(n).kind in (WORDS, TRUTH) and any(_predicts(p, n) for p in free)
        ]  # fmt: skip
    if not named:
        few = (name for name in free if plain(name) in LESS_OFTEN_LABEL)
        named = [name for name in few if not header.facts(name).is_fraction]
    return [*dict.fromkeys(named)]


def hits_of(header: Header, columns: Columns) -> list[str]:
    """Return the columns that say whether the prediction was correct."""
    if columns.hit or columns.label:
        return [columns.hit] if columns.hit else []
    free = [name for name in free_columns(header, columns) if plain(name) in HIT]
    return [
        name
        for name in free
        if plain(name) in HIT[:2] or header.facts(name).labels <= GRADES.keys()
        or header.facts(name).is_number
    ]  # fmt: skip


def predictions_of(header: Header, columns: Columns, label: str) -> list[str]:
    """Return the columns of predicted classes beside a label."""
    if columns.prediction:
        return [columns.prediction]
    free = [name for name in header.names if name not in (label, columns.score, *header.apart)]
    return [
        name
        for name in free
        if (plain(name) in PREDICTION or _predicts(name, label))
        and not header.facts(name).is_fraction
        and header.facts(name).values is not None
    ]


def is_prediction(name: str) -> bool:
    """Return whether a name says that it is a prediction's."""
    words = plain(name).replace("most_likely", "predicted").split("_")
    return plain(name) in PREDICTION or bool(PREDICTION_WORDS & {*words, *words_of(name)})


def _predicts(name: str, label: str) -> bool:
    """Return whether a name is the label's name with a word for a prediction: species_pred."""
    words = [f"{word}_{plain(label)}" for word in (*PREDICTION_WORDS, "most_likely")]
    return plain(name) in (*words, *(f"{plain(label)}_{word}" for word in PREDICTION_WORDS))


def follow_up(header: Header, reading: Reading) -> str | None:
    """Return the column of a time of follow-up beside an outcome that may have ended it."""
    outcome = reading.outcome
    if outcome is None or reading.kind == CLASSES:
        return None
    times = [
        name
        for name in header.names
        if name not in header.apart and name not in reading.names and _is_time(header, name)
    ]
    ended = [n for n in (outcome, *header.names) if STATUS & words_of(n) and n != reading.score]
    return times[0] if times and (STATUS & words_of(outcome) or ended) else None


def _is_time(header: Header, name: str) -> bool:
    if not FOLLOW_UP & words_of(name) or "age" in words_of(name):
        return False
    facts = header.facts(name)
    return facts.is_number and facts.low >= 0 and facts.low < facts.high < 1e5
