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

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from calbias.logits.checks import SUM_TOLERANCE, Place, RawFold
from calbias.logits.columns import (
    FEWEST_IDS,
    Columns,
    Roles,
    in_class_order,
    listed,
    looked_up_column,
    looks_like_ids,
    numbered_alike,
    roles_of,
)
from calbias.logits.output_file import OutputFile, split_by_fold
from calbias.logits.table_files import read_table, validate_unique

_INDEX = re.compile(r"__index_level_\d+__")
_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)
_MOSTLY, _MANY_COLUMNS = 0.9, 50
_YES = {"1": 1, "true": 1, "yes": 1, "0": 0, "false": 0, "no": 0, "1.0": 1, "0.0": 0}
_GRADES = _YES | {"correct": 1, "right": 1, "pass": 1, "incorrect": 0, "wrong": 0, "fail": 0}


def read_table_file(
    path: Path | str, by: Sequence[str] = (), columns: Columns | None = None
) -> OutputFile:
    """Return the ``OutputFile`` of a table; InputError, with its line, if it is none.

    ``by`` names columns of subgroups; ``columns`` are the ``Columns`` that the user names.
    """
    columns = columns or Columns()
    table, place = read_table(path)
    table = table.select([k for k, n in enumerate(table.column_names) if not _INDEX.fullmatch(n)])
    names = [name.strip() for name in table.column_names]
    table = table.rename_columns(names)
    validate_unique(place.file, names)
    by, ids = (
        tuple(dict.fromkeys(looked_up_column(name, names, place.file) for name in each))
        for each in (by, columns.cluster)
    )
    # columns of subgroups and clusters that hold nothing else
    needed = ("score", "hit", "label", "prediction", "fold")
    apart = {name for name in (*by, *ids) if name.casefold() not in needed}
    roles = roles_of([name for name in names if name not in apart], columns, place)
    if outcome := [name for name in by if name in (roles.score, roles.hit, roles.label)]:
        raise place.error(
            f"--by {outcome[0]}: subgroups by the score or the outcome are miscalibrated by "
            "their choice; name a column of something else"
        )
    if not table.num_rows:
        raise place.error("no rows, only the names of the columns; give at least two")
    others = list(roles.others)
    if roles.form:
        read, notes = _scores_and_hits(table, roles, place), []
    else:
        classes, others = _classes(table, others, place)
        read, notes = _values_and_labels(table, classes, roles, place), _of_other_names(classes)
    split = {"test": RawFold(*read, place)}
    if roles.fold:
        split = split_by_fold(split["test"], _texts(table, roles.fold))
    rows = slice(None) if split["test"].place.rows is None else split["test"].place.rows
    subgroups = {name: table[name].to_pandas()[rows] for name in by} or None
    others = [name for name in others if name]
    if others:
        notes.append(f"columns not used: {listed(others)}")
    hints = [] if ids else _of_ids(table, [*others, *by])
    clusters = _clusters(table, ids, place)[rows] if ids else None
    return OutputFile(split, roles.form, subgroups, clusters, (*notes,), (*hints,))


def _classes(table: Any, names: list[str], place: Place) -> tuple[list[str], list[str]]:
    """Return (classes, others) of the columns that are no label: of numbers, and of text."""
    if "" in names:
        number = table.column_names.index("") + 1
        raise place.error(f"column {number} has no name (a saved row index?); drop it")
    texts = [name for name in names if _is_all_text(table[name])]
    of_text = {*texts}
    numbers = [name for name in names if name not in of_text]
    if texts and len(numbers) < 2:
        raise place.error(
            f"column {texts[0]} is no number; write one, or drop a column of no class; a score is "
            "named with --score"
        )
    classes = _summing_to_one(table, numbers)
    whole = [name for name in classes if _is_whole(table[name])]
    if not _sum_to_one(table, classes) or len(whole) == len(classes):
        mixed = len(whole) < len(classes) and table.num_rows >= FEWEST_IDS
        for name in whole:
            if mixed or _is_id(name, table[name].to_pylist()):
                raise place.error(
                    f"column {name} holds whole numbers: an id, a count or a predicted class, but "
                    "no logit or probability of a class; drop it, name it with --cluster or --by, "
                    "or write logits with decimals (2.0); a score is named with --score"
                )
    taken = {*classes}
    return in_class_order(classes), [name for name in names if name not in taken]


