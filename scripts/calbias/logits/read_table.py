"""Read a user's table of model outputs: CSV and its kin, JSON lines or Parquet, a row per sample.

Logits or probabilities: column ``label`` is the class number, counted from 0, or the name of the
class's column; or columns ``label_0``, ``label_1``, … are a one-hot label. The other columns of
numbers are the classes, in the order of the columns, or of the numbers that their names end in
where those count the classes (``p_0``, ``p_1``, …, ``p_10``).

Top-label scores: column ``score``, and ``hit`` (1 where the prediction was correct) or ``label``
and ``prediction``, which may be text. An event: columns ``label``, 0 or 1, and ``score``, the
probability of 1. See ``calbias.logits.columns`` for the names.

Column ``fold``, if there is one, says ``validation`` or ``test``. Columns that are not used are
named in a note.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from calbias.logits.cells import (
    FILL,
    GRADES,
    OF_CLASS,
    YES,
    by_text,
    has_words,
    is_binary,
    numbers_of,
    texts_of,
)
from calbias.logits.class_columns import class_columns, is_all_text
from calbias.logits.columns import (
    BINARY,
    FEWEST_IDS,
    FRACTIONS,
    Columns,
    Roles,
    listed,
    looked_up_column,
    looks_like_ids,
    numbered_alike,
    roles_of,
)
from calbias.logits.json_records import LOG, QUESTION
from calbias.logits.output_file import Fold, OutputFile, Place, split_by_fold
from calbias.logits.table_files import Table, as_number, read_table

MOST_LABELS = 20
"""A column of more values next to a score is no label of an event, unless one of them is named."""


def read_table_file(
    path: Path | str, by: Sequence[str] = (), columns: Columns | None = None
) -> OutputFile:
    """Return the ``OutputFile`` of a table; InputError, with its line, if it is none.

    ``by`` names columns of subgroups; ``columns`` are the ``Columns`` that the user names.
    """
    columns = columns or Columns()
    table, place = read_table(path)
    names = [*table]
    by, ids = (
        tuple(dict.fromkeys(looked_up_column(name, names, place.file) for name in each))
        for each in (by, columns.cluster)
    )
    is_log = place.part == LOG
    has_several = is_log and np.unique(table[QUESTION]).size < table[QUESTION].size
    ids = ids or ((QUESTION,) if has_several else ())
    # columns of subgroups and clusters that hold nothing else
    needed = ("score", "hit", "label", "prediction", "fold")
    apart = {name for name in (*by, *ids) if name.casefold() not in needed}
    roles = roles_of(
        [name for name in names if name not in apart], columns, place,
        lambda name: _kind_of(table[name]),
    )  # fmt: skip
    if outcome := [name for name in by if name in (roles.score, roles.hit, roles.label)]:
        raise place.error(
            f"--by {outcome[0]}: subgroups by the score or the outcome are miscalibrated by "
            "their choice; name a column of something else"
        )
    if not len(table[names[0]]):
        raise place.error("no rows, only the names of the columns; give at least two")
    others, notes, classes = list(roles.others), [roles.note] * bool(roles.note), list[str]()
    if columns.event is not None and roles.form != "event":
        raise place.error(
            f"--event {columns.event} goes with a score and a column of labels: name them by "
            "--score and --label"
        )
    whole = table
    if columns.missing == "drop":
        table, place, note = _without_gaps(table, roles, place)
        notes.append(note)
    if roles.form:
        read = _scores_and_hits(table, roles, columns.event, place)
    else:
        classes, others, of_classes = class_columns(table, others, place)
        notes += of_classes
        read = _values_and_labels(table, classes, roles, place)
    split = {"test": Fold(*read, place)}
    if roles.fold:
        split = split_by_fold(split["test"], texts_of(table, roles.fold))
    rows = slice(None) if split["test"].place.rows is None else split["test"].place.rows
    judged = {name: whole[name][rows] for name in (*by, *ids)}
    others = [name for name in others if name and not is_log]
    if has_several:
        notes.append("rows of one question depend on each other: they are a cluster")
    if others:
        notes.append(f"columns not used: {listed(others)}")
    hints = [] if ids else _of_ids(table, others)
    clusters = _clusters(judged, ids, split["test"].place) if ids else None
    return OutputFile(
        split, roles.form, {name: judged[name] for name in by} or None, clusters,
        (*notes,), (*hints,), classes=(*classes,),
    )  # fmt: skip


def _kind_of(column: np.ndarray) -> str:
    if is_binary(column):
        return BINARY
    inside = column.dtype.kind == "f" and np.all((column >= 0) & (column <= 1) | np.isnan(column))
    return FRACTIONS if inside else ""


def _without_gaps(table: Table, roles: Roles, place: Place) -> tuple[Table, Place, str]:
    """Return the rows that have a score and an outcome, their place, and a note on the others."""
    names = [*filter(None, roles[1:5]), *roles.one_hot]
    if not roles.form:
        names += numbered_alike([*roles.others])
    empty = {name: np.array([text is None for text in texts_of(table, name)]) for name in names}
    gone = np.any([*empty.values()], axis=0)
    if gone.all():
        raise place.error(f"no row has both a score and an outcome: columns {listed(names)}")
    counts = ", ".join(f"{e.sum()} without {name}" for name, e in empty.items() if e.any())
    note = f"--missing drop: {gone.sum()} of {gone.size} rows left out" + ": " * bool(counts)
    rows = np.flatnonzero(~gone)
    kept = {name: column[rows] for name, column in table.items()}
    return kept, place._replace(rows=rows), note + counts


def _of_ids(table: Table, names: Sequence[str]) -> Iterator[str]:
    """Yield a hint for each column that repeats many values like identifiers."""
    distinct, n = {}, len(next(iter(table.values())))
    for name in names:
        cells = list(map(str, table[name].tolist()))
        if looks_like_ids(name, cells, table[name].dtype.kind == "O"):
            distinct[name] = len(set(cells))
    few = [name for name, count in distinct.items() if count < FEWEST_IDS]
    also = f"; if they start again in each {few[0]}, --cluster {few[0]} too" if few else ""
    for name, count in distinct.items():
        if name not in few:
            yield (
                f"column {name} has {count} values in {n} rows: if rows of one value "
                f"depend on each other, name it by --cluster {name}{also}"
            )


def _clusters(table: Table, names: Sequence[str | None], place: Place) -> np.ndarray:
    """Return a number of each row's cluster, (n,), by the texts of these columns."""
    columns = [texts_of(table, name) for name in names]
    for name, texts in zip(names, columns, strict=True):
        missing = [k for k, text in enumerate(texts) if text is None or text.lower() == "nan"]
        if missing:
            raise place.error(
                f"column {name} is empty: every row needs the name of its cluster; fill it",
                missing[0],
            )
    rows = [*zip(*columns, strict=True)]
    number = {row: k for k, row in enumerate(sorted(set(rows)))}
    return np.array([number[row] for row in rows], dtype=np.int64)


