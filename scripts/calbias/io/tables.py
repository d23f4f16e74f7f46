"""Reading and writing tables: CSV for results and users, Parquet for intermediates, by suffix.

pandas and pyarrow are imported where they are used: ``read_rows`` of a CSV file needs neither.
"""

import csv
from pathlib import Path

from calbias.errors import InputError
from calbias.io.checksums import validate_unchanged
from calbias.io.command_line import written_whole
from calbias.io.table_schema import columns_of


def read_table(path):
    """Return a table as a DataFrame; InputError for a file that is missing or no table."""
    import pandas as pd

    _validate_file(path)
    if Path(path).suffix == ".parquet":
        # integers with gaps stay integers
        return _read_parquet(path).to_pandas(integer_object_nulls=True)
    try:
        return pd.read_csv(path, encoding="utf-8-sig")
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        words = str(error).strip().replace("\n", " ")
        raise InputError(f"{path}: not a CSV table ({words}); {_remedy(path)}") from error


def read_tables(paths):
    """Return {name: DataFrame} of {name: path}."""
    return {name: read_table(path) for name, path in paths.items()}


def read_rows(path, columns=()):
    """Return [(line, {column: cell})] of a table that has at least these ``columns``.

    Cells of CSV are text; ``line`` is where an editor shows the row. InputError names it.
    """
    _validate_file(path)
    if Path(path).suffix == ".parquet":
        table = _read_parquet(path)
        _validate_columns(path, table.column_names, columns)
        return list(enumerate(table.to_pylist(), start=1))
    lines = csv_rows(path)
    _, header = next(lines)
    _validate_columns(path, header, columns)
    return [(line, dict(zip(header, cells, strict=True))) for line, cells in lines]


def csv_rows(path):
    """Yield (line, cells) of a CSV file's header and rows; InputError names the line."""
    header, line = None, 1
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            for cells in reader:
                header = header or cells
                if cells and len(cells) != len(header):
                    raise InputError(
                        f"{path}, line {line}: {len(cells)} cells, but {len(header)} columns; "
                        "separate cells by commas, write decimals with points and quote a cell "
                        "that contains a comma"
                    )
                if cells:
                    yield line, cells
                line = reader.line_num + 1
    except UnicodeDecodeError:
        raise InputError(f"{path}: not in UTF-8; save it as UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}: not a CSV table ({error}); {_remedy(path)}") from None
    if not header:
        raise InputError(f"{path}: the file is empty; {_remedy(path)}")


def joined_tables(paths, table):
    """Return the rows of the parts of ``table``, in the order of the files, each value as it is."""
    import pandas as pd

    parts = [read_table(path) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if tuple(part.columns) != columns_of(table):
            raise InputError(f"{path}: its columns are not those of table {table}; {_remedy(path)}")
        if part.empty:
            raise InputError(f"{path}: it has no rows; {_remedy(path)}")
    return pd.concat([part.astype(object) for part in parts], ignore_index=True)


def write_table(path, columns, rows):
    """Write ``rows`` whole as CSV (floats in their shortest exact form) or Parquet.

    ``columns`` is the name of a table of the schema, or a sequence of columns; ``rows`` a
    DataFrame, or a list of dicts or of tuples. ValueError for rows of other columns.
    """
    import pandas as pd

    columns = list(columns_of(columns) if isinstance(columns, str) else columns)
    named = isinstance(rows, pd.DataFrame) or (len(rows) and isinstance(rows[0], dict))
    table = pd.DataFrame(rows) if named else pd.DataFrame(rows, columns=columns)
    if set(table.columns) != set(columns) and len(table.columns):
        different = sorted(set(table.columns) ^ set(columns))
        raise ValueError(f"{path}: the rows and the table's columns differ in {different}")
    table = table.reindex(columns=columns)
    with written_whole(path, checksum=True) as temporary:
        if temporary.suffix == ".parquet":
            _write_parquet(temporary, table)
        else:
            table.to_csv(temporary, index=False, lineterminator="\n")


def _validate_columns(path, header, columns):
    missing = [name for name in columns if name not in header]
    if missing and len(header) == 1 and (found := set(";\t ") & set(header[0])):
        names = {";": "semicolons", "\t": "tabs", " ": "spaces"}
        raise InputError(
            f"{path}, line 1: the columns are separated by {names[min(found)]}; use commas"
        )
    if missing:
        raise InputError(
            f"{path}: no column {missing[0]}; it needs the columns {', '.join(columns)}"
        )
    repeated = [name for name in header if header.count(name) > 1]
    if repeated:
        raise InputError(f"{path}: column {repeated[0]} is there twice; remove one")


def _validate_file(path):
    if not Path(path).is_file():
        raise InputError(
            f"{path}: there is no such table; correct the path, or make it with snakemake"
        )
    validate_unchanged(path)


def _remedy(path):
    return f"delete it and run snakemake again if {Path(path).name} is a result"


def _read_parquet(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: damaged, not a whole Parquet file; {_remedy(path)}") from error


def _write_parquet(path, table):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(table, preserve_index=False)
    table = table.replace_schema_metadata(None)  # pandas' version would be in it
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def true_errors_of(table, scenarios):
    """Return {scenario: TCE}, a fraction, for [(Scenario, row)] from ``true_calibration_error``."""
    known = table.set_index(["scenario", "curve"])["tce_percent"].to_dict()
    missing = [s.name for s, _ in scenarios if (s.name, s.curve.name) not in known]
    if missing:
        raise InputError(f"true_calibration_error has no scenario {missing[0]}: delete the table")
    return {s.name: known[s.name, s.curve.name] / 100 for s, _ in scenarios}


def groups_of(models, path):
    """Return {model: group}, its data set, of the models table read from ``path``."""
    for column in ("model", "group"):
        if column not in models:
            raise InputError(f"{path}: no column {column}; give the models table")
    return dict(zip(models["model"], models["group"], strict=True))


def is_true(column):
    """Return a boolean Series of a CSV column of True and False."""
    return column.astype(str).str.lower() == "true"
