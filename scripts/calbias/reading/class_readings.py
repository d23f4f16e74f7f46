"""The readings of a label, or of one-hot labels, with a column per class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from calbias.defaults import PROBABILITIES
from calbias.reading.class_group import OWN, Group, affixes, named_groups
from calbias.reading.class_groups import groups_of
from calbias.reading.columns import Columns
from calbias.reading.facts import MIXED, NUMBERS, WORDS
from calbias.reading.outcomes import MOST_LABELS, is_prediction, labels_of
from calbias.reading.reading import CLASSES, EVENT, Header, Reading
from calbias.reading.words import (
    CHANCE,
    CONFIDENCE,
    FOLD,
    HIT,
    LABEL,
    PAIRS,
    plain,
    positive,
)  # fmt: skip


def of_classes(header: Header, columns: Columns) -> Iterator[Reading]:
    """Yield the readings of a label, or of one-hot labels, with a column per class."""
    names = [name for name in header.names if name not in header.apart]
    calbias_score = next((name for name in names if name.casefold() == f"{OWN}score"), None)
    if columns.hit or columns.prediction or columns.score not in (None, calbias_score):
        return
    for reading in _of_labels(header, columns, names):  # recalibrated: of the top class or event
        is_of_all = columns.classes or not calbias_score or reading.values is None
        yield reading if is_of_all else replace(reading, score=calbias_score)


def _of_labels(header: Header, columns: Columns, names: Sequence[str]) -> Iterator[Reading]:
    labels = labels_of(header, columns)
    if not labels and (one_hot := _one_hot(header, names)):
        for group, ordered in _one_hot_groups(header, columns, names, one_hot):
            yield from _of_group(header, columns, Reading(CLASSES, group=group, one_hot=ordered))
        return
    unnamed = [] if labels else _unnamed_labels(header, columns, names)
    with_groups = [
        label
        for label in unnamed
        if _groups(
            header, columns, [n for n in names if n != label], _class_values(header, columns, label)
        )
    ]
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
            says = len(with_groups) < 2 and (is_word is None or _names_label(label, group))
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


def _one_hot(header: Header, names: Sequence[str]) -> dict[str, str]:
    """Return {class: column} of label_X, or of true_X or y_X where each row has a single 1."""
    for stem in ("label_", *(f"{word}_" for word in (*LABEL, "true"))):
        each = {plain(n).removeprefix(stem): n for n in names if plain(n).startswith(stem)}
        is_binary = all(header.facts(name).labels <= {"0", "1"} for name in each.values())
        if each and (stem == "label_" or (is_binary and header.sums([*each.values()], True))):
            return each
    return {}


def _one_hot_groups(
    header: Header, columns: Columns, names: Sequence[str], one_hot: dict[str, str]
) -> Iterator[tuple[Group, tuple[str, ...]]]:
    """Yield columns of classes, each with the one-hot columns in their order."""
    free = [name for name in names if name not in one_hot.values()]
    for group in _groups(header, columns, free, [*one_hot]):
        ends = [plain(label) for label in group.labels]
        if not ends and all(end.isdigit() for end in one_hot):
            ends = sorted(one_hot, key=int)
        if {*ends} == {*one_hot} and len(ends) == len(group.names):
            yield group, tuple(one_hot[end] for end in ends)


def _unnamed_labels(header: Header, columns: Columns, names: Sequence[str]) -> list[str]:
    """Return the columns whose few values may be the labels of columns of classes."""
    may_be_labels = []
    for name in names:
        facts = header.facts(name)
        is_few = facts.values is not None and 1 < len(facts.values) <= MOST_LABELS * 10
        is_said = plain(name) in (*FOLD, *HIT) or is_prediction(name)
        if is_said or not is_few or facts.is_fraction:
            continue
        if facts.kind == NUMBERS and not facts.is_whole:
            continue
        may_be_labels.append(name)
    return may_be_labels if len(may_be_labels) <= MOST_LABELS else []  # features


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
