"""Read a table of any format as columns, with the place that an error message names.

Text tables have a header line; commas, semicolons, tabs or bars separate the cells, as the header
shows. JSON lines hold an object a line. Tables may be compressed by gzip. The path ``-`` is
standard input, whose format is seen from its first bytes. Parquet needs pyarrow.
"""

import csv
import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calbias.errors import InputError, of_extra, reading
from calbias.io.files import csv_rows, is_stream, not_utf8
from calbias.io.limits import gunzipped, validate_unpacked
from calbias.reading.harness_logs import LOG, flattened, is_log
from calbias.reading.json_records import read_records
from calbias.reading.output_file import Place

FILE = "file"
TEXT = (".csv", ".tsv", ".tab", ".txt")
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
SUFFIXES = (*TEXT, *JSON_LINES, *PARQUET)
Table = dict[str, np.ndarray]
"""{name: column (n,)}: of numbers, NaN where a cell is empty, of truth values or times; or of
objects: texts, and None where a cell is empty."""
_DELIMITERS = ",;\t|"  # the first of those that occur equally often
_EMPTY = ["", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "-nan", "<NA>", "?"]
_PURPOSE, _AGAIN = "a Parquet file", "write it again"
_CELLS_PER_BYTE, _FREE_CELLS = 8, 1 << 20  # of JSON: an object needs not have all names
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_HEADER_BYTES = 1 << 20
_ROLES = {"", "meta", "class", "i", "m", "ignore", "weight"}  # of columns, in Orange's files
_INDEX = re.compile(r"__index_level_\d+__")  # a saved row index


def table_suffix(path: Path | str) -> str:
    """Return the suffix of a table's format in lower case, without ``.gz``; "" for ``-``."""
    name = Path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_table(path: Path | str | Sequence[Path | str]) -> tuple[Table, Place]:
    """Return (Table, Place) of a table, or of several with the same columns, one after the other.

    InputError, with its line, for a damaged one.
    """
    if not isinstance(path, str | Path):
        return _joined([read_table(each) for each in path])
    return _parsed(*_unpacked(path))


def read_table_and_cells(path: Path | str) -> tuple[Table, Place, list[list[Any]], str]:
    """Return (Table, Place), and its names and rows as they are written, and their separator."""
    name, data, suffix = _unpacked(path)
    table, location = _parsed(name, data, suffix)
    if data is not None and suffix not in (*JSON_LINES, *PARQUET):
        delimiter = _delimiter(data)
        rows = [cells for _, cells in csv_rows(name, data, delimiter)]
        if len(rows) - 1 == len(next(iter(table.values()))):  # lines of types are no rows
            return table, location, rows, delimiter
    columns = [column.tolist() for column in table.values()]
    return table, location, [[*table], *map(list, zip(*columns, strict=True))], ","


def _unpacked(path: Path | str) -> tuple[Path, bytes | None, str]:
    """Return a name, the bytes and the suffix of the format of a file; no bytes of a folder."""
    if is_stream(path):
        path, data, suffix = *_streamed(path), ""
    else:
        path, suffix = Path(path), table_suffix(path)
        if path.is_dir():
            return path, None, PARQUET[0]
        data = path.read_bytes()
    if data.startswith(b"PK\x03\x04") or data.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError(f"{path}: an Excel workbook or a ZIP file; save the sheet as CSV")
    if data.startswith(_GZIP):
        with reading(path, "gzip file", "compress the table again"):
            data = gunzipped(path, data)
    return path, data, suffix if suffix in (*JSON_LINES, *PARQUET) else _suffix_of(data)


def _parsed(path: Path, data: bytes | None, suffix: str) -> tuple[Table, Place]:
    if data is None or suffix in PARQUET:
        return _parquet(path, data)
    return _json(path, data) if suffix in JSON_LINES else _text(path, data)


def _streamed(path: Path | str) -> tuple[Path, bytes]:
    """Return a name and the bytes of standard input or of a pipe."""
    if str(path) not in ("-", "/dev/stdin"):
        return Path(path), Path(path).read_bytes()
    if sys.stdin is None:
        raise InputError("standard input is closed: give a file, or send one by a pipe")
    return Path("standard input"), sys.stdin.buffer.read()


