"""Parquet files and folders: columns are read when asked for, in parts where rows are many.

Lists, objects and bytes are no scores or labels: such columns are never read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from calbias.errors import InputError, of_extra, reading
from calbias.io.limits import validate_unpacked
from calbias.reading.cells import has_value, rows_where
from calbias.reading.facts import EMPTY, Facts, facts_of
from calbias.reading.harness_logs import flattened, is_log
from calbias.reading.output_file import Place
from calbias.reading.table import INDEX, Table, column_of, concatenated, table_of

_PURPOSE, _AGAIN = "a Parquet file", "write it again"
_BATCH = 1 << 20


def read_parquet(path: Path, data: bytes | None) -> tuple[Table, Place]:
    """Return the table of a file's bytes, or of all Parquet files in a folder."""
    pa = of_extra(_PURPOSE, "pyarrow")
    with reading(path, "Parquet table", _AGAIN):
        sources = _files(path) if data is None else [pa.BufferReader(data)]
        n_bytes = sum(f.stat().st_size for f in sources) if data is None else len(data)
        table = ParquetTable(path, sources, n_bytes)
        location = Place(path, "the table")
        if is_log(table.all_names):
            return _of_log(table, location)
    return table, location


def _files(path: Path) -> list[Path]:
    files = sorted(file for pattern in ("*.parquet", "*.pq") for file in path.rglob(pattern))
    files = [
        f for f in files if not any(p.startswith(("_", ".")) for p in f.parts[len(path.parts) :])
    ]
    if not files:
        raise InputError(f"{path}: a folder without Parquet files; give a file")
    return files


def large_table(path: Path, least: int) -> ParquetTable | None:
    """Return the table of a Parquet file or folder of more rows than ``least``, else None."""
    if not path.is_dir() and (path.suffix.lower() not in (".parquet", ".pq") or not path.is_file()):
        return None
    with reading(path, "Parquet table", _AGAIN):
        of_extra(_PURPOSE, "pyarrow")
        sources = _files(path) if path.is_dir() else [path]
        table = ParquetTable(path, sources, sum(file.stat().st_size for file in sources))
    return table if table.n_rows > least and not is_log(table.all_names) else None


