"""Read the rows of a run's CSV or Parquet table, with the line that an error message names.

pyarrow is imported where it is used: ``read_rows`` of a CSV file does not need it.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.io.files import csv_rows, file_digest, remedy
from pipeline.results import record_of


def read_rows(path: Path | str, columns: Sequence[str] = ()) -> list[tuple[int, dict[str, Any]]]:
    """Return [(line, {column: cell})] of a table that has at least these ``columns``.

    Cells of CSV are text; ``line`` is where an editor shows the row. InputError names it.
    """
    validate_file(path)
    if Path(path).suffix == ".parquet":
        table = read_parquet(path)
        _validate_columns(path, table.column_names, columns)
        return list(enumerate(table.to_pylist(), start=1))
    lines = csv_rows(path)
    _, header = next(lines)
    _validate_columns(path, header, columns)
    return [(line, dict(zip(header, cells, strict=True))) for line, cells in lines]


def _validate_columns(path: Path | str, header: Sequence[str], columns: Sequence[str]) -> None:
    is_whole = set(columns) <= set(header)
    if not is_whole and len(header) == 1 and (found := set(";\t ") & set(header[0])):
        names = {";": "semicolons", "\t": "tabs", " ": "spaces"}
        raise InputError(
            f"{path}, line 1: the columns are separated by {names[min(found)]}; use commas"
        )
    validate_columns(header, columns, path, f"it needs the columns {', '.join(columns)}")
    repeated = [name for name in header if header.count(name) > 1]
    if repeated:
        raise InputError(f"{path}: column {repeated[0]} is there twice; remove one")


def validate_columns(
    found: Collection[str], needed: Iterable[str], path: Path | str, remedy: str
) -> None:
    """Raise InputError for the first of the columns needed that was not found."""
    if missing := [name for name in needed if name not in found]:
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