def _is_whole(column: Any) -> bool:
    """Return whether a column is of a type of whole numbers."""
    import pyarrow.types as types

    return types.is_integer(column.type) or types.is_boolean(column.type)


def _is_id(name: str, cells: list) -> bool:
    """Return whether whole numbers are ids, by their name or all different, or only 0 and 1."""
    distinct = {*cells}
    is_count = len(cells) >= FEWEST_IDS and len(distinct) == len(cells)
    is_flag = len(cells) >= FEWEST_IDS and distinct <= {0, 1}
    return looks_like_ids(name, cells, False) or is_count or is_flag


def _summing_to_one(table: Any, names: list[str]) -> list[str]:
    """Return the columns whose rows sum to 1, if some of them do; else all of them."""
    if _sum_to_one(table, names):
        return names
    inside = [name for name in names if _range(table[name])]
    choices = [numbered_alike(names), inside]
    if len(inside) <= _MANY_COLUMNS:
        choices += [[*c] for c in combinations(inside, max(len(inside) - 1, 0))]
    return next((c for c in choices if len(c) >= 2 and _sum_to_one(table, c)), names)


def _sum_to_one(table: Any, names: Sequence[str]) -> bool:
    if not all(_range(table[name]) for name in names):
        return False
    total = sum(np.asarray(_floats(table[name])) for name in names)
    return bool(np.mean(np.abs(total - 1) <= SUM_TOLERANCE) >= _MOSTLY)


def _range(column: Any) -> bool:
    """Return whether a column holds numbers in [0, 1] alone."""
    values = _floats(column)
    return values is not None and bool(np.all((values >= 0) & (values <= 1)))


def _floats(column: Any) -> np.ndarray | None:
    """Return a column of a type of numbers as float64, or None."""
    import pyarrow.types as types

    if not (types.is_integer(column.type) or types.is_floating(column.type)):
        return None
    return column.to_numpy().astype(np.float64)


def _is_all_text(column: Any) -> bool:
    """Return whether no cell of a column of texts is a number."""
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not _is_text(column.type):
        return types.is_temporal(column.type)
    cells = {cell for cell in column.to_pylist() if cell is not None and cell.strip()}
    return bool(cells) and not any(map(_as_float, cells))


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string")


def _as_float(text: str) -> tuple[float] | None:
    """Return (float,) of a text, which may have a decimal comma, or None."""
    text = text.strip()
    try:
        return (float(text.replace(",", ".") if _COMMA.fullmatch(text) else text),)
    except ValueError:
        return None


def _of_other_names(classes: list[str]) -> list[str]:
    """Return a note on classes that are not numbered: which columns count."""
    numbered = numbered_alike(classes)
    of_pattern = {*numbered}
    strangers = listed([name for name in classes if name not in of_pattern])
    if numbered and strangers:
        return [f"columns that count as classes besides {listed(numbered, 2)}: {strangers}"]
    return [f"classes, numbered from 0: {strangers}"] if strangers else []


def _of_ids(table: Any, names: Sequence[str]) -> Iterator[str]:
    """Yield a hint for each column that repeats many values like identifiers."""
    distinct = {}
    for name in names:
        cells = list(map(str, table[name].to_pylist()))
        if looks_like_ids(name, cells, _is_text(table[name].type)):
            distinct[name] = len(set(cells))
    few = [name for name, count in distinct.items() if count < FEWEST_IDS]
    also = f"; if they start again in each {few[0]}, --cluster {few[0]} too" if few else ""
    for name, count in distinct.items():
        if name not in few:
            yield (
                f"column {name} has {count} values in {table.num_rows} rows: if rows of one value "
                f"depend on each other, name it by --cluster {name}{also}"
            )