def _values_and_labels(
    table: Table, classes: Sequence[str], roles: Roles, place: Place
) -> tuple[np.ndarray, np.ndarray]:
    values = numbers_of(table, classes, place, OF_CLASS)
    if roles.label and is_all_text(table[roles.label]):
        return values, _labels_by_name(table, roles.label, classes, place)
    return values, numbers_of(table, roles.one_hot or [roles.label], place)


def _labels_by_name(
    table: Table, label: str | None, classes: Sequence[str], place: Place
) -> np.ndarray:
    """Return class numbers (n, 1) of labels that name the classes' columns."""
    # what all names start with, up to a separator: p_ of p_cat and p_cow
    ends = [k + 1 for k, letter in enumerate(classes[0]) if not letter.isalnum()]
    start = max((k for k in ends if len({name[:k] for name in classes}) == 1), default=0)
    numbers = {name[start:].casefold(): k for k, name in enumerate(classes)}
    numbers |= {name.casefold(): k for k, name in enumerate(classes)}
    remedy = (
        f"the classes are the columns {listed(classes)}; name a class as its column, or number the "
        "classes from 0"
    )
    return by_text(table, label, numbers, remedy, place)[:, None]


def _scores_and_hits(
    table: Table, roles: Roles, event: str | None, place: Place
) -> tuple[np.ndarray, np.ndarray]:
    _validate_not_swapped(table, roles, place)
    scores = numbers_of(table, [roles.score], place)
    if roles.hit:
        if not has_words(table[roles.hit]):
            return scores, numbers_of(table, [roles.hit], place)
        remedy = "write 1 where the prediction was correct and 0 elsewhere, or correct and wrong"
        return scores, by_text(table, roles.hit, GRADES, remedy, place)
    if roles.form == "event":
        return scores, _events(table, roles.label, event, place)
    pair = {name: texts_of(table, name) for name in (roles.label, roles.prediction)}
    for name, texts in pair.items():
        if None in texts:
            raise place.error(f"column {name} is empty; {FILL}", texts.index(None))
    try:
        labels, predictions = (np.array(texts, dtype=float) for texts in pair.values())
    except ValueError:  # no numbers: equal as texts
        labels, predictions = (np.array(texts, dtype=object) for texts in pair.values())
    return scores, labels == predictions


def _events(table: Table, label: str | None, event: str | None, place: Place) -> np.ndarray:
    """Return 1 where a label is the event, by default 1, true or yes, and else 0, (n,)."""
    texts = [*filter(None, texts_of(table, label))]
    order = lambda text: (as_number(text) or 0.0, text)  # noqa: E731
    values = sorted({*texts}, key=order)
    if event is None:
        if {as_number(text) for text in values} <= {0.0, 0.5, 1.0}:
            remedy = "it is neither 0 nor 1; leave out such rows, as of games that ended in a tie"
            return by_text(table, label, YES, remedy, place)
        if len(values) > MOST_LABELS:
            raise place.error(
                f"column {label} has {len(values)} values, such as {values[0]}, and is no label; "
                "name the column of 0 and 1 by --label, or one value of this column by --event"
            )
        likely = max((text for text, _ in Counter(texts).most_common(2)), key=order)
        remedy = (
            f"its values are {listed(values)}: name the one whose probability the score is, "
            f"such as --event {likely}, or add hit (1 where the prediction was correct) or "
            "prediction"
        )
        return by_text(table, label, YES, remedy, place)
    number = as_number(event)
    happened = {
        text.casefold(): int(
            text.casefold() == event.casefold()
            or (number is not None and as_number(text) == number)
        )
        for text in values
    }
    if not any(happened.values()):
        raise place.error(f"column {label} is never {event!r}: its values are {listed(values)}")
    return by_text(table, label, happened, "", place)


def _validate_not_swapped(table: Table, roles: Roles, place: Place) -> None:
    """Raise InputError where the score holds 0 and 1 alone, and the outcome probabilities."""
    outcome = roles.hit or roles.label
    if roles.prediction or outcome is None or not is_binary(table[str(roles.score)]):
        return
    values = table[outcome]
    if values.dtype.kind == "f" and not is_binary(values) and np.all(np.abs(values - 0.5) <= 0.5):
        raise place.error(
            f"column {roles.score} holds 0 and 1 alone and column {outcome} probabilities: if "
            f"they are swapped, give --score {outcome} --label {roles.score}"
        )
