"""Write rows as a CSV or Parquet table without pandas, whose import takes a quarter of a second.

``pa.array`` imports it too: arrays are made from their buffers.
"""

import csv

import numpy as np


def write_rows(path, columns, rows):
    """Write a list of tuples, below the names of the columns; None and NaN are empty cells."""
    if path.suffix == ".parquet":
        import pyarrow as pa

        values = zip(*rows, strict=True) if rows else ((),) * len(columns)
        write_parquet(path, pa.table([_array(column) for column in values], names=columns))
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([x if _is_known(x) else None for x in row] for row in rows)


def write_parquet(path, table):
    """Write an Arrow table."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd", write_page_checksum=True)


def _array(values):
    import pyarrow as pa

    n, is_known = len(values), np.array([_is_known(x) for x in values], bool)
    known = [x for x in values if _is_known(x)]
    if not known:
        return pa.nulls(n, pa.null() if set(values) <= {None} else pa.float64())
    valid = None if is_known.all() else _bits(is_known)
    if isinstance(known[0], str):
        texts = [x.encode() if _is_known(x) else b"" for x in values]
        ends = np.cumsum([0, *map(len, texts)])
        buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
        return pa.Array.from_buffers(pa.large_string(), n, buffers)
    numbers = np.zeros(n, np.array(known).dtype)
    numbers[is_known] = known
    data = _bits(numbers) if numbers.dtype == bool else pa.py_buffer(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), n, [valid, data])


def _is_known(x):
    return x is not None and x == x  # NaN differs from itself


def _bits(flags):
    import pyarrow as pa

    return pa.py_buffer(np.packbits(flags, bitorder="little"))
