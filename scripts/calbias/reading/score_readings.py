"""The readings of one column of scores with its outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calbias.defaults import PERCENT, PROBABILITIES
from calbias.engine.scores_and_hits import EXCESS
from calbias.reading.cells import is_value
from calbias.reading.class_group import NUMBERED, OWN, affixes
from calbias.reading.columns import Columns, listed
from calbias.reading.facts import NUMBERS, WORDS, Facts
from calbias.reading.outcomes import (
    MOST_LABELS,
    follow_up,
    free_columns,
    hits_of,
    is_prediction,
    labels_of,
    predictions_of,
)
from calbias.reading.prediction_pairs import is_pair, pairs_of, why_not_alike
from calbias.reading.reading import EVENT, HITS, PREDICTED, Header, Reading
from calbias.reading.scores import Score, named_outcomes, scores_of
from calbias.reading.words import (
    AGAINST,
    CHANCE_WORDS,
    CLASS,
    GRADES,
    LABEL,
    LESS_OFTEN_LABEL,
    MAY_BE_PREDICTED,
    OF_EVENT,
    PERCENT_WORDS,
    PLAIN_WORDS,
    PREDICTION,
    SAID,
    STATUS,
    TRUTH_WORDS,
    plain,
    positive,
    words_of,
)  # fmt: skip


def of_scores(header: Header, columns: Columns) -> Iterator[Reading]:
    """Yield the readings of each score; where one has none that is admitted, all are offered."""
    scores = scores_of(header, columns)
    labels, hits = labels_of(header, columns, scores), hits_of(header, columns)
    if columns.event is not None:
        hits = []
    by_score = [
        [valued for each in _own_outcomes(header, columns, score, labels, hits)
         for valued in _valued(header, columns, score, each)]
        for score in scores
    ]  # fmt: skip
    is_one = all(any(each.is_admitted for each in readings) for readings in by_score)
    for each in [each for readings in by_score for each in readings]:
        yield each if is_one or columns.score else replace(each, is_admitted=False)


def _own_outcomes(
    header: Header,
    columns: Columns,
    score: Score,
    labels: Sequence[str],
    hits: Sequence[str],
) -> Iterator[Reading]:
    """Yield the readings of a score with each outcome that it may have."""
    correctness = [
        name for name in labels if header.facts(name).labels & SAID and _is_said(header, name)
    ]
    labels = [name for name in labels if name not in correctness or columns.event is not None]
    is_event = score.is_chance and not score.is_confidence and labels
    for name in (*hits, *correctness) if not is_event or columns.hit else ():
        if name != score.name and columns.event is None:
            yield Reading(HITS, score.name, name)
    if hits and not is_event and not columns.label:
        return
    predicted = pairs_of(header, columns, labels, score)
    named_labels, is_plain, is_paired = {*labels, columns.label}, True, False
    for label, prediction in predicted:
        is_admitted, is_other = is_pair(header, columns, score, label, prediction)
        is_named = prediction in (*labels, *predictions_of(header, columns, label))
        if is_admitted is not None and columns.event is None:
            is_words = positive(header.facts(prediction).labels) is None and not labels
            is_admitted = is_admitted and is_named and (label in named_labels or is_words)
            is_paired = True
            why = "" if columns.prediction else why_not_alike(header, label, prediction)
            is_admitted = is_admitted and not why
            pair = Reading(PREDICTED, score.name, label, prediction, is_admitted=is_admitted)
            yield replace(pair, why=why)
        is_swapped = label not in named_labels and prediction in labels
        is_plain = is_plain and (is_other or is_swapped or not is_named)
    if columns.prediction:
        return
    if is_plain or columns.event is not None:
        for label in labels:
            if label != score.name:
                yield from _events(header, columns, score, label)
    is_known = columns.label or any(plain(label) not in LESS_OFTEN_LABEL for label in labels)
    if not is_known and not hits and not is_paired:
        yield from _unnamed_outcomes(header, columns, score, labels)


def _is_said(header: Header, name: str) -> bool:
    return header.facts(name).labels <= GRADES.keys()


def _events(
    header: Header, columns: Columns, score: Score, label: str, is_named: bool = True
) -> Iterator[Reading]:
    """Yield a reading for each label that may be the event whose probability the score is."""
    facts = header.facts(label)
    gone = {value.casefold() for value in columns.missing}
    values = [v for v in facts.values or () if v.casefold() in facts.labels - gone]
    small = {value.casefold() for value in values}
    make = Reading(EVENT, score.name, label, is_status=columns.is_status, is_admitted=is_named)
    if columns.event is not None:
        if is_named or any(is_value(value, columns.event) for value in values):
            yield replace(make, event=columns.event)
        return
    may_be_predicted = (
        not columns.label
        and (plain(label) in MAY_BE_PREDICTED or plain(score.name) not in ("score", "scores"))
        and score.is_confidence
        and plain(score.name) not in PREDICTION
        and header.facts(score.name).is_score
        and header.facts(score.name).low >= 0.5 - 1e-9
    )
    if may_be_predicted:
        why = "no score is below 1/2: if it is a confidence, the prediction is missing"
        if plain(label) in MAY_BE_PREDICTED:
            why = f"no score is below 1/2: if {label} is the prediction, name the true classes too"
        make = replace(make, is_admitted=False, why=why)
    words, numbered = plain(score.name).split("_"), NUMBERED.fullmatch(plain(score.name))
    words += [numbered[2]] if numbered and numbered[1] in CLASS else []
    named = [v for v in values if plain(v) and plain(v) in words]
    if len(named) == 1 and len(values) <= MOST_LABELS:
        if len(values) > 2 and (alike := _alike(header, score.name)):
            why = f"{listed(alike)} may be the other classes"
            make = replace(make, is_admitted=False, why=make.why or why)
        yield replace(make, event=named[0])
        return
    if (event := positive(small)) is not None:
        make = replace(make, event=next((v for v in values if v.casefold() == event), event))
        is_one = not columns.score and len(scores_of(header, columns)) == 1
        if is_one and (word := _word_of_no_label(score, label)):
            why = f"nothing says whether {word} is {make.event}"
            for value in dict.fromkeys((str(make.event), *values)):
                yield replace(make, event=value, is_admitted=False, why=why)
            return
        if not columns.label and AGAINST & words_of(label) - words_of(score.name):
            for value in sorted(values, key=event.__eq__):
                why = make.why or f"{label} may say the opposite of the event"
                yield replace(make, event=value, is_admitted=False, why=why)
            return
        yield make
        return
    extras = [v for v in values if v.casefold() not in ("0", "1")]
    has_0_or_1 = {"0", "1"} & small and facts.kind == NUMBERS
    is_ended = bool(STATUS & words_of(label)) and follow_up(header, make)
    if {"0", "1"} <= small and 0 < len(extras) <= 3 and not is_ended:
        why = f"rows of {', '.join(extras)} have no outcome"
        yield replace(make, event="1", missing=(*extras,), is_admitted=False, why=why)
    if not 1 < len(values) <= MOST_LABELS or (facts.kind == NUMBERS and not facts.is_whole):
        return
    if has_0_or_1 and len(extras) > 1 and not is_ended:
        return  # counts, or codes
    for value in values:
        if value != "0":
            yield replace(make, event=value, is_admitted=False)


def _alike(header: Header, score: str) -> list[str]:
    """Return the other columns of fractions with the same word before or after their own."""
    return [
        name
        for name in header.names
        if name != score and header.facts(name).is_fraction and any(affixes([name, score]))
    ]


def _word_of_no_label(score: Score, label: str) -> str:
    """Return X of a score prob_X or X_prob, where the label's name says nothing of X; or ""."""
    words = plain(score.name).split("_")
    other_words = [word for word in words if word not in CHANCE_WORDS | {"p"}]
    is_named = (
        len(other_words) != 1
        or len(words) != 2
        or not other_words[0].isalpha()
        or other_words[0] in PLAIN_WORDS
    )
    is_silent = plain(label) in LABEL and not is_named and other_words[0] not in words_of(label)
    return other_words[0] if is_silent else ""


