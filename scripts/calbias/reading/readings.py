"""Which readings of a table the conventions admit (docs/tool/input_files.md), and which they offer.

An admitted reading is one that names and types suffice for; an offered one needs its options. No
reading is chosen by how its results look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from shlex import quote

from calbias.defaults import PERCENT, PROBABILITIES
from calbias.engine.scores_and_hits import EXCESS
from calbias.reading.cells import is_value
from calbias.reading.class_groups import OWN, Group, affixes, groups_of, named_groups
from calbias.reading.columns import Columns, listed
from calbias.reading.facts import MIXED, NUMBERS, WORDS, Facts
from calbias.reading.output_file import Place
from calbias.reading.words import (
    CHANCE,
    CHANCE_WORDS,
    CONFIDENCE,
    CONFIDENCE_WORDS,
    FOLD,
    FOLLOW_UP,
    GRADES,
    HIT,
    LABEL,
    LESS_OFTEN_LABEL,
    MAY_BE_PREDICTED,
    NO_SCORE,
    OF_EVENT,
    PAIRS,
    PREDICTION,
    SAID,
    STATUS,
    plain,
    positive,
    words_of,
)

MOST_LABELS = 20
"""A column of more values next to a score is no label of an event, unless one of them is named."""
_MOST_SCORES = 3  # without a name for a score: more are features
HITS, PREDICTED, EVENT, CLASSES = "hits", "predicted", "event", "classes"


@dataclass(frozen=True)
class Reading:
    """What a table means: its score and its outcome, or its classes and labels.

    ``kind`` is HITS (the outcome says whether the prediction was correct), PREDICTED (the outcome
    and ``prediction`` are equal where it was), EVENT (the outcome is ``event``, whose probability
    is the score or a column of the ``classes``), or CLASSES. ``why`` says what an offered reading
    takes for granted.
    """

    kind: str
    score: str | None = None
    outcome: str | None = None
    prediction: str | None = None
    event: str | None = None
    group: Group | None = None
    one_hot: tuple[str, ...] = ()
    values: str | None = None
    missing: tuple[str, ...] = ()
    top_label: bool = False
    is_admitted: bool = True
    why: str = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The columns of classes."""
        return self.group.names if self.group else ()

    @property
    def names(self) -> list[str]:
        """The columns that are read, the score first."""
        each = (self.score, *self.classes, self.outcome, *self.one_hot, self.prediction)
        return [*dict.fromkeys(name for name in each if name)]


@dataclass(frozen=True)
class Header:
    """What the conventions see of a table: names, facts of columns, and sums of rows."""

    names: tuple[str, ...]
    facts: Callable[[str], Facts]
    sums: Callable[[Sequence[str], bool], bool]
    forms: Callable[[Sequence[str]], list[str]]
    file: Path
    apart: frozenset[str] = frozenset()
    """Columns that the command uses for something else: clusters, subgroups, ids, times."""
    validate: Callable[[str], object] = id
    """Raises the error of the first cell of a column that is no number."""
    repeated: tuple[str, ...] = ()


def readings_of(header: Header, columns: Columns) -> list[Reading]:
    """Return the readings of a table that the options leave: the admitted, else the offered."""
    readings = [*dict.fromkeys(_of_classes(header, columns))]
    if not columns.classes and not any(each.is_admitted for each in readings):
        named = (*LABEL, *LESS_OFTEN_LABEL)
        classes = {
            n for each in readings if plain(str(each.outcome)) in named for n in each.classes
        }
        scores = dict.fromkeys(_of_scores(header, columns))
        readings += [each for each in scores if columns.score or each.score not in classes]
    admitted = [each for each in readings if each.is_admitted]
    return admitted or readings


def score_column(names: Sequence[str], location: Place) -> str:
    """Return the column of scores by its name, in a table without outcomes."""
    scores = [name for name in names if plain(name) in {*CONFIDENCE, *CHANCE}]
    if len(scores) != 1:
        problem = (
            f"{' and '.join(scores)} are scores" if scores else "no column is named as scores are"
        )
        raise location.error(f"{problem}; name it by --score, one of {listed(names)}")
    return scores[0]


# -- scores ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Score:
    name: str
    is_chance: bool
    is_confidence: bool
    is_admitted: bool = True


