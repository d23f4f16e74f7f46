"""Read a user's table of model outputs: CSV and its kin, JSON lines or Parquet, a row per sample.

Logits or probabilities: column ``label`` is the class number, counted from 0, or the name of the
class's column; or columns ``label_0``, ``label_1``, … are a one-hot label. The other columns of
numbers are the classes, in the order of the columns, or of the numbers that their names end in
where those count the classes (``p_0``, ``p_1``, …, ``p_10``).

Top-label scores: column ``score``, and ``hit`` (1 where the prediction was correct) or ``label``
and ``prediction``, which may be text. An event: columns ``label``, 0 or 1, and ``score``, the
probability of 1. See ``calbias.reading.columns`` for the names.

Column ``fold``, ``split`` or ``set`` counts where all its values are words for folds. Columns that
are not used are named in a note.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

import numpy as np

from calbias.defaults import PERCENT
from calbias.reading.cells import (
    FILL,
    GRADES,
    OF_CLASS,
    OF_ROW,
    by_text,
    has_signs,
    has_words,
    is_binary,
    numbers_of,
    texts_of,
)
from calbias.reading.class_columns import affixes, class_columns, is_all_text
from calbias.reading.columns import (
    BINARY,
    FEWEST_IDS,
    FOLD,
    FOLD_WORDS,
    FRACTIONS,
    WORDS,
    Columns,
    Roles,
    listed,
    looked_up_column,
    looks_like_ids,
    roles_of,
)
from calbias.reading.harness_logs import LOG, QUESTION
from calbias.reading.outcomes import events_of, named_rows, rows_without_gaps
from calbias.reading.output_file import Fold, OutputFile, Place, are_folds, split_by_fold
from calbias.reading.table_files import Table, read_table

_MOST_NAMED = 10_000  # labels that may name columns


def read_table_file(
    path: Path | str | Sequence[Path | str],
    by: Sequence[str] = (),
    columns: Columns | None = None,
) -> OutputFile:
    """Return the ``OutputFile`` of one table, or of several with the same columns.

    ``by`` names columns of subgroups; ``columns`` are the ``Columns`` that the user names.
    InputError, with its line, if it is none.
    """
    columns = columns or Columns()
    table, location = read_table(path)
    names = [*table]
    by, ids = (
        tuple(dict.fromkeys(looked_up_column(name, names, location.file) for name in each))
        for each in (by, columns.cluster)
    )
    is_log = location.part == LOG
    has_several = is_log and np.unique(table[QUESTION]).size < table[QUESTION].size
    ids = ids or ((QUESTION,) if has_several else ())
    # columns of subgroups and clusters that hold nothing else
    needed = ("score", "hit", "label", "prediction", *FOLD)
    apart = {name for name in (*by, *ids) if name.casefold() not in needed}
    roles = roles_of(
        [name for name in names if name not in apart], columns, location,
        lambda name: _kind_of(table[name]),
    )  # fmt: skip
    _validate_uses(roles, by, columns, location)
    if not len(table[names[0]]):
        raise location.error("no rows, only the names of the columns; give at least two")
    everything = table
    table, location, notes = _judged_rows(table, roles, columns, location)
    fold, classes, others, more = _fold_and_columns(table, roles, columns, location)
    notes = [*filter(None, [roles.note]), *notes, *more]
    split = {"test": fold}
    if roles.fold:
        split, more = split_by_fold(fold, texts_of(table, roles.fold))
        notes += more
    elif columns.rows is None:
        notes += _of_unused_fold(table, others)
    numbers = split["test"].place.at(np.arange(len(split["test"].labels)))
    judged = {name: everything[name][numbers] for name in (*by, *ids)}
    others = [name for name in others if name and name not in by and not is_log]
    if has_several:
        notes.append("rows of one question depend on each other: they are a cluster")
    if others:
        notes.append(f"columns not used: {listed(others)}")
    hints = [] if ids else _of_ids(table, others)
    clusters = _clusters(judged, ids, split["test"].place) if ids else None
    return OutputFile(
        split, roles.form, {name: judged[name] for name in by} or None, clusters,
        (*notes,), (*hints,), classes=(*classes,), score=roles.score,
    )  # fmt: skip


def _judged_rows(
    table: Table, roles: Roles, columns: Columns, location: Place
) -> tuple[Table, Place, list[str]]:
    """Return the rows that --rows names and --missing leaves, their place, and notes."""
    notes = []
    if columns.rows is not None:
        rows, note = named_rows(table, columns.rows, location)
        table, location = _rows_of(table, rows, location)
        notes.append(note)
    if columns.missing:
        rows, note = rows_without_gaps(table, roles, columns.missing, location)
        table, location = _rows_of(table, rows, location)
        notes.append(note)
    return table, location, notes


def _rows_of(table: Table, rows: np.ndarray, location: Place) -> tuple[Table, Place]:
    """Return these rows of a table, and their place."""
    part = {name: column[rows] for name, column in table.items()}
    return part, location._replace(rows=location.at(rows))


def _fold_and_columns(
    table: Table, roles: Roles, columns: Columns, location: Place
) -> tuple[Fold, list[str], list[str], list[str]]:
    """Return all rows as a Fold, the columns of classes, those that are not used, and notes."""
    if roles.form:
        read, notes = _scores_and_hits(table, roles, columns, location)
        return Fold(*read, location), [], [*roles.others], notes
    words = _label_words(table, roles)
    classes, others, notes = class_columns(table, roles.others, words, location)
    read = _values_and_labels(table, classes, roles, columns.values, location)
    key = _keys(table, others) if others else None
    return Fold(*read, location, key=key), classes, others, notes


def _validate_uses(roles: Roles, by: Sequence[str], columns: Columns, location: Place) -> None:
    """Raise InputError for subgroups by the score or the outcome, and an event without labels."""
    if outcome := [name for name in by if name in (roles.score, roles.hit, roles.label)]:
        raise location.error(
            f"--by {outcome[0]}: subgroups by the score or the outcome are miscalibrated by "
            "their choice; name a column of something else"
        )
    if columns.event is not None and roles.form != "event":
        raise location.error(
            f"--event {columns.event} goes with a score and a column of labels: name them by "
            "--score and --label"
        )


def _of_unused_fold(table: Table, names: Sequence[str]) -> Iterator[str]:
    """Yield a note on the first column that is named as folds are, and has other values."""
    for name in [name for name in names if name.strip().casefold() in FOLD][:1]:
        values = [*dict.fromkeys(texts_of(table, name))]
        yield (
            f"column {name} has the values {listed([str(value) for value in values], 4)}, "
            "which are no words for folds: all rows are judged; --rows "
            f"{quote(f'{name}={values[0]}')} judges some"
        )


def _keys(table: Table, names: Sequence[str]) -> np.ndarray:
    """Return a hash of each row of these columns, (n,)."""
    import pandas as pd

    frame = pd.DataFrame({name: table[name] for name in names})
    return pd.util.hash_pandas_object(frame.astype(str), index=False).to_numpy()


def _kind_of(column: np.ndarray) -> str:
    if is_binary(column):
        return BINARY
    if column.dtype.kind == "O":
        texts = {str(cell).strip() for cell in column if cell is not None}
        if are_folds(texts) and None not in column.tolist():
            return FOLD_WORDS
        return WORDS if is_all_text(column) else ""
    inside = column.dtype.kind == "f" and np.all((column >= 0) & (column <= 1) | np.isnan(column))
    return FRACTIONS if inside else ""


def _of_ids(table: Table, names: Sequence[str]) -> Iterator[str]:
    """Yield a hint for each column that repeats many values like identifiers."""
    distinct, n = {}, len(next(iter(table.values())))
    for name in names:
        cells = list(map(str, table[name].tolist()))
        if looks_like_ids(name, cells, table[name].dtype.kind == "O"):
            distinct[name] = len(set(cells))
    few = [name for name, count in distinct.items() if count < FEWEST_IDS]
    also = f"; if they start again in each {few[0]}, --cluster {quote(few[0])} too" if few else ""
    for name, count in distinct.items():
        if name not in few:
            yield (
                f"column {name} has {count} values in {n} rows: if rows of one value "
                f"depend on each other, name it by --cluster {quote(name)}{also}"
            )


def _clusters(table: Table, names: Sequence[str | None], location: Place) -> np.ndarray:
    """Return a number of each row's cluster, (n,), by the texts of these columns."""
    import pandas as pd

    columns = [texts_of(table, name) for name in names]
    for name, texts in zip(names, columns, strict=True):
        missing = [k for k, text in enumerate(texts) if text is None or text.lower() == "nan"]
        if missing:
            raise location.error(
                f"column {name} is empty: every row needs the name of its cluster; fill it",
                missing[0],
            )
    rows = ["\0".join(row) for row in zip(*columns, strict=True)]
    return pd.factorize(np.array(rows, object), sort=True)[0]