def _joined(tables: Sequence[tuple[Table, Place]]) -> tuple[Table, Place]:
    """Return the rows of all tables, which have the same columns, with a column of the files."""
    if len(tables) == 1:
        return tables[0]
    (first, location), *others = tables
    for table, other in others:
        if different := {*first} ^ {*table}:
            raise InputError(
                f"{other.file}: the columns differ from {location.file}: {sorted(different)[0]} is "
                "in one of them only; give files with the same columns"
            )
    columns = {name: _concatenated([table[name] for table, _ in tables]) for name in first}
    sizes = [len(next(iter(table.values()))) for table, _ in tables]
    starts = np.cumsum([0, *sizes])
    if FILE not in columns and location.part != LOG:
        columns[FILE] = np.repeat(np.array([str(p.file) for _, p in tables], object), sizes)

    def where(row: int) -> str:
        number = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[number][1].named(row - int(starts[number]))

    name = Path(f"{location.file} and {len(others)} more")
    return columns, Place(name, location.part, None, where)


def _concatenated(columns: Sequence[np.ndarray]) -> np.ndarray:
    if {column.dtype.kind for column in columns} <= {"i", "u", "f"} or (
        len({column.dtype for column in columns}) == 1 and columns[0].dtype.kind != "O"
    ):
        return np.concatenate(columns)
    return _column([cell for column in columns for cell in column.tolist()])


def as_number(text: str) -> float | None:
    """Return the number of a text, which may have a decimal comma, or None."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float(text.replace(",", ".")) if text.count(",") == 1 else None
    except ValueError:
        return None


def _suffix_of(data: bytes) -> str:
    if data.startswith(_PARQUET):
        return ".parquet"
    return ".jsonl" if data[:_HEADER_BYTES].lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"{" else ".csv"


def _text(path: Path, data: bytes) -> tuple[Table, Place]:
    if not data.strip():
        raise InputError(f"{path}: the file is empty; the first line names the columns")
    delimiter = _delimiter(data)
    line, header = next(csv_rows(path, data, delimiter))
    is_text = len(header) == 1 and len(header[0].split()) != 1
    if is_text or all(as_number(name) is not None for name in header):
        raise InputError(
            f"{path}, line {line}: {header[0]!r:.60} is not a line of names of columns; write such "
            "a line first, with commas, semicolons, tabs or bars between the names"
        )
    # pandas would fill a short row: the walk over the rows names its line
    counts = {line.count(delimiter.encode()) for line in data.splitlines() if line}
    if len(counts) > 1 or b'"' in data:
        for _ in csv_rows(path, data, delimiter):
            pass
    columns = _cells(path, data, delimiter, len(header))
    skipped = 2 if _has_types(columns) else 0
    if skipped:  # Orange's lines of types and of roles
        columns = _cells(path, data, delimiter, len(header), skipped)

    def where(row: int) -> str:
        start = row + 1 + skipped
        line = next(itertools.islice(csv_rows(path, data, delimiter), start, None))[0]
        return f"{path}, line {line}"

    return _named(path, header, columns), Place(path, "the table", None, where)


def _cells(
    path: Path, data: bytes, delimiter: str, n_columns: int, skipped: int = 0
) -> list[np.ndarray]:
    """Return the columns of a text table, without so many lines after the header."""
    import pandas as pd

    with reading(path, "CSV table", _AGAIN):
        try:
            frame = pd.read_csv(
                io.BytesIO(data), sep=delimiter, header=0, names=range(n_columns),
                skiprows=range(1, 1 + skipped), index_col=False, keep_default_na=False,
                na_values=_EMPTY, low_memory=False,
            )  # fmt: skip
        except UnicodeDecodeError:
            raise not_utf8(path, data) from None
    return [
        column.to_numpy() if column.dtype.kind in "iufb" else _column(column.to_numpy(object))
        for _, column in frame.items()
    ]


def _has_types(columns: Sequence[np.ndarray]) -> bool:
    """Return whether two lines of types and of roles follow the names, as Orange writes them."""
    if not all(column.dtype.kind == "O" and len(column) > 2 for column in columns):
        return False
    types, roles = ({str(column[k] or "") for column in columns} for k in (0, 1))
    return bool(types & {"continuous", "c"}) and roles <= _ROLES


def _delimiter(data: bytes) -> str:
    """Return the separator that is most frequent in the header outside of quotes; else a comma."""
    lines = data[:_HEADER_BYTES].decode("utf-8", "replace").splitlines()
    header = next(filter(str.strip, lines), "")

    def count(delimiter: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=delimiter)))
        except csv.Error:
            return 0

    return max(_DELIMITERS, key=count)


def _json(path: Path, data: bytes) -> tuple[Table, Place]:
    records, location = read_records(path, data)
    n_names = len({*itertools.chain.from_iterable(records)})
    if n_names * len(records) > max(_FREE_CELLS, _CELLS_PER_BYTE * len(data)):
        raise InputError(
            f"{path}: {len(records)} objects have {n_names} different names: write objects of "
            "the same names, one a row"
        )
    return _table_of(path, records), location


def _table_of(path: Path, records: Sequence[dict[str, Any]]) -> Table:
    names = [*dict.fromkeys(itertools.chain.from_iterable(records))]
    return _named(path, names, [_column([each.get(name) for each in records]) for name in names])


def _parquet(path: Path, data: bytes | None) -> tuple[Table, Place]:
    """Return the table of a file's bytes, or of all Parquet files in a folder."""
    pa, pq = of_extra(_PURPOSE, "pyarrow"), of_extra(_PURPOSE, "pyarrow.parquet")
    with reading(path, "Parquet table", _AGAIN):
        if data is None:
            files = parquet_folder(path)
            validate_rows_of_parquet(path, files.count_rows(), len(files.schema.names), files.files)
            table = files.to_table()
        else:  # no data set, which is slow to import
            table = _arrow_table(path, data, pa, pq)
        names, location = table.column_names, Place(path, "the table")
        if is_log(names):
            records, location = flattened(table.to_pylist(), location)
            return _table_of(path, records), location
        columns = [_of_arrow(column, pa) for column in table.columns]
    return _named(path, names, columns), location


