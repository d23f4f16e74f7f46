"""Read and write the tables of a run: CSV for results, Parquet for intermediates, by suffix.

pandas and pyarrow are imported where they are used.
"""

import csv
import math
from itertools import chain
from numbers import Integral, Real
from pathlib import Path

from calbias.errors import InputError
from calbias.io.command_line import written_whole
from calbias.io.tables import remedy
from reproduction.tables.rows import read_parquet, validate_columns, validate_file
from reproduction.tables.schema import columns_of


def read_table(path):
    """Return a table as a DataFrame; InputError for a file that is missing or no table."""
    import pandas as pd

    validate_file(path)
    if Path(path).suffix == ".parquet":
        # integers with gaps stay integers
        return read_parquet(path).to_pandas(integer_object_nulls=True)
    try:
        return pd.read_csv(path, encoding="utf-8-sig")
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        words = str(error).strip().replace("\n", " ")
        raise InputError(f"{path}: not a CSV table ({words}); {remedy(path)}") from error


def read_tables(paths):
    """Return {name: DataFrame} of {name: path}."""
    return {name: read_table(path) for name, path in paths.items()}


def joined_rows(paths, table):
    """Return the rows of the parts of ``table``, in the order of the files, each value as it is."""
    parts = [_part(path, table) for path in paths]
    if not any(parts):  # one part may have nothing to say
        raise InputError(f"{paths[0]}: it has no rows; {remedy(paths[0])}")
    return [row for part in parts for row in part]


def _part(path, table):
    validate_file(path)
    part = read_parquet(path)
    if tuple(part.column_names) != columns_of(table):
        raise InputError(f"{path}: it lacks the columns of table {table}; {remedy(path)}")
    return list(zip(*(column.to_pylist() for column in part.columns), strict=True))


def write_table(path, columns, rows):
    """Write ``rows`` whole as CSV (floats in their shortest exact form) or Parquet.

    ``columns`` is the name of a table of the schema, or a sequence of columns; ``rows`` a
    DataFrame, or an iterable of dicts or of tuples. ValueError for rows of other columns. Rows are
    written as pandas would: importing it takes a third of a second.
    """
    columns = list(columns_of(columns) if isinstance(columns, str) else columns)
    is_frame = hasattr(rows, "columns")
    rows = rows if is_frame else list(rows)
    given = rows.columns if is_frame else _names(rows, columns)
    if set(given) != set(columns) and len(given):
        different = sorted(set(given) ^ set(columns))
        raise ValueError(f"{path}: the rows and the table's columns differ in {different}")
    if is_frame:
        rows = rows.reindex(columns=columns)
    else:
        listed = ([row.get(x) for x in columns] if isinstance(row, dict) else row for row in rows)
        rows = [_as_pandas(cells) for cells in zip(*listed, strict=True)] or [()] * len(columns)
    with written_whole(path, checksum=True) as temporary:
        if temporary.suffix == ".parquet":
            _write_parquet(temporary, columns, rows)
        elif is_frame:
            rows.to_csv(temporary, index=False, lineterminator="\n")
        else:
            _write_csv(temporary, columns, zip(*rows, strict=True))


def write_rows(path, table, rows):
    """Write the rows of a ``table`` of the schema whole as CSV, each value as it is."""
    with written_whole(path, checksum=True) as temporary:
        _write_csv(temporary, columns_of(table), rows)


def _names(rows, columns):
    is_named = len(rows) and isinstance(rows[0], dict)
    return list(dict.fromkeys(chain.from_iterable(rows))) if is_named else columns


def _as_pandas(cells):
    """Return a column's cells: numbers are floats if one of them is, or if cells are empty."""
    kinds = {type(x) for x in cells if x is not None}
    is_number = kinds and all(issubclass(kind, Real) and kind is not bool for kind in kinds)
    if is_number and not (None not in cells and all(issubclass(kind, Integral) for kind in kinds)):
        return [math.nan if x is None else float(x) for x in cells]
    return cells


def _write_csv(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(["" if x is None or x != x else x for x in row] for row in rows)


def _write_parquet(path, columns, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(rows, list):
        kinds = [
            pa.large_string() if any(isinstance(x, str) for x in cells) else None for cells in rows
        ]
        arrays = [pa.array(x, kind, from_pandas=True) for x, kind in zip(rows, kinds, strict=True)]
        table = pa.Table.from_arrays(arrays, names=columns)
    else:
        table = pa.Table.from_pandas(rows, preserve_index=False)
    table = table.replace_schema_metadata(None)  # pandas' version would be in it
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def true_errors_of(table, scenarios):
    """Return {scenario: TCE}, a fraction, for [(Scenario, row)] from ``true_calibration_error``."""
    errors = table.set_index(["scenario", "curve"])["tce_percent"].to_dict()
    missing = [s.name for s, _ in scenarios if (s.name, s.curve.name) not in errors]
    if missing:
        raise InputError(f"true_calibration_error has no scenario {missing[0]}: delete the table")
    return {s.name: errors[s.name, s.curve.name] / 100 for s, _ in scenarios}


def groups_of(models, path):
    """Return {model: group}, its data set, of the models table read from ``path``."""
    validate_columns(models, ("model", "group"), path, "give the models table")
    return dict(zip(models["model"], models["group"], strict=True))


def is_true(column):
    """Return a boolean Series of a CSV column of True and False."""
    return column.astype(str).str.lower() == "true"
