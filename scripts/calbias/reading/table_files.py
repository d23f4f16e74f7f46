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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calbias.errors import InputError, reading
from calbias.io.files import csv_rows, is_stream, not_utf8
from calbias.io.limits import gunzipped
from calbias.reading.cells import THOUSANDS, as_number
from calbias.reading.harness_logs import LOG
from calbias.reading.json_records import read_records
from calbias.reading.output_file import Place
from calbias.reading.table import Table, column_of, concatenated, table_of

FILE = "file"
TEXT = (".csv", ".tsv", ".tab", ".txt")
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
SUFFIXES = (*TEXT, *JSON_LINES, *PARQUET)
_DELIMITERS = ",;\t|"  # the first of those that occur equally often
_EXACT_PANDAS = 3
_EMPTY = ["", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "-nan", "<NA>", "?"]
_AGAIN = "write it again"
_CELLS_PER_BYTE, _FREE_CELLS = 8, 1 << 20  # of JSON: an object needs not have all names
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_HEADER_BYTES = 1 << 20
_ROLES = {"", "meta", "class", "i", "m", "ignore", "weight"}  # of columns, in Orange's files
_SEPARATOR = re.compile(rb'(\xef\xbb\xbf)?"?sep=([,;\t|])"?\r?\n')  # Excel's first line
_LEADING_ZERO = re.compile(rb"(?:^|[,;\t|\"\s])[+-]?0\d")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*%?")


def table_suffix(path: Path | str) -> str:
    """Return the suffix of a table's format in lower case, without ``.gz``; "" for ``-``."""
    name = Path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_table(path: Path | str | Sequence[Path | str]) -> tuple[Table, Place]:
    """Return (Table, Place) of a table, or of several with the same columns, one after the other.

    InputError, with its line, for a damaged one, and for the same file twice.
    """
    if not isinstance(path, str | Path):
        tables, seen = [], dict[Any, Path | str]()
        for each in path:
            tables.append(read_table(each))
            is_log = tables[-1][1].part == LOG  # of other tasks may be equal
            data: Any = str(Path(each).resolve())
            if Path(each).is_file() and not is_log:
                data = Path(each).read_bytes()
            if data in seen:
                raise InputError(f"{each}: the same as {seen[data]}: give each file once")
            seen[data] = each
        return _joined(tables)
    return _parsed(*_unpacked(path))


def read_table_and_cells(path: Path | str) -> tuple[Table, Place, list[list[Any]], str]:
    """Return (Table, Place), and its names and rows as they are written, and their separator."""
    name, data, suffix = _unpacked(path)
    table, location = _parsed(name, data, suffix)
    if data is not None and suffix not in (*JSON_LINES, *PARQUET):
        delimiter = _delimiter(data)
        rows = [cells for _, cells in csv_rows(name, data, delimiter)]
        if len(rows) - 1 == table.n_rows:  # lines of types are no rows
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
        from calbias.reading.parquet import read_parquet

        return read_parquet(path, data)
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
    columns = {name: concatenated([table[name] for table, _ in tables]) for name in first}
    sizes = [table.n_rows for table, _ in tables]
    starts = np.cumsum([0, *sizes])
    if FILE not in columns and location.part != LOG:
        columns[FILE] = np.repeat(np.array([str(p.file) for _, p in tables], object), sizes)

    def where(row: int) -> str:
        number = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[number][1].named(row - int(starts[number]))

    name = Path(f"{location.file} and {len(others)} more")
    table = Table([*columns], sum(sizes), columns.__getitem__, first.left_out, first.repeated)
    return table, Place(name, location.part, None, where, location.has_semicolons)


def _suffix_of(data: bytes) -> str:
    if data.startswith(_PARQUET):
        return ".parquet"
    return ".jsonl" if data[:_HEADER_BYTES].lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"{" else ".csv"


def _text(path: Path, data: bytes) -> tuple[Table, Place]:
    delimiter = None
    if match := _SEPARATOR.match(data):  # its line stays, empty
        data, delimiter = b"\n" + data[match.end() :], match[2].decode()
    if not data.strip():
        raise InputError(f"{path}: the file is empty; the first line names the columns")
    delimiter = delimiter or _delimiter(data)
    line, header = next(csv_rows(path, data, delimiter))
    is_text = len(header) == 1 and len(header[0].split()) != 1
    is_comment = header[0].lstrip().startswith("#")
    if is_text or is_comment or all(as_number(name) is not None for name in header):
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

    location = Place(path, "the table", None, where, delimiter == ";")
    return table_of(path, header, columns), location


def _cells(
    path: Path, data: bytes, delimiter: str, n_columns: int, skipped: int = 0
) -> list[np.ndarray]:
    """Return the columns of a text table, without so many lines after the header."""
    import pandas as pd

    lines = io.BytesIO(data)
    with io.TextIOWrapper(lines, "utf-8", "replace", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        next(cells for cells in reader if cells)
        n_lines = reader.line_num
    ends = itertools.islice(re.finditer(rb"\r\n|\n|\r|\Z", data), n_lines - 1, None)
    body = data[next(ends).end() :]  # pandas would rename what repeats, slowly

    if int(pd.__version__.partition(".")[0]) < _EXACT_PANDAS:  # older ones err in the last digit
        exact: dict[str, Any] = {"float_precision": "round_trip"}
    else:
        exact = {}

    def read(**options: Any) -> Any:
        return pd.read_csv(
            io.BytesIO(body), sep=delimiter, header=None, names=range(n_columns), skiprows=skipped,
            index_col=False, keep_default_na=False, na_values=_EMPTY, low_memory=False,
            **exact, **options,
        )  # fmt: skip

    if not body.strip():
        return [np.empty(0, object)] * n_columns
    with reading(path, "CSV table", _AGAIN):
        try:
            frame = read()
            number_columns = [k for k, column in frame.items() if column.dtype.kind in "iuf"]
            if number_columns and _LEADING_ZERO.search(body):
                texts = read(usecols=number_columns, dtype=str)
                for k in number_columns:
                    if texts[k].str.match(r"\s*[+-]?0\d").any():
                        frame[k] = texts[k]
        except UnicodeDecodeError:
            raise not_utf8(path, data) from None
    return [
        column.to_numpy()
        if column.dtype.kind in "iufb"
        else _of_texts(column.to_numpy(object), delimiter)
        for _, column in frame.items()
    ]


def _of_texts(cells: np.ndarray, delimiter: str) -> np.ndarray:
    """Return a column of texts, with points for decimal commas where commas do not separate."""
    column = column_of(cells)
    if delimiter == "," or column.dtype.kind != "O":
        return column
    with_commas = [cell for cell in column if cell is not None and "," in cell]
    decimals = {cell for cell in with_commas if _DECIMAL_COMMA.fullmatch(cell.strip())}
    if all(THOUSANDS.fullmatch(cell.strip()) for cell in decimals):
        return column  # none, or 1,234 beside 12, which the reader will name
    points = [cell.replace(",", ".") if cell in decimals else cell for cell in column]
    if all(cell is None or as_number(cell) is not None for cell in points):
        return np.array([np.nan if cell is None else float(cell) for cell in points])
    return column_of(points)


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
    columns = [column_of([each.get(name) for each in records]) for name in names]
    return table_of(path, names, columns, len(records))