def validate_rows_of_parquet(
    path: Path | str, n_rows: int, n_columns: int, files: Sequence[str]
) -> None:
    """Raise InputError where the rows of Parquet files are too many for their bytes."""
    n_bytes = sum(Path(file).stat().st_size for file in files)
    validate_unpacked(path, 8 * n_rows * n_columns, n_bytes)


def _is_text(kind: Any, pa: Any) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)


def parquet_folder(path: Path | str) -> Any:
    """Return the pyarrow data set of a Parquet file or folder; InputError for an empty folder."""
    data = of_extra(_PURPOSE, "pyarrow.dataset").dataset(path, format="parquet")
    if not data.files:
        raise InputError(f"{path}: a folder without Parquet files; give a file")
    return data


def _arrow_table(path: Path, data: bytes, pa: Any, pq: Any) -> Any:
    """Return the pyarrow table of a file's bytes, texts as dictionaries; its size is checked."""
    meta = pq.ParquetFile(pa.BufferReader(data))
    validate_unpacked(path, 8 * meta.metadata.num_rows * meta.metadata.num_columns, len(data))
    texts = [field.name for field in meta.schema_arrow if _is_text(field.type, pa)]
    file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    validate_unpacked(path, sum(group.total_byte_size for group in groups), len(data))
    return file.read()


def _of_arrow(column: Any, pa: Any) -> np.ndarray:
    """Return a pyarrow column as a column of a Table; a nested one as texts of its type."""
    if pa.types.is_dictionary(column.type):  # each value once, however many rows have it
        chunks = [_from_dictionary(chunk) for chunk in column.chunks]
        return np.concatenate(chunks) if chunks else np.empty(0, object)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_nested(column.type):
        return np.full(len(column), str(column.type), object)
    values = column.to_numpy()
    return values if values.dtype.kind in "iufbM" else _column(values)


def _from_dictionary(chunk: Any) -> np.ndarray:
    values = _column([*chunk.dictionary.to_pylist(), None])
    rows = chunk.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return values[rows.astype(np.int64)]


def _column(cells: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Return cells as a column of a Table: of numbers, if all that are not empty are."""
    values: list[Any] = [None if cell is None or cell != cell else cell for cell in cells]
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values)
    is_long = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values)
    is_text = is_long or kinds == {bool, type(None)}  # long ids would be rounded
    if kinds <= {bool, int, float, type(None)} and not is_text:
        return np.array(values, dtype=np.int64 if kinds == {int} else np.float64)
    column = np.empty(len(values), object)
    column[:] = [value if value is None else str(value) for value in values]
    return column


def _named(path: Path, names: Sequence[str], columns: Sequence[np.ndarray]) -> Table:
    """Return the Table of columns, without a saved row index; InputError for a repeated name."""
    names = [name.strip() for name in names]
    counts = Counter(filter(None, names))
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise InputError(
            f"{path}: two columns are called {repeated[0]}; rename one, or drop it (the first line "
            "of a text table names its columns)"
        )
    pairs = zip(names, columns, strict=True)
    return {name: column for name, column in pairs if not _INDEX.fullmatch(name)}
