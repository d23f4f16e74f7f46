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

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from calbias.logits.class_columns import as_number, class_columns, is_all_text
from calbias.logits.columns import (
    FEWEST_IDS,
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
from calbias.logits.table_files import Table, read_table

_YES = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0, "1.0": 1, "0.0": 0}
_FILL = "fill it, or leave such rows out by --missing drop"
_GRADES = _YES | {"correct": 1, "right": 1, "pass": 1, "incorrect": 0, "wrong": 0, "fail": 0}


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
        lambda name: _is_binary(table[name]),
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
        split = split_by_fold(split["test"], _texts(table, roles.fold))
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


def _is_binary(column: np.ndarray) -> bool:
    """Return whether a column holds 0 and 1, or yes and no, alone; cells may be empty."""
    if column.dtype.kind == "O":
        return {str(cell).strip().casefold() for cell in column if cell} <= {*_YES}
    return column.dtype.kind in "iufb" and set(np.unique(column[column == column])) <= {0, 1}


def _without_gaps(table: Table, roles: Roles, place: Place) -> tuple[Table, Place, str]:
    """Return the rows that have a score and an outcome, their place, and a note on the others."""
    names = [*filter(None, roles[1:5]), *roles.one_hot]
    if not roles.form:
        names += numbered_alike([*roles.others])
    empty = {name: np.array([text is None for text in _texts(table, name)]) for name in names}
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
    columns = [_texts(table, name) for name in names]
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
    values = _numbers(table, classes, place)
    if roles.label and is_all_text(table[roles.label]):
        return values, _labels_by_name(table, roles.label, classes, place)
    return values, _numbers(table, roles.one_hot or [roles.label], place)


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
    return _by_text(table, label, numbers, remedy, place)[:, None]


def _by_text(
    table: Table, name: str | None, known: Mapping[str, int], remedy: str, place: Place
) -> np.ndarray:
    """Return the number of each cell's text, (n,), in any capitalisation."""
    texts = _texts(table, name)
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        if text is None:
            raise place.error(f"column {name} is empty; {_FILL}", row)
        if text.casefold() not in known:
            raise place.error(f"column {name} is {text!r}: {remedy}", row)
        numbers[row] = known[text.casefold()]
    return numbers


def _scores_and_hits(
    table: Table, roles: Roles, event: str | None, place: Place
) -> tuple[np.ndarray, np.ndarray]:
    _validate_not_swapped(table, roles, place)
    scores = _numbers(table, [roles.score], place)
    if roles.hit:
        if not _has_words(table[roles.hit]):
            return scores, _numbers(table, [roles.hit], place)
        remedy = "write 1 where the prediction was correct and 0 elsewhere, or correct and wrong"
        return scores, _by_text(table, roles.hit, _GRADES, remedy, place)
    if roles.form == "event":
        return scores, _events(table, roles.label, event, place)
    pair = {name: _texts(table, name) for name in (roles.label, roles.prediction)}
    for name, texts in pair.items():
        if None in texts:
            raise place.error(f"column {name} is empty; {_FILL}", texts.index(None))
    try:
        labels, predictions = (np.array(texts, dtype=float) for texts in pair.values())
    except ValueError:  # no numbers: equal as texts
        labels, predictions = (np.array(texts, dtype=object) for texts in pair.values())
    return scores, labels == predictions


def _events(table: Table, label: str | None, event: str | None, place: Place) -> np.ndarray:
    """Return 1 where a label is the event, by default 1, true or yes, and else 0, (n,)."""
    texts = [*filter(None, _texts(table, label))]
    values = sorted({*texts}, key=lambda text: (as_number(text) or 0.0, text))
    if event is None:
        remedy = (
            f"its values are {listed(values)}: name the one whose probability the score is, "
            f"such as --event {values[-1]}, or add hit (1 where the prediction was correct) or "
            "prediction"
        )
        return _by_text(table, label, _YES, remedy, place)
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
    return _by_text(table, label, happened, "", place)


def _validate_not_swapped(table: Table, roles: Roles, place: Place) -> None:
    """Raise InputError where the score holds 0 and 1 alone, and the outcome probabilities."""
    outcome = roles.hit or roles.label
    if roles.prediction or outcome is None or not _is_binary(table[str(roles.score)]):
        return
    values = table[outcome]
    if values.dtype.kind == "f" and not _is_binary(values) and np.all(np.abs(values - 0.5) <= 0.5):
        raise place.error(
            f"column {roles.score} holds 0 and 1 alone and column {outcome} probabilities: if "
            f"they are swapped, give --score {outcome} --label {roles.score}"
        )


def _has_words(column: np.ndarray) -> bool:
    """Return whether a cell is no number."""
    return column.dtype.kind == "O" and any(
        cell is not None and cell.strip() and as_number(cell) is None for cell in column
    )


def _texts(table: Table, name: str | None) -> list[str | None]:
    """Return the cells of a column as stripped texts, None where empty."""
    cells = table[str(name)].tolist()
    return [None if cell is None or cell != cell else str(cell).strip() or None for cell in cells]


def _numbers(table: Table, names: Sequence[str | None], place: Place) -> np.ndarray:
    """Return the named columns as float64, (n, len(names)); the first other cell is an error."""
    numbers = np.empty((len(next(iter(table.values()))), len(names)))
    for k, name in enumerate(names):
        column = table[str(name)]
        if column.dtype.kind == "M":
            raise place.error(f"column {name} holds times, no numbers; drop it")
        numbers[:, k] = column if column.dtype.kind != "O" else _parsed(column, name, place)
        empty = np.isnan(numbers[:, k])
        if empty.any():
            row = int(np.argmax(empty))
            raise place.error(f"column {name} is empty or NaN; {_FILL}", row)
    return numbers


def _parsed(texts: np.ndarray, name: str | None, place: Place) -> np.ndarray:
    """Return texts as numbers, NaN where empty; decimals may have a comma."""
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            continue
        number = as_number(text)
        if number is None:
            shown = " ".join(repr(text).split())[:40]
            raise place.error(
                f"column {name}: {shown} is no number; write one, or drop a column of no class", row
            )
        numbers[row] = number
    return numbers