def _scores(header: Header, columns: Columns) -> list[_Score]:
    """Return the columns that may be scores: of the best convention that has some."""
    names = [name for name in header.names if name not in header.apart]
    if columns.score:
        return [_score(columns.score)]
    taken = {columns.label, columns.hit, columns.prediction}
    free = [name for name in names if name not in taken]
    exact = [name for name in free if plain(name) in {*CONFIDENCE, *CHANCE} and name.strip()]
    exact += [n for n in free if plain(n) in PREDICTION and header.facts(n).is_fraction]
    with_word = [name for name in free if _has_word(name) and header.facts(name).is_fraction]
    p_of_label = [name for name in free if _is_p_of_label(header, name, names)]
    tiers = [
        [name for name in exact if name.startswith(OWN)],
        exact,
        [*(name for name in with_word if _named_outcomes(name, names)), *p_of_label],
        with_word,
    ]
    calbias_scores = [name for name in free if name.casefold() == f"{OWN}score"]
    if calbias_scores:
        kept = [_score(name) for name in exact[:1]] or [_score(calbias_scores[0])]
        return [replace(kept[0], name=calbias_scores[0])]
    for tier in tiers:
        if inside := [name for name in tier if header.facts(name).is_score]:
            return [_score(name) for name in inside]
    if exact:
        return [_score(name) for name in exact]
    for name in [name for name in free if _has_word(name)]:
        facts = header.facts(name)
        if facts.is_number and facts.low >= 0 and 10 < facts.high <= 100:
            return [replace(_score(name), is_admitted=False)]
    fractions = [name for name in free if header.facts(name).is_fraction]
    fractions = [name for name in fractions if not NO_SCORE & words_of(name)]
    return [
        replace(_score(name), is_admitted=False)
        for name in (fractions if len(fractions) <= _MOST_SCORES else ())
    ]


def _score(name: str) -> _Score:
    small, words = plain(name), words_of(name)
    is_chance = small in CHANCE or bool(words & CHANCE_WORDS)
    is_confidence = small in (*CONFIDENCE, *PREDICTION) or bool(words & CONFIDENCE_WORDS)
    return _Score(name, is_chance and not is_confidence, is_confidence)


def _has_word(name: str) -> bool:
    words = words_of(name)
    return bool(words & (CHANCE_WORDS | CONFIDENCE_WORDS)) and not words & NO_SCORE


def _is_p_of_label(header: Header, name: str, names: Sequence[str]) -> bool:
    """Return whether a name is p_X or X_p of a column X, or of a label X."""
    label_name = plain(name).removeprefix("p_").removesuffix("_p")
    if label_name == plain(name) or NO_SCORE & words_of(name) or not header.facts(name).is_fraction:
        return False
    labels = [n for n in names if plain(n) in LABEL or header.facts(n).kind == WORDS]
    values = {plain(value) for label in labels for value in header.facts(label).values or ()}
    return bool(_named_outcomes(name, names)) or label_name in values


def _named_outcomes(score: str, names: Sequence[str]) -> list[str]:
    """Return the columns that a score's name names: rain of p_rain, default of prob_default."""
    named = plain(score)
    for word in ("predicted_", "pred_"):
        named = named.removeprefix(word)
    ends = [
        named.removeprefix(f"{word}_").removesuffix(f"_{word}").removeprefix("of_")
        for word in (*CHANCE_WORDS, "p")
        if word in words_of(score)
    ]
    return [name for name in names if plain(name) in ends and name != score and plain(name)]


def _cells_name(facts: Facts, score: str) -> bool:
    """Return whether one value of a label stands in a score's name, as M in prob_M."""
    words = plain(score).split("_")
    if facts.kind != WORDS or facts.is_binary or not 1 < len(facts.labels) <= MOST_LABELS:
        return False
    return sum(plain(value) in words for value in facts.labels) == 1


# -- outcomes -------------------------------------------------------------------------------------


def _free(header: Header, columns: Columns) -> list[str]:
    taken = {columns.score, columns.prediction, *columns.classes, *header.apart}
    free = [name for name in header.names if name not in taken]
    return [name for name in free if plain(name) not in FOLD]


def _labels(header: Header, columns: Columns, scores: Sequence[_Score] = ()) -> list[str]:
    """Return the columns that are labels by their names, or by those of the scores."""
    if columns.label:
        return [columns.label]
    if columns.hit:
        return []
    free = _free(header, columns)
    named = [name for name in free if plain(name) in LABEL and not header.facts(name).is_fraction]
    if not named:
        named = [n for score in scores for n in _named_outcomes(score.name, free)]
        named = named or [
            n for score in scores for n in free
            if n != score.name and _cells_name(header.facts(n), score.name)
        ]  # fmt: skip
    if not named:
        few = (name for name in free if plain(name) in LESS_OFTEN_LABEL)
        named = [name for name in few if not header.facts(name).is_fraction]
    return [*dict.fromkeys(named)]