def _label_words(table: Table, roles: Roles) -> list[str]:
    """Return the values of labels that are texts."""
    if not roles.label or not is_all_text(table[roles.label]):
        return []
    return [*dict.fromkeys(filter(None, texts_of(table, roles.label)))][:_MOST_NAMED]


def _values_and_labels(
    table: Table, classes: Sequence[str], roles: Roles, form: str | None, location: Place
) -> tuple[np.ndarray, np.ndarray]:
    values = numbers_of(table, classes, location, OF_CLASS, form)
    if roles.label and is_all_text(table[roles.label]):
        return values, _labels_by_name(table, roles.label, classes, location)
    return values, numbers_of(table, roles.one_hot or [roles.label], location)


def _labels_by_name(
    table: Table, label: str | None, classes: Sequence[str], location: Place
) -> np.ndarray:
    """Return class numbers (n, 1) of labels that name the classes' columns."""
    start, end = affixes(classes)
    numbers = {
        name[len(start) : len(name) - len(end)].casefold(): k for k, name in enumerate(classes)
    }
    numbers |= {name.casefold(): k for k, name in enumerate(classes)}
    remedy = (
        f"the classes are the columns {listed(classes)}; name a class as its column, number the "
        "classes from 0, or leave such rows out by --missing and the label"
    )
    return by_text(table, label, numbers, remedy, location)[:, None]