def _clusters(table: Any, names: Sequence[str | None], place: Place) -> np.ndarray:
    """Return a number of each row's cluster, (n,), by the texts of these columns."""
    columns = [_texts(table, name) for name in names]
    for name, texts in zip(names, columns, strict=True):
        missing = [k for k, text in enumerate(texts) if text is None or text.lower() == "nan"]
        if missing:
            raise place.error(
                f"column {name} is empty: every row needs the name of its cluster; fill it or "
                "drop the row",
                missing[0],
            )
    rows = [*zip(*columns, strict=True)]
    number = {row: k for k, row in enumerate(sorted(set(rows)))}
    return np.array([number[row] for row in rows], dtype=np.int64)


def _values_and_labels(
    table: Any, classes: Sequence[str], roles: Roles, place: Place
) -> tuple[np.ndarray, np.ndarray]:
    values = _numbers(table, classes, place)
    if roles.label and _is_all_text(table[roles.label]):
        return values, _labels_by_name(table, roles.label, classes, place)
    return values, _numbers(table, roles.one_hot or [roles.label], place)


def _labels_by_name(
    table: Any, label: str | None, classes: Sequence[str], place: Place
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
    table: Any, name: str | None, known: Mapping[str, int], remedy: str, place: Place
) -> np.ndarray:
    """Return the number of each cell's text, (n,), in any capitalisation."""
    numbers = np.empty(table.num_rows)
    for row, text in enumerate(_texts(table, name)):
        if text is None:
            raise place.error(f"column {name} is empty; fill it or drop the row", row)
        if text.casefold() not in known:
            raise place.error(f"column {name} is {text!r}: {remedy}", row)
        numbers[row] = known[text.casefold()]
    return numbers


def _scores_and_hits(table: Any, roles: Roles, place: Place) -> tuple[np.ndarray, np.ndarray]:
    scores = _numbers(table, [roles.score], place)
    if roles.hit:
        if not _is_all_text(table[roles.hit]):
            return scores, _numbers(table, [roles.hit], place)
        remedy = "write 1 where the prediction was correct and 0 elsewhere, or correct and wrong"
        return scores, _by_text(table, roles.hit, _GRADES, remedy, place)
    if roles.form == "event":
        remedy = (
            "with a score alone write 1 where the event happened and 0 elsewhere, or add "
            "hit (1 where the prediction was correct) or prediction"
        )
        return scores, _by_text(table, roles.label, _YES, remedy, place)
    pair = {name: _texts(table, name) for name in (roles.label, roles.prediction)}
    for name, texts in pair.items():
        if None in texts:
            raise place.error(f"column {name} is empty; fill it or drop the row", texts.index(None))
    try:
        labels, predictions = (np.array(texts, dtype=float) for texts in pair.values())
    except ValueError:  # no numbers: equal as texts
        labels, predictions = (np.array(texts, dtype=object) for texts in pair.values())
    return scores, labels == predictions


def _texts(table: Any, name: str | None) -> list[str | None]:
    """Return the cells of a column as stripped texts, None where empty."""
    cells = table[name].to_pylist()
    texts = [None if cell is None else str(cell).strip() for cell in cells]
    return [text or None for text in texts]


def _numbers(table: Any, names: Sequence[str | None], place: Place) -> np.ndarray:
    """Return the named columns as float64, (n, len(names)); the first other cell is an error."""
    import pyarrow as pa
    import pyarrow.types as types

    numbers = np.empty((table.num_rows, len(names)))
    for k, name in enumerate(names):
        column = table[name]
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if _is_text(column.type):
            numbers[:, k] = _parsed(column.to_pylist(), name, place)
        else:
            try:
                numbers[:, k] = column.cast(pa.float64(), safe=False).to_numpy()
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
                raise place.error(
                    f"column {name} holds {column.type}, no numbers; drop it"
                ) from None
        empty = np.isnan(numbers[:, k])
        if empty.any():
            row = int(np.argmax(empty))
            raise place.error(f"column {name} is empty or NaN; write a number or drop the row", row)
    return numbers


def _parsed(texts: Any, name: str | None, place: Place) -> np.ndarray:
    """Return texts as numbers, NaN where empty; decimals may have a comma."""
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if text is None or not text.strip():
            continue
        number = _as_float(text)
        if number is None:
            shown = " ".join(repr(text).split())[:40]
            raise place.error(
                f"column {name}: {shown} is no number; write one, or drop a column of no class", row
            )
        numbers[row] = number[0]
    return numbers