def _hits(header: Header, columns: Columns) -> list[str]:
    if columns.hit or columns.label:
        return [columns.hit] if columns.hit else []
    free = [name for name in _free(header, columns) if plain(name) in HIT]
    return [
        name
        for name in free
        if plain(name) in HIT[:2] or header.facts(name).labels <= GRADES.keys()
        or header.facts(name).is_number
    ]  # fmt: skip


def _predictions(header: Header, columns: Columns, label: str) -> list[str]:
    if columns.prediction:
        return [columns.prediction]
    free = [name for name in header.names if name not in (label, columns.score, *header.apart)]
    return [
        name
        for name in free
        if plain(name) in PREDICTION
        and not header.facts(name).is_fraction
        and header.facts(name).values is not None
    ]


def _is_prediction(name: str) -> bool:
    """Return whether a name says that it is a prediction's."""
    words = {"pred", "predicted", "prediction", "predictions", "predict"}
    return plain(name) in PREDICTION or bool(words & words_of(name))


# -- readings of one score ------------------------------------------------------------------------


def _of_scores(header: Header, columns: Columns) -> Iterator[Reading]:
    scores = _scores(header, columns)
    labels, hits = _labels(header, columns, scores), _hits(header, columns)
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
    score: _Score,
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
        if name != score.name and not (columns.event is not None):
            yield Reading(HITS, score.name, name)
    if hits and not is_event and not columns.label:
        return
    predicted = [(label, p) for label in labels for p in _predictions(header, columns, label)]
    if not columns.label and columns.event is None:
        predicted += _unnamed_truths(header, columns, labels, score)
        predicted += _labels_as_predictions(header, labels, score)
    named_labels, is_plain = {*labels, columns.label}, True
    for label, prediction in dict.fromkeys(predicted):
        is_admitted, is_other = _of_pair(header, columns, score, label, prediction)
        if is_admitted is not None and columns.event is None:
            is_words = positive(header.facts(prediction).labels) is None and not labels
            is_admitted = is_admitted and (label in named_labels or is_words)
            yield Reading(PREDICTED, score.name, label, prediction, is_admitted=is_admitted)
        is_plain = is_plain and (is_other or (label not in named_labels and prediction in labels))
    if columns.prediction:
        return
    if is_plain or columns.event is not None:
        for label in labels:
            if label != score.name:
                yield from _events(header, columns, score, label)
    if not labels and not hits and not predicted:
        yield from _unnamed_outcomes(header, columns, score)


def _is_said(header: Header, name: str) -> bool:
    return header.facts(name).labels <= GRADES.keys()