class ParquetTable(Table):
    """The table of Parquet files; ``where`` are (column, value) of the rows that count."""

    def __init__(
        self, path: Path, sources: Sequence[Any], n_bytes: int, where: Sequence[str] = ()
    ) -> None:
        pq = of_extra(_PURPOSE, "pyarrow.parquet")
        self.path, self.sources, self.n_bytes, self.where = path, sources, n_bytes, (*where,)
        self._pq = pq
        files = [pq.ParquetFile(source) for source in sources]
        schema = files[0].schema_arrow
        for source, file in zip(sources[1:], files[1:], strict=True):
            if different := {*schema.names} ^ {*file.schema_arrow.names}:
                raise InputError(
                    f"{source}: the columns differ from {sources[0]}: {sorted(different)[0]} is in "
                    "one of them only; give files with the same columns"
                )
        self.all_names, self.types = (
            schema.names,
            dict(zip(schema.names, schema.types, strict=True)),
        )
        counts = Counter(self.all_names)
        several = [name for name, count in counts.items() if count > 1]
        names = [n for n in counts if n.strip() and not INDEX.fullmatch(n) and counts[n] == 1]
        n_rows = sum(file.metadata.num_rows for file in files)
        super().__init__(names, n_rows, self._column, [f"{n} (several)" for n in several], several)

    def is_plain(self, name: str) -> bool:
        """Return whether the cells of a column are numbers, truth values, times or texts."""
        types = of_extra(_PURPOSE, "pyarrow").types
        kind = self.types[name]
        kind = kind.value_type if types.is_dictionary(kind) else kind
        names = ("integer", "floating", "boolean", "decimal", "temporal", "string", "null")
        return any(getattr(types, f"is_{each}")(kind) for each in (*names, "large_string"))

    def facts(self, name: str) -> Facts:
        """Return the facts of a column, read in parts where it is not in memory."""
        if name in self._facts or self.n_rows <= _BATCH or not self.is_plain(name):
            return super().facts(name)
        total = Facts(EMPTY, ())
        for _, part in self.parts([name]):
            total = total + facts_of(part[name])
        self._facts[name] = total
        return total

    def head(self) -> Table:
        """Return the first rows, which tell readings apart."""
        if self.n_rows <= _BATCH:
            return self
        return _Head(self)

    def parts(self, names: Sequence[str]) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray]]]:
        """Yield the rows' numbers and these columns of a million rows each, as ``where`` says."""
        chosen = [text.partition("=")[::2] for text in self.where]
        wanted = [*dict.fromkeys((*names, *(name for name, _ in chosen)))]
        with reading(self.path, "Parquet table", _AGAIN):
            self._validate_size(wanted)
            yield from self._parts(wanted, chosen)

    def _parts(
        self, wanted: Sequence[str], chosen: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray]]]:
        done = 0
        for source in self.sources:
            file = self._pq.ParquetFile(_opened(source), read_dictionary=self._texts(wanted))
            for batch in file.iter_batches(_BATCH, columns=wanted, use_threads=False):
                part = {n: of_arrow(batch.column(n)) for n in wanted}
                rows = np.arange(done, done + len(batch))
                done += len(batch)
                for name, value in chosen:
                    kept = rows_where(part, name, partial(has_value, value=value))
                    part = {each: column[kept] for each, column in part.items()}
                    rows = rows[kept]
                yield rows, part

    def _column(self, name: str) -> np.ndarray:
        if not self.is_plain(name):
            return np.full(self.n_rows, str(self.types[name]), object)
        with reading(self.path, "Parquet table", _AGAIN):
            self._validate_size([name])
            columns = [
                of_arrow(
                    self._pq.ParquetFile(_opened(source), read_dictionary=self._texts([name]))
                    .read(columns=[name])
                    .column(0)
                )
                for source in self.sources
            ]
        return concatenated(columns)

    def _texts(self, names: Sequence[str]) -> list[str]:
        types = of_extra(_PURPOSE, "pyarrow").types
        kinds = (types.is_string, types.is_large_string)
        return [name for name in names if any(is_kind(self.types[name]) for is_kind in kinds)]

    def _validate_size(self, names: Sequence[str]) -> None:
        """Raise InputError where columns are too large for the bytes of the files."""
        validate_unpacked(self.path, 8 * self.n_rows * len(names), self.n_bytes)
        n_bytes = 0
        for source in self.sources:
            metadata = self._pq.ParquetFile(_opened(source)).metadata
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            chunks = (group.column(k) for group in groups for k in range(group.num_columns))
            n_bytes += sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in names)
        validate_unpacked(self.path, n_bytes, self.n_bytes)


class _Head(Table):
    """The first rows of a large Parquet table."""

    def __init__(self, table: ParquetTable) -> None:
        def load(name: str) -> np.ndarray:
            return next(iter(table.parts([name])))[1][name]

        n_rows = len(next(iter(table.parts([next(iter(table))])))[0])
        super().__init__([*table], n_rows, load, table.left_out, table.repeated)


def _opened(source: Any) -> Any:
    if not isinstance(source, Path):
        source.seek(0)
    return source


def _of_log(table: ParquetTable, location: Place) -> tuple[Table, Place]:
    pq = of_extra(_PURPOSE, "pyarrow.parquet")
    validate_unpacked(table.path, 8 * table.n_rows * len(table.all_names), table.n_bytes)
    files = [pq.ParquetFile(_opened(source)).read() for source in table.sources]
    records, location = flattened([row for each in files for row in each.to_pylist()], location)
    names = [*dict.fromkeys(name for record in records for name in record)]
    columns = [column_of([each.get(name) for each in records]) for name in names]
    return table_of(location.file, names, columns), location


def of_arrow(column: Any) -> np.ndarray:
    """Return a column or a part of one as a column of a Table; texts once, however often."""
    pa = of_extra(_PURPOSE, "pyarrow")
    if pa.types.is_dictionary(column.type):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        parts = [_from_dictionary(chunk) for chunk in chunks]
        return np.concatenate(parts) if parts else np.empty(0, object)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    is_whole = isinstance(column, pa.ChunkedArray)
    values = column.to_numpy() if is_whole else column.to_numpy(zero_copy_only=False)
    return values if values.dtype.kind in "iufbM" else column_of(values)


def _from_dictionary(chunk: Any) -> np.ndarray:
    values = column_of([*chunk.dictionary.to_pylist(), None])
    values = values.astype(object)
    rows = chunk.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return values[rows.astype(np.int64)]
