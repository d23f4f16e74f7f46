"""Which columns may be a prediction and its true class, next to the prediction's confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from calbias.reading.class_group import OWN
from calbias.reading.columns import Columns
from calbias.reading.facts import NUMBERS, TRUTH, WORDS, Facts
from calbias.reading.outcomes import free_columns, hits_of, predictions_of
from calbias.reading.reading import Header
from calbias.reading.scores import Score
from calbias.reading.words import (
    FOLD,
    HIT,
    MAY_BE_PREDICTED,
    OF_EVENT,
    PREDICTION,
    plain,
    words_of,
)  # fmt: skip


def pairs_of(
    header: Header, columns: Columns, labels: Sequence[str], score: Score
) -> list[tuple[str, str]]:
    """Return (truth, prediction) of the columns that may be a pair, by their names or cells."""
    pairs = [(label, p) for label in labels for p in predictions_of(header, columns, label)]
    if not columns.label and columns.event is None:
        pairs += _unnamed_truths(header, columns, labels, score)
        pairs += _labels_as_predictions(header, labels, score)
        if not pairs and score.is_confidence:
            pairs = [
                (label, name) for label in labels for name in free_columns(header, columns)
                if name not in (label, score.name) and _are_words_of(header, name, label)
            ]  # fmt: skip
    return [*dict.fromkeys(pairs)]


def is_pair(
    header: Header, columns: Columns, score: Score, label: str, prediction: str
) -> tuple[bool | None, bool]:
    """Return whether a pair of label and prediction is admitted, and whether an event may be.

    A confidence in one of two classes is at least 1/2. The probability of one class of more than
    two is that of the prediction, where no event is named.
    """
    both_labels = header.facts(label).labels | header.facts(prediction).labels
    is_low = header.facts(score.name).low < 0.5 - 1e-9 and not score.name.startswith(OWN)
    if columns.prediction:
        return True, False
    if len(both_labels) > 2:
        return True, False
    if score.is_chance:
        is_event = plain(score.name) in OF_EVENT or "risk" in words_of(score.name)
        return (None, True) if is_low or is_event else (True, True)
    return True, is_low


def why_not_alike(header: Header, label: str, prediction: str) -> str:
    """Return why equal texts may not say that a prediction was correct, or ""."""
    if _are_free_texts(header, label, prediction):
        return f"most texts of {prediction} never occur in {label}: do they match?"
    if _are_written_otherwise(header, label, prediction):
        return f"{label} and {prediction} share no text, or some differ in capitals: write alike"
    return ""


def _are_free_texts(header: Header, label: str, prediction: str) -> bool:
    """Return whether most texts of a prediction are never a label, as those of an answer."""
    facts = header.facts(label), header.facts(prediction)
    if any(each.kind != WORDS or each.values is None for each in facts):
        return False
    truths, texts = ({*(each.values or ())} for each in facts)
    return 2 * len(texts - truths) > len(texts)


def _are_written_otherwise(header: Header, label: str, prediction: str) -> bool:
    """Return whether no value is in both columns, or capitals alone tell some apart."""
    facts = [header.facts(name) for name in (label, prediction)]
    if {each.kind for each in facts} == {NUMBERS, TRUTH} or None in [each.values for each in facts]:
        return False  # true is 1
    truths, texts = ({*(each.values or ())} for each in facts)
    counts = Counter(map(str.casefold, truths | texts))
    return not truths & texts or any(counts[text.casefold()] > 1 for text in truths ^ texts)


def _are_words_of(header: Header, name: str, label: str) -> bool:
    """Return whether a column has the words of a label of three or more."""
    facts, words = header.facts(name), header.facts(label).labels
    return facts.kind == WORDS and len(words) > 2 and _may_be_same(facts, words)


def _unnamed_truths(
    header: Header, columns: Columns, labels: Sequence[str], score: Score
) -> list[tuple[str, str]]:
    """Return (truth, prediction) where only the cells of a column say that it is the truth."""
    if labels or columns.hit:
        return []
    free = free_columns(header, columns)
    pairs = []
    for prediction in predictions_of(header, columns, ""):
        classes = header.facts(prediction).labels
        same = [
            name
            for name in free
            if name not in (prediction, score.name)
            and plain(name) not in (*HIT, *PREDICTION)
            and _may_be_same(header.facts(name), classes)
        ]
        pairs += [(name, prediction) for name in same]
    return pairs


def _may_be_same(facts: Facts, classes: set[str]) -> bool:
    labels = facts.labels if facts.values is not None else set()
    fewer, more = sorted((labels, classes), key=len)
    return fewer <= more and len(fewer) > 1 and len(more) <= 2 * len(fewer)


def _labels_as_predictions(
    header: Header, labels: Sequence[str], score: Score
) -> list[tuple[str, str]]:
    """Return (truth, label) where label may be the prediction, and another column the truth."""
    predictions = [n for n in labels if plain(n) in MAY_BE_PREDICTED]
    hits = hits_of(header, Columns())
    is_high = header.facts(score.name).low >= 0.5 - 1e-9
    return [
        (truth, label)
        for label in predictions
        for truth in header.names
        if truth not in (label, score.name, *header.apart)
        and plain(truth) not in (*PREDICTION, *FOLD)
        and truth not in hits
        and (truth in labels or (not score.is_chance and (is_high or plain(truth) in HIT)))
        and _may_be_same(header.facts(truth), header.facts(label).labels)
    ]