def _of_pair(
    header: Header, columns: Columns, score: _Score, label: str, prediction: str
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


def _unnamed_truths(
    header: Header, columns: Columns, labels: Sequence[str], score: _Score
) -> list[tuple[str, str]]:
    """Return (truth, prediction) where only the cells of a column say that it is the truth."""
    if labels or columns.hit:
        return []
    free = _free(header, columns)
    pairs = []
    for prediction in _predictions(header, columns, ""):
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
    is_of_them = labels <= classes or (classes <= labels and len(labels) <= 2 * len(classes))
    return is_of_them and min(len(labels), len(classes)) > 1


def _labels_as_predictions(
    header: Header, labels: Sequence[str], score: _Score
) -> list[tuple[str, str]]:
    """Return (truth, label) where label may be the prediction, and another column the truth."""
    if score.is_chance:
        return []
    predictions = [n for n in labels if plain(n) in MAY_BE_PREDICTED]
    is_high = header.facts(score.name).low >= 0.5 - 1e-9
    return [
        (truth, label)
        for label in predictions
        for truth in header.names
        if truth not in (label, score.name, *header.apart)
        and plain(truth) not in (*HIT, *PREDICTION, *FOLD)
        and (truth in labels or (is_high and plain(label) in MAY_BE_PREDICTED))
        and _may_be_same(header.facts(truth), header.facts(label).labels)
    ]


def _events(
    header: Header, columns: Columns, score: _Score, label: str, is_named: bool = True
) -> Iterator[Reading]:
    """Yield a reading for each label that may be the event whose probability the score is."""
    facts = header.facts(label)
    gone = {value.casefold() for value in columns.missing}
    values = [v for v in facts.values or () if v.casefold() in facts.labels - gone]
    small = {value.casefold() for value in values}
    make = Reading(EVENT, score.name, label, is_admitted=is_named)
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
    named = [v for v in values if plain(v) and plain(v) in plain(score.name).split("_")]
    if len(named) == 1 and len(values) <= MOST_LABELS:
        yield replace(make, event=named[0])
        return
    if (event := positive(small)) is not None:
        yield replace(make, event=next((v for v in values if v.casefold() == event), event))
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


def _unnamed_outcomes(header: Header, columns: Columns, score: _Score) -> Iterator[Reading]:
    """Yield what is offered: each column of two values, as an event or as hits."""
    few = [
        name
        for name in _free(header, columns)
        if name != score.name and not _is_prediction(name) and _is_few(header.facts(name), name)
    ]
    few = [name for name in few if header.facts(name).kind != WORDS or
           header.facts(name).is_binary] or few  # fmt: skip
    for name in few:
        for each in _events(header, columns, score, name, False):
            yield replace(each, is_admitted=False)
        if not score.is_chance and columns.event is None and header.facts(name).is_binary:
            yield Reading(HITS, score.name, name, is_admitted=False)


def _is_few(facts: Facts, name: str) -> bool:
    """Return whether values may be an outcome's: two, or a status with a few more."""
    n_labels = len(facts.labels) if facts.values is not None else 0
    is_status = bool(STATUS & words_of(name)) and 1 < n_labels <= 4 and facts.is_whole
    return facts.is_binary or is_status or (facts.kind == WORDS and n_labels == 2)


def _valued(header: Header, columns: Columns, score: _Score, reading: Reading) -> Iterator[Reading]:
    """Yield a reading with each form that its score may have, and what follow-up means for it."""
    is_admitted = reading.is_admitted and score.is_admitted
    values = PROBABILITIES if score.name.startswith(OWN) else columns.values
    if values is None and not score.is_admitted and header.facts(score.name).high > 1 + EXCESS:
        values = PERCENT
    reading = replace(reading, values=values, is_admitted=is_admitted)
    if columns.score and (columns.label or columns.hit) and not reading.why:
        reading = replace(reading, is_admitted=True)
    time = follow_up(header, reading)
    if time and not (columns.label or columns.hit):
        why = (
            f"as if every row had been followed to the end; the follow-up itself: audit --time "
            f"{quote(time)} --status {quote(str(reading.outcome))} --horizon H"
        )
        reading = replace(reading, is_admitted=False, why=why)
    yield reading


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


# -- readings of classes --------------------------------------------------------------------------


def _of_classes(header: Header, columns: Columns) -> Iterator[Reading]:
    """Yield the readings of a label, or of one-hot labels, with a column per class."""
    if columns.score or columns.hit or columns.prediction:
        return
    names = [name for name in header.names if name not in header.apart]
    labels = _labels(header, columns)
    one_hot = [name for name in names if name.casefold().startswith("label_")]
    if one_hot and not labels:
        for group in _one_hot_groups(header, columns, names, one_hot):
            yield from _of_group(
                header, columns, Reading(CLASSES, group=group, one_hot=(*one_hot,))
            )
        return
    unnamed = [] if labels else _unnamed_labels(header, columns, names)
    several = (
        sum(
            bool(
                _groups(
                    header,
                    columns,
                    [n for n in names if n != label],
                    _class_values(header, columns, label),
                )
            )
            for label in unnamed
        )
        > 1
    )
    for label in labels or unnamed:
        values = _class_values(header, columns, label)
        free = [n for n in names if n != label and plain(n) not in FOLD]
        for group in _groups(header, columns, free, values):
            if unnamed and not group.labels and not _alike(group):
                continue
            pair = positive({value.casefold() for value in values})
            if pair in ("true", "yes") and len(group.names) == 2 and not group.labels:
                group = group._replace(labels=next(p for p in PAIRS if p[1] == pair))
            reading = Reading(CLASSES, outcome=label, group=group)
            is_word = header.facts(label).kind == WORDS and positive({*map(str.casefold, values)})
            says = not several and (is_word is None or _names_label(label, group))
            is_admitted = group.is_admitted and (label in labels or says)
            yield from _of_group(header, columns, replace(reading, is_admitted=is_admitted))
        if label in labels and not columns.classes and 1 < len(values) <= MOST_LABELS:
            yield from _with_gaps(header, columns, label, values, free)


def _with_gaps(
    header: Header, columns: Columns, label: str, values: Sequence[str], names: Sequence[str]
) -> Iterator[Reading]:
    """Offer the readings of classes where one or two labels name none: of rows without an outcome.

    Only where there are none of all labels.
    """
    if _groups(header, columns, names, values):
        return
    for size in (1, 2):
        for gone in combinations(values, size):
            remaining = [value for value in values if value not in gone]
            groups = [g for g in _groups(header, columns, names, remaining) if g.is_admitted]
            if groups:
                why = f"rows of {', '.join(gone)} have no outcome"
                reading = Reading(CLASSES, outcome=label, group=groups[0], missing=gone,
                                  is_admitted=False, why=why)  # fmt: skip
                yield from _of_group(header, columns, reading)
                return


def _alike(group: Group) -> bool:
    """Return whether the names of a group have a stem in common."""
    stems = {plain(name).rstrip("0123456789").split("_")[0] for name in group.names}
    return len(stems) == 1


def _names_label(label: str, group: Group) -> bool:
    """Return whether the columns of classes have the label's name in theirs, as P_BAD1 of BAD."""
    return all(plain(label) in plain(name) for name in group.names)


def _class_values(header: Header, columns: Columns, label: str) -> list[str]:
    gone = {value.casefold() for value in columns.missing}
    return [value for value in header.facts(label).values or () if value.casefold() not in gone]


def _groups(
    header: Header, columns: Columns, names: Sequence[str], values: Sequence[str]
) -> list[Group]:
    if columns.classes:
        groups = named_groups(columns, names, header.file, values, header.facts)
    elif not values:
        return []
    else:
        by_sums = not any(plain(name) in {*CONFIDENCE, *CHANCE} for name in names)
        groups = groups_of(names, values, header.facts, header.sums, by_sums)
    if columns.count_from is not None:
        counted = [group for group in groups if not group.labels]
        same = [group for group in counted if group.count_from == columns.count_from]
        groups = same or [group._replace(count_from=columns.count_from) for group in counted]
        groups = [group._replace(is_admitted=True) for group in dict.fromkeys(groups)]
    return groups


def _one_hot_groups(
    header: Header, columns: Columns, names: Sequence[str], one_hot: Sequence[str]
) -> list[Group]:
    ends = [name.casefold().removeprefix("label_") for name in one_hot]
    groups = _groups(header, columns, [n for n in names if n not in one_hot], ends)
    return [
        group._replace(labels=(), count_from=0) for group in groups if len(group.names) == len(ends)
    ]


def _unnamed_labels(header: Header, columns: Columns, names: Sequence[str]) -> list[str]:
    """Return the columns whose few values may be the labels of columns of classes."""
    may_be_labels = []
    for name in names:
        facts = header.facts(name)
        is_few = facts.values is not None and 1 < len(facts.values) <= MOST_LABELS * 10
        is_said = plain(name) in (*FOLD, *HIT) or _is_prediction(name)
        if is_said or not is_few or facts.is_fraction:
            continue
        if facts.kind == NUMBERS and not facts.is_whole:
            continue
        may_be_labels.append(name)
    return may_be_labels


def _of_group(header: Header, columns: Columns, reading: Reading) -> Iterator[Reading]:
    """Yield a reading of classes with each form of its values, and with each event of two."""
    assert reading.group is not None
    stem = affixes(reading.classes)[0] or reading.classes[0].rstrip("0123456789")
    for name in header.names:  # a class with a cell that is no number
        if (
            len(stem) < len(reading.classes[0])
            and stem
            and name.startswith(stem)
            and header.facts(name).kind == MIXED
        ):
            header.validate(name)
    is_of_calbias = reading.group.names[0].startswith(OWN)
    forms = (
        [columns.values] if columns.values and not is_of_calbias else header.forms(reading.classes)
    )
    forms = [PROBABILITIES] if is_of_calbias else forms
    for form in forms:
        each = replace(reading, values=form)
        if len(reading.classes) == 2 or columns.event is not None:
            yield from _class_events(header, columns, each)
        else:
            yield each


def _class_events(header: Header, columns: Columns, reading: Reading) -> Iterator[Reading]:
    """Yield a reading for each class of two whose probability may be judged, and for the top."""
    group = reading.group
    assert group is not None
    top = replace(reading, top_label=True)
    if columns.top_label:
        yield top
    elif columns.event is not None:
        yield replace(reading, kind=EVENT, event=columns.event)
    elif not group.labels:
        yield replace(reading, kind=EVENT, event=str(group.count_from + 1))
        if group.count_from:
            yield replace(reading, kind=EVENT, event=str(group.count_from))
            yield top
    elif (event := positive({label.casefold() for label in group.labels})) is not None:
        label = next((each for each in group.labels if each.casefold() == event), event)
        yield replace(reading, kind=EVENT, event=label)
    else:
        for label in group.labels:
            yield replace(reading, kind=EVENT, event=label)
        yield top
