"""Read and write the tables of a run: CSV for results, Parquet for intermediates, by suffix.

pandas and pyarrow are imported where they are used.
"""

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


def joined_tables(paths, table):
    """Return the rows of the parts of ``table``, in the order of the files, each value as it is."""
    import pandas as pd

    parts = [read_table(path) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if tuple(part.columns) != columns_of(table):
            raise InputError(f"{path}: it lacks the columns of table {table}; {remedy(path)}")
    if all(part.empty for part in parts):  # one part may have nothing to say
        raise InputError(f"{paths[0]}: it has no rows; {remedy(paths[0])}")
    return pd.concat([part.astype(object) for part in parts], ignore_index=True)


def write_table(path, columns, rows):
    """Write ``rows`` whole as CSV (floats in their shortest exact form) or Parquet.

    ``columns`` is the name of a table of the schema, or a sequence of columns; ``rows`` a
    DataFrame, or an iterable of dicts or of tuples. ValueError for rows of other columns.
    """
    import pandas as pd

    columns = list(columns_of(columns) if isinstance(columns, str) else columns)
    rows = rows if isinstance(rows, pd.DataFrame) else list(rows)
    named = isinstance(rows, pd.DataFrame) or (rows and isinstance(rows[0], dict))
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


def _write_parquet(path, table):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(table, preserve_index=False)
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