def _unnamed_outcomes(
    header: Header, columns: Columns, score: Score, labels: Sequence[str]
) -> Iterator[Reading]:
    """Yield what is offered: each other column of two values, as an event or as hits."""
    few = [
        name
        for name in free_columns(header, columns)
        if name not in (score.name, *labels)
        and not is_prediction(name)
        and _is_few(header.facts(name), name)
    ]
    few = [name for name in few if header.facts(name).kind != WORDS or
           header.facts(name).is_binary] or few  # fmt: skip
    for name in few:
        for each in _events(header, columns, score, name, False):
            yield replace(each, is_admitted=False)
        is_hit = header.facts(name).is_binary and not AGAINST & words_of(name)
        if not score.is_chance and columns.event is None and is_hit:
            yield Reading(HITS, score.name, name, is_admitted=False)


def _is_few(facts: Facts, name: str) -> bool:
    """Return whether values may be an outcome's: two, or a status with a few more."""
    n_labels = len(facts.labels) if facts.values is not None else 0
    is_status = bool(STATUS & words_of(name)) and 1 < n_labels <= 4 and facts.is_whole
    return facts.is_binary or is_status or (facts.kind == WORDS and n_labels == 2)


def _valued(header: Header, columns: Columns, score: Score, reading: Reading) -> Iterator[Reading]:
    """Yield a reading with each form that its score may have, and what follow-up means for it."""
    is_admitted = reading.is_admitted and score.is_admitted
    values = PROBABILITIES if score.name.startswith(OWN) else columns.values
    if values is None and not score.is_admitted and header.facts(score.name).high > 1 + EXCESS:
        values = PERCENT
    reading = replace(reading, values=values, is_admitted=is_admitted)
    if not columns.score and (why := _why_not(header, score, reading)):
        reading = replace(reading, is_admitted=False, why=reading.why or why)
    if columns.score and (columns.label or columns.hit) and not reading.why:
        reading = replace(reading, is_admitted=True)
    if not (columns.label or columns.hit) and follow_up(header, reading):
        why = "as if every row had been followed to the end"
        reading = replace(reading, is_admitted=False, why=why)
    if values is None and _may_be_small_percentages(header, score.name):
        for values in (PERCENT, PROBABILITIES):
            yield replace(reading, values=values, is_admitted=False)
        return
    yield reading


def _why_not(header: Header, score: Score, reading: Reading) -> str:
    """Return why a score may be the chance of what its outcome does not say, or ""."""
    words = words_of(score.name)
    is_named = reading.event is not None and plain(reading.event) in words
    if AGAINST & words and not is_named and not named_outcomes(score.name, header.names):
        return "its name may say the opposite: if so, give 1 - p"
    if reading.kind == HITS and (plain(score.name) in OF_EVENT or "risk" in words):
        return "it is named as the probability of an event: if so, give its label"
    truth = {*plain(str(reading.outcome)).split("_")} - {"y"} or {"true"}
    if reading.kind == PREDICTED and (truth <= words or words & TRUTH_WORDS):
        return "it may be the true class's probability: if so, name the one of the prediction"
    return ""


def _may_be_small_percentages(header: Header, name: str) -> bool:
    """Return whether a name says percentages of cells that could be fractions."""
    facts = header.facts(name)
    is_said = bool(PERCENT_WORDS & words_of(name)) or "%" in name
    return is_said and facts.is_score and not facts.has_signs