def _scores_and_hits(
    table: Table, roles: Roles, columns: Columns, location: Place
) -> tuple[tuple[np.ndarray, np.ndarray], list[str]]:
    """Return the scores (n, 1) and the hits or labels, and notes."""
    _validate_not_swapped(table, roles, location)
    scores = numbers_of(table, [roles.score], location, OF_ROW, columns.values)
    notes = []
    if has_signs(table[str(roles.score)]) and columns.values != PERCENT:
        notes.append(f"percent signs are read, 80 % as 0.8: {roles.score}")
    if roles.hit:
        if not has_words(table[roles.hit]):
            return (scores, numbers_of(table, [roles.hit], location)), notes
        remedy = "write 1 where the prediction was correct and 0 elsewhere, or correct and wrong"
        return (scores, by_text(table, roles.hit, GRADES, remedy, location)), notes
    if roles.form == "event":
        events, more = events_of(table, roles.label, columns.event, location)
        return (scores, events), notes + more
    pair = {name: texts_of(table, name) for name in (roles.label, roles.prediction)}
    for name, texts in pair.items():
        if None in texts:
            raise location.error(f"column {name} is empty; {FILL}", texts.index(None))
    try:
        labels, predictions = (np.array(texts, dtype=float) for texts in pair.values())
    except ValueError:  # no numbers: equal as texts
        labels, predictions = (np.array(texts, dtype=object) for texts in pair.values())
    return (scores, labels == predictions), notes


def _validate_not_swapped(table: Table, roles: Roles, location: Place) -> None:
    """Raise InputError where the score holds 0 and 1 alone, and the outcome probabilities."""
    outcome = roles.hit or roles.label
    if roles.prediction or outcome is None or not is_binary(table[str(roles.score)]):
        return
    values = table[outcome]
    if values.dtype.kind == "f" and not is_binary(values) and np.all(np.abs(values - 0.5) <= 0.5):
        raise location.error(
            f"column {roles.score} holds 0 and 1 alone and column {outcome} probabilities: if "
            f"they are swapped, give --score {quote(outcome)} --label {quote(str(roles.score))}"
        )
