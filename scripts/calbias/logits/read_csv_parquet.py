"""Read a user's table of model outputs, CSV (with a header line) or Parquet. One row per sample.

Logits or probabilities: column ``label`` is the class number, counted from 0; or columns
``label_0``, ``label_1``, … are a one-hot label. Every other column is a class, in the order of the
columns, or of the numbers that their names end in where those count the classes (``p_0``, ``p_1``,
…, ``p_10``).

Top-label scores: column ``score``, and ``hit`` (1 where the prediction was correct) or ``label``
and ``prediction``, which may be text. Other columns are ignored.

Column ``fold``, if there is one, says ``validation`` or ``test``.
"""

import re
from pathlib import Path

import numpy as np

from calbias.errors import InputError, did_you_mean
from calbias.io.tables import csv_rows
from calbias.logits.checks import Place, RawFold
from calbias.logits.raw_file import RawFile, split_by_fold

_NEEDED = ("score", "hit", "label", "prediction", "fold")  # no groups' own columns
_ONE_HOT = re.compile(r"label_(\d+)")
_INDEX = re.compile(r"__index_level_\d+__")
_NUMBERED = re.compile(r".*?(\d+)")


def read_csv(path, by=None):
    """Return the ``RawFile`` of a CSV table, with groups by a column; InputError if it is none."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, read_csv

    try:
        table = read_csv(path, convert_options=ConvertOptions(strings_can_be_null=True))
        table.column_names  # noqa: B018 - names are decoded here
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        for _ in csv_rows(path):
            pass  # its error says more: it names the line
        raise _unreadable(path, "CSV", error) from error
    return _raw_file(Path(path), table, by)


def read_parquet(path, by=None):
    """Return the ``RawFile`` of a Parquet table, without pandas' nameless index."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        _validate_unique(path, pq.read_schema(path).names)
        table = pq.read_table(path)
    except InputError:
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        raise _unreadable(path, "Parquet", error) from error
    return _raw_file(
        Path(path),
        table.select([k for k, n in enumerate(table.column_names) if not _INDEX.fullmatch(n)]),
        by,
    )


def _unreadable(path, kind, error):
    reason = (str(error) or type(error).__name__).splitlines()[0].removesuffix(".")
    return InputError(f"{path}: no readable {kind} table: {reason}; write it again")


def _validate_unique(path, names):
    repeated = [name for k, name in enumerate(names) if name and name in names[:k]]
    if repeated:
        raise InputError(f"{path}: two columns are called {repeated[0]}; rename one, or drop it")


def _raw_file(path, table, by):
    place, names = Place(path, "the table"), [name.strip() for name in table.column_names]
    table = table.rename_columns(names)
    _validate_unique(path, names)
    form = "scores" if {"score", "hit"} & set(names) else None
    read = _scores_and_hits if form else _values_and_labels
    if not table.num_rows and {"label", "label_0", "hit"} & set(names):
        raise place.error("no rows, only the names of the columns; give at least two rows")
    folds = _texts(table, "fold") if "fold" in names else None
    groups = None
    if by is not None:
        if by not in names:
            raise InputError(f"{path}: there is no column {by!r}. {did_you_mean(by, names)}")
        groups = np.array([text or "" for text in _texts(table, by)])
        table = table if by in _NEEDED else table.drop_columns([by])
    whole = RawFold(*read(table, place), place)
    split = {"test": whole} if folds is None else split_by_fold(whole, folds)
    return RawFile(split, form, groups)


def _values_and_labels(table, place):
    names = table.column_names
    one_hot = _in_class_order([name for name in names if _ONE_HOT.fullmatch(name)])
    if ("label" in names) == bool(one_hot):
        if len(names) == 1 and re.search(r"[;\t|]", names[0]):
            raise place.error("has a single column; separate its cells by commas")
        found = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
        raise place.error(
            "needs a column label (or label_0, label_1, …) and one per class, or columns score "
            f"and hit; found {found}; the first line names the columns"
        )
    if "" in names:
        number = names.index("") + 1
        raise place.error(f"column {number} has no name (a saved row index?); drop it")
    classes = [name for name in names if name not in ("label", "fold", *one_hot)]
    values = _numbers(table, _in_class_order(classes), place)
    return values, _numbers(table, one_hot or ["label"], place)


def _scores_and_hits(table, place):
    names = table.column_names
    if "score" not in names or not ("hit" in names or {"label", "prediction"} <= set(names)):
        raise place.error(
            f"columns {', '.join(names[:6])}: write score and hit (1 where the prediction was "
            "correct), or score, label and prediction"
        )
    scores = _numbers(table, ["score"], place)
    if "hit" in names:
        return scores, _numbers(table, ["hit"], place)
    return scores, _correct(table, place)


def _correct(table, place):
    """Return where label and prediction are equal, bool (n,): as numbers, or else as text."""
    pair = [_texts(table, name) for name in ("label", "prediction")]
    for name, texts in zip(("label", "prediction"), pair, strict=True):
        if None in texts:
            raise place.error(f"column {name} is empty; fill it or drop the row", texts.index(None))
    try:
        label, prediction = (np.array(texts, dtype=float) for texts in pair)
    except ValueError:
        label, prediction = (np.array(texts, dtype=object) for texts in pair)
    return label == prediction


def _texts(table, name):
    """Return the cells of a column as stripped texts, None where empty."""
    cells = table[name].to_pylist()
    return [None if cell is None or cell == "" else str(cell).strip() for cell in cells]


def _numbers(table, names, place):
    """Return the named columns as float64, (n, len(names)); the first other cell is an error."""
    import pyarrow as pa
    import pyarrow.types as types

    numbers = np.empty((table.num_rows, len(names)))
    for k, name in enumerate(names):
        column = table[name]
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_string(column.type) or types.is_large_string(column.type):
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


def _parsed(texts, name, place):
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        try:
            numbers[row] = np.nan if text is None else float(text)
        except ValueError:
            found = " ".join(repr(text).split())[:40]
            raise place.error(
                f"column {name}: {found} is no number; write one, or drop a column of no class", row
            ) from None
    return numbers


def _in_class_order(names):
    numbered = [_NUMBERED.fullmatch(name) for name in names]
    if not all(numbered):
        return names
    numbers = [int(match[1]) for match in numbered]
    start = min(numbers, default=0)
    if start > 1 or sorted(numbers) != list(range(start, start + len(names))):
        return names
    return [name for _, name in sorted(zip(numbers, names, strict=True))]
