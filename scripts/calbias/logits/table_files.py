"""Read a table of any format as pyarrow columns, with the place that an error message names.

Text tables have a header line; commas, semicolons, tabs or bars separate the cells, as the header
shows. JSON lines hold an object a line. Tables may be compressed by gzip. The path ``-`` is
standard input, whose format is seen from its first bytes.
"""

import csv
import gzip
import itertools
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.io.tables import csv_rows
from calbias.logits.checks import Place
from calbias.logits.harness import flattened

STANDARD_INPUT = "-"
TEXT = (".csv", ".tsv", ".txt")
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
SUFFIXES = (*TEXT, *JSON_LINES, *PARQUET)
_DELIMITERS = ",;\t|"  # the first of those that occur equally often
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_HEADER_BYTES = 1 << 20


def is_standard_input(path: Path | str) -> bool:
    """Return whether a path stands for standard input."""
    return str(path) == STANDARD_INPUT


def table_suffix(path: Path | str) -> str:
    """Return the suffix of a table's format in lower case, without ``.gz``; "" for ``-``."""
    name = Path(path).name.lower().removesuffix(".gz")
    return Path(name).suffix


def read_table(path: Path | str) -> tuple[Any, Place]:
    """Return (pyarrow Table, Place) of a table; InputError, with its line, for a damaged one."""
    if is_standard_input(path):
        path, data = Path("standard input"), sys.stdin.buffer.read()
        suffix = ""
    else:
        path, suffix = Path(path), table_suffix(path)
        if path.is_dir():
            return _parquet(path), Place(path, "the table")
        data = path.read_bytes()
    data = _decompressed(path, data)
    suffix = suffix if suffix in SUFFIXES else _suffix_of(data)
    if suffix in PARQUET:
        return _parquet(path, data), Place(path, "the table")
    if suffix in JSON_LINES:
        return _json_lines(path, data)
    return _text(path, data)


def _decompressed(path: Path, data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file ({error}); compress the table again") from None


def _suffix_of(data: bytes) -> str:
    if data.startswith(_PARQUET):
        return ".parquet"
    return ".jsonl" if data[:_HEADER_BYTES].lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"{" else ".csv"


def _text(path: Path, data: bytes) -> tuple[Any, Place]:
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, read_csv

    if not data.strip():
        raise InputError(f"{path}: the file is empty; the first line names the columns")
    delimiter = _delimiter(data)

    def rows() -> Iterator[tuple[int, list[str]]]:
        return csv_rows(path, data, delimiter)

    try:
        table = read_csv(
            pa.BufferReader(data),
            parse_options=ParseOptions(delimiter=delimiter),
            convert_options=ConvertOptions(strings_can_be_null=True),
        )
        table.column_names  # noqa: B018 - names are decoded here
    except (pa.ArrowException, UnicodeDecodeError) as error:
        for _ in rows():
            pass  # its error says more: it names the line
        raise unreadable(path, "CSV table", error) from error
    line_of = lambda row: next(itertools.islice(rows(), row + 1, None))[0]  # noqa: E731
    return table, Place(path, "the table", None, line_of)


def _delimiter(data: bytes) -> str:
    """Return the separator that is most frequent in the header outside of quotes; else a comma."""
    lines = data[:_HEADER_BYTES].decode("utf-8", "replace").splitlines()
    header = next(filter(str.strip, lines), "")
    counts = {}
    for delimiter in _DELIMITERS:
        try:
            counts[delimiter] = len(next(csv.reader([header], delimiter=delimiter)))
        except csv.Error:
            counts[delimiter] = 0
    return max(_DELIMITERS, key=lambda mark: counts[mark])


def _json_lines(path: Path, data: bytes) -> tuple[Any, Place]:
    import pyarrow as pa

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not in UTF-8; save it as UTF-8") from None
    lines = [(k, line) for k, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty; write one JSON object a line")
    records, numbers = _array(path, text), None
    if records is None:
        records, numbers = [_object(path, *line) for line in lines], [k for k, _ in lines]
    line_of = None if numbers is None else numbers.__getitem__
    place = Place(path, "the table", None, line_of)
    records = flattened(records, place)
    names = dict.fromkeys(itertools.chain.from_iterable(records))
    columns = {name: _column([record.get(name) for record in records]) for name in names}
    return pa.table(columns), place


def _array(path: Path, text: str) -> list[Any] | None:
    """Return the objects of a list, or the one object of many lines; None for an object a line."""
    is_list = text.lstrip().startswith("[")
    if not is_list and not text.lstrip().startswith("{\n"):
        return None
    try:
        records = json.loads(text)
    except ValueError as error:
        if not is_list:
            return None
        raise InputError(f"{path}: no JSON ({error}); write one object a line") from None
    if not is_list:
        return [records]
    if not records or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path}: no list of JSON objects; write one object a line")
    return records


def _object(path: Path, number: int, line: Any) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        reason = getattr(error, "msg", error)
        raise InputError(
            f"{path}, line {number}: no JSON ({reason}); write one object a line"
        ) from None
    if not isinstance(record, dict):
        raise InputError(
            f"{path}, line {number}: no JSON object; write one object a line, such as "
            '{"score": 0.9, "hit": 1}'
        )
    return record


def _column(cells: Any) -> Any:
    """Return cells as a pyarrow array; as texts where their types differ."""
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if cell is None else str(cell) for cell in cells])


def _parquet(path: Path, data: bytes | None = None) -> Any:
    """Return the table of a file's bytes, or of all Parquet files in a folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if data is None:
            return parquet_folder(path).to_table()
        source = pa.BufferReader(data)
        validate_unique(path, pq.read_schema(source).names)
        source.seek(0)
        return pq.read_table(source)
    except InputError:
        raise
    except (pa.ArrowException, ValueError, OSError) as error:
        raise unreadable(path, "Parquet table", error) from error


def parquet_folder(path: Path | str) -> Any:
    """Return the pyarrow data set of a Parquet file or folder; InputError for an empty folder."""
    import pyarrow.dataset as ds

    data = ds.dataset(path, format="parquet")
    if not data.files:
        raise InputError(f"{path}: a folder without Parquet files; give a file")
    return data


def unreadable(path: Path | str, kind: str, error: Exception) -> InputError:
    """Return the InputError of a damaged table."""
    reason = (str(error) or type(error).__name__).splitlines()[0].removesuffix(".")
    return InputError(f"{path}: no readable {kind}: {reason}; write it again")


def validate_unique(path: Path | str, names: Sequence[str]) -> None:
    """Raise InputError for two columns of one name."""
    counts = Counter(filter(None, names))
    repeated = next((name for name, count in counts.items() if count > 1), None)
    if repeated:
        raise InputError(
            f"{path}: two columns are called {repeated}; rename one, or drop it (the first line "
            "of a text table names its columns)"
        )
