"""Read a user's table of model outputs, CSV (with a header line) or Parquet.

One row per sample. Column ``label`` is the class number, counted from 0; or columns ``label_0``,
``label_1``, … are a one-hot label. Column ``fold``, if there is one, says ``validation`` or
``test``. Every other column is a class, in the order of the columns, or of the numbers that their
names end in where those count the classes (``p_0``, ``p_1``, …, ``p_10``).
"""

import csv
import re
import warnings
from pathlib import Path

import numpy as np

from calbias.errors import InputError
from calbias.logits.checks import Place, RawFold
from calbias.logits.store import FOLDS

_ONE_HOT = re.compile(r"label_(\d+)")
_INDEX = re.compile(r"__index_level_\d+__")
_NUMBERED = re.compile(r".*?(\d+)")


def read_csv(path):
    """Return ``({fold: RawFold}, False)`` of a CSV table; InputError if it is none."""
    import pandas as pd

    try:
        _validate_repeated(path, next(_lines(path), ()))
        with warnings.catch_warnings():
            # Rows longer than the header line are cut with a warning: refuse them instead.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(path, encoding="utf-8-sig", index_col=False, low_memory=False)
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no readable CSV table: not in UTF-8; save it as such") from error
    except (ValueError, OSError, Warning, csv.Error) as error:  # those of pandas are ValueErrors
        longer = isinstance(error, pd.errors.ParserWarning) or "fields in line" in str(error)
        if not longer:
            raise _unreadable(path, "CSV", error) from error
        raise InputError(
            f"{path}: no readable CSV table: row {_first_longer_row(path)} (counted from 0) has "
            "more cells than the first line has names; separate cells by commas and write "
            "decimals with points"
        ) from error
    return _folds(Path(path), table), False


def _lines(path):
    """Yield the cells of each line of a CSV file, a list; blank lines are left out."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        yield from filter(None, csv.reader(file))


def _first_longer_row(path):
    names, *rows = _lines(path)
    return next((row for row, cells in enumerate(rows) if len(cells) > len(names)), 0)


def _validate_repeated(path, names):
    repeated = [name for k, name in enumerate(names) if name and name in names[:k]]
    if repeated:
        raise InputError(f"{path}: two columns are called {repeated[0]}; rename one, or drop it")


def read_parquet(path):
    """Return ``({fold: RawFold}, False)`` of a Parquet table; InputError if it is none.

    A row index without a name, as pandas saves it, is ignored.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        _validate_repeated(path, pq.read_schema(path).names)
        stored = pq.read_table(path)
        names = [name for name in stored.column_names if not _INDEX.fullmatch(name)]
        table = pd.DataFrame({name: stored[name].to_pandas() for name in names})
    except InputError:
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        raise _unreadable(path, "Parquet", error) from error
    return _folds(Path(path), table), False


def _unreadable(path, kind, error):
    reason = (str(error) or type(error).__name__).splitlines()[0].removesuffix(".")
    return InputError(f"{path}: no readable {kind} table: {reason}; write it again")


def _folds(path, table):
    columns = [str(name) for name in table.columns]
    place = Place(path, "the table")
    unnamed = [name for name in columns if not name or name.startswith("Unnamed: ")]
    if unnamed:
        raise place.error(
            f"column {columns.index(unnamed[0]) + 1} has no name (a saved row index?); drop it"
        )
    one_hot = _in_class_order([name for name in columns if _ONE_HOT.fullmatch(name)])
    if ("label" in columns) == bool(one_hot):
        if len(columns) == 1 and re.search(r"[;\t|]", columns[0]):
            raise place.error("has a single column; separate its cells by commas")
        found = ", ".join(columns[:6]) + (", …" if len(columns) > 6 else "")
        raise place.error(
            f"needs a column label (or columns label_0, label_1, …), found {found}; "
            "the first line names the columns"
        )
    classes = [name for name in columns if name not in ("label", "fold", *one_hot)]
    values = _numbers(table, columns, _in_class_order(classes), place)
    labels = _numbers(table, columns, one_hot or ["label"], place)
    whole = RawFold(values, labels, place)
    if "fold" not in columns:
        return {"all": whole}
    return split_by_fold(whole, table.iloc[:, columns.index("fold")].to_numpy(dtype=object))


def _numbers(table, columns, names, place):
    """Return the named columns as float64, (n, len(names)); the first text is an InputError."""
    import pandas as pd

    numbers = np.empty((len(table), len(names)))
    for k, name in enumerate(names):
        column = table.iloc[:, columns.index(name)]
        if column.dtype.kind in "mM":
            raise place.error(f"column {name} holds times, no numbers; drop it")
        numbers[:, k] = pd.to_numeric(column, errors="coerce").to_numpy(float, na_value=np.nan)
        text = np.isnan(numbers[:, k]) & column.notna().to_numpy()
        if text.any():
            row = int(np.argmax(text))
            found = " ".join(repr(column.iloc[row]).split())[:40]
            raise place.error(f"column {name}: {found} is no number; mend it", row)
        if np.isnan(numbers[:, k]).any():
            row = int(np.argmax(np.isnan(numbers[:, k])))
            raise place.error(f"column {name} is empty or NaN; mend the value or drop the row", row)
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


def split_by_fold(whole, folds):
    """Split a ``RawFold`` by a fold name per row into ``{fold: RawFold}``, rows kept in mind."""
    values, labels, place = whole
    names = np.array([str(name).strip() for name in np.atleast_1d(folds)], dtype=object)
    if len(names) != len(values) or len(labels) != len(values):
        raise place.error(
            f"{len(values)} rows of logits, {len(labels)} labels and {len(names)} fold names; "
            "give one each per row"
        )
    for row, name in enumerate(names):
        if name not in FOLDS:
            raise place.error(f"fold {name!r} is unknown; write {' or '.join(FOLDS)}", row)
    rows = {fold: np.flatnonzero(names == fold) for fold in FOLDS}
    for fold, found in rows.items():
        if not len(found):
            raise place.error(f"no row of fold {fold}; drop the fold column to have it split")
    return {
        fold: RawFold(values[found], labels[found], Place(place.file, f"fold {fold}", found))
        for fold, found in rows.items()
    }
