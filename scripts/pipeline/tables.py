"""Read and write the tables of a run: CSV for results, Parquet for intermediates, by suffix.

pandas and pyarrow are imported where they are used: rows of a CSV file need neither.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from calbias.errors import InputError
from calbias.io.files import csv_rows, file_digest, remedy
from pipeline.table_schema import columns_of
from pipeline.write_results import record_of, written_whole

if TYPE_CHECKING:
    import pandas as pd

    Rows: TypeAlias = pd.DataFrame | Iterable[Any]


def read_rows(path: Path | str, columns: Sequence[str] = ()) -> list[tuple[int, dict[str, Any]]]:
    """Return [(line, {column: cell})] of a table that has at least these ``columns``.

    Cells of CSV are text; ``line`` is where an editor shows the row. InputError names it.
    """
    validate_file(path)
    if Path(path).suffix == ".parquet":
        table = read_parquet(path)
        _validate_columns(path, table.column_names, columns)
        return list(enumerate(table.to_pylist(), start=1))
    lines = csv_rows(path, remedy=remedy(path))
    _, header = next(lines)
    _validate_columns(path, header, columns)
    return [(line, dict(zip(header, cells, strict=True))) for line, cells in lines]


def _validate_columns(path: Path | str, header: Sequence[str], columns: Sequence[str]) -> None:
    is_whole = set(columns) <= set(header)
    if not is_whole and len(header) == 1 and (separators := set(";\t ") & set(header[0])):
        names = {";": "semicolons", "\t": "tabs", " ": "spaces"}
        raise InputError(
            f"{path}, line 1: the columns are separated by {names[min(separators)]}; use commas"
        )
    validate_columns(header, columns, path, f"it needs the columns {', '.join(columns)}")
    repeated = [name for name in header if header.count(name) > 1]
    if repeated:
        raise InputError(f"{path}: column {repeated[0]} is there twice; remove one")


def validate_columns(
    existing: Collection[str], needed: Iterable[str], path: Path | str, remedy: str
) -> None:
    """Raise InputError for the first of the columns needed that was not found."""
    if missing := [name for name in needed if name not in existing]:
        raise InputError(f"{path}: no column {missing[0]}; {remedy}")


def validate_file(path: Path | str) -> None:
    """Raise InputError for a table that is missing, or changed since it was written."""
    if not Path(path).is_file():
        raise InputError(
            f"{path}: there is no such table; correct the path, or make it with snakemake"
        )
    validate_unchanged(path)


def validate_unchanged(path: Path | str) -> str:
    """Return the SHA-256 of a file; InputError if another one was recorded when it was made."""
    digest, record = file_digest(path), record_of(path)
    if record.exists() and record.read_text(encoding="utf-8").split()[:1] != [digest]:
        raise InputError(
            f"{path}: was changed or damaged after it was made (its SHA-256 is not the one in "
            f"{record.name}); delete {path} and run snakemake again"
        )
    return digest


def read_parquet(path: Path | str) -> Any:
    """Return a Parquet file as a pyarrow Table; InputError if it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return file.read()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: damaged, not a whole Parquet file; {remedy(path)}") from error


def read_table(path: Path) -> pd.DataFrame:
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


def read_tables(paths: Mapping[str, Path]) -> dict[str, pd.DataFrame]:
    """Return {name: DataFrame} of {name: path}."""
    return {name: read_table(path) for name, path in paths.items()}


def joined_tables(paths: Sequence[Path], table: str) -> list[dict[str, Any]]:
    """Return the rows of the parts of ``table``, in the order of the files, each value as it is."""
    rows: list[dict[str, Any]] = []
    for path in paths:
        part = [row for _, row in read_rows(path)]
        if not part:
            read_rows(path, columns_of(table))  # InputError if its columns are not the table's
        if part and tuple(part[0]) != columns_of(table):
            raise InputError(f"{path}: it lacks the columns of table {table}; {remedy(path)}")
        rows += part
    if not rows:  # one part may have nothing to say
        raise InputError(f"{paths[0]}: it has no rows; {remedy(paths[0])}")
    return rows


def write_table(path: Path, columns: str | Sequence[str], rows: Rows) -> None:
    """Write ``rows`` whole as CSV (floats in their shortest exact form) or Parquet.

    ``columns`` is the name of a table of the schema, or a sequence of columns; ``rows`` a
    DataFrame, or an iterable of dicts or of tuples. ValueError for rows of other columns.
    """
    columns = list(columns_of(columns) if isinstance(columns, str) else columns)
    frame: Any = rows if hasattr(rows, "to_csv") else None
    records = [] if frame is not None else [
        row if isinstance(row, dict) else dict(zip(columns, row, strict=True)) for row in rows
    ]  # fmt: skip
    names = set().union(*records) if frame is None else set(frame.columns)
    if names and names != set(columns):
        different = sorted(names ^ set(columns))
        raise ValueError(f"{path}: the rows and the table's columns differ in {different}")
    with written_whole(path, checksum=True) as temporary:
        if temporary.suffix == ".parquet":
            _write_parquet(temporary, columns, records if frame is None else frame)
        elif frame is None:
            _write_csv(temporary, columns, records)
        else:
            frame.reindex(columns=columns).to_csv(temporary, index=False, lineterminator="\n")


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write dicts, NaN as an empty cell: importing pandas takes longer than joining tables."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            empty = [name for name, x in row.items() if isinstance(x, float) and x != x]
            writer.writerow(row | dict.fromkeys(empty))


def _write_parquet(path: Path, columns: Sequence[str], rows: Rows) -> None:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pd.DataFrame(rows, columns=columns)
    table = pa.Table.from_pandas(table, preserve_index=False)
    table = table.replace_schema_metadata(None)  # pandas' version would be in it
    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def true_errors_of(table: pd.DataFrame, scenarios: Iterable[tuple[Any, Any]]) -> dict[str, float]:
    """Return {scenario: TCE}, a fraction, for [(Scenario, row)] from ``true_calibration_error``."""
    errors = table.set_index(["scenario", "curve"])["tce_percent"].to_dict()
    missing = [s.name for s, _ in scenarios if (s.name, s.curve.name) not in errors]
    if missing:
        raise InputError(f"true_calibration_error has no scenario {missing[0]}: delete the table")
    return {s.name: errors[s.name, s.curve.name] / 100 for s, _ in scenarios}


def groups_of(models: pd.DataFrame, path: Path | str) -> dict[str, str]:
    """Return {model: group}, its data set, of the models table read from ``path``."""
    validate_columns(models, ("model", "group"), path, "give the models table")
    return dict(zip(models["model"], models["group"], strict=True))


def is_true(column: pd.Series) -> pd.Series:
    """Return a boolean Series of a CSV column of True and False."""
    return column.astype(str).str.lower() == "true"
