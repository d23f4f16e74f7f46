"""Replicate files: one estimate per simulated data set, Parquet, that can be checked and extended.

The file's metadata holds for each cell (scenario, n_samples, n_bins) a key of what its numbers
depend on – code, scenario, norm, seed, shard; not the versions of packages – and a checksum of the
rows. A later run keeps the cells whose key is unchanged, adds the missing replicates and cells, and
draws nothing twice. For that the file has a second, hidden name in the same folder: Snakemake
deletes an output before its job runs, and after the job failed.
"""

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calbias.errors import InputError

COLUMNS = ("scenario", "n_samples", "n_bins", "replicate", "estimate", "n_bins_used")
_METADATA = b"calbias"


class Cell(NamedTuple):
    """What replicates share; n_bins is -1 where the estimator chooses it, 0 where it has none."""

    scenario: str
    n_samples: int
    n_bins: int


class Estimates(NamedTuple):
    """The replicates of a cell: their numbers, estimates (fractions) and bins used, each (m,)."""

    replicate: np.ndarray
    estimate: np.ndarray
    n_bins_used: np.ndarray

    def first(self, m):
        """Return the first m replicates."""
        return Estimates(*(array[:m] for array in self))

    def extended(self, other):
        """Return these replicates followed by ``other``."""
        return Estimates(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


NOTHING = Estimates(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


def write_replicates(path, cells, keys, provenance):
    """Write {Cell: Estimates} with {Cell: key} and a dict of provenance, in the order of cells."""
    sizes = [estimates.estimate.size for estimates in cells.values()]
    names = list(dict.fromkeys(cell.scenario for cell, n in zip(cells, sizes, strict=True) if n))
    numbers = {name: number for number, name in enumerate(names)}
    _, n_samples, n_bins = zip(*cells, strict=True)
    of_cells = [numbers.get(cell.scenario, 0) for cell in cells], n_samples, n_bins
    columns = (
        *(np.repeat(values, sizes) for values in of_cells),
        *map(np.concatenate, zip(*cells.values(), strict=True)),
    )
    arrays = [
        _arrow(values.astype(np.float64 if name == "estimate" else np.int32))
        for name, values in zip(COLUMNS, columns, strict=True)
    ]
    # a dictionary of the names that occur: others would not be read back
    arrays[0] = pa.DictionaryArray.from_arrays(arrays[0], _texts(names))
    table = pa.Table.from_arrays(arrays, names=list(COLUMNS))
    keys = [[*cell, keys[cell], size] for cell, size in zip(cells, sizes, strict=True)]
    metadata = {"provenance": provenance, "keys": keys, "checksum": _checksum(table, keys)}
    table = table.replace_schema_metadata({_METADATA: json.dumps(metadata, sort_keys=True)})
    pq.write_table(table, path, compression="zstd")


def read_replicates(path):
    """Return ({Cell: Estimates}, {Cell: key}, provenance) of a replicate file, if it is whole."""
    remedy = "delete it and run again: only its replicates are drawn again"
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such replicate file")
    try:
        table = pq.read_table(path)
        metadata = json.loads(table.schema.metadata[_METADATA])
        unchanged = _checksum(table, metadata["keys"]) == metadata["checksum"]
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}: not a whole replicate file ({type(error).__name__}): {remedy}"
        ) from error
    if not unchanged:
        raise InputError(f"{path}: its rows differ from its checksum, so it was edited: {remedy}")
    arrays = [table[name].to_numpy() for name in Estimates._fields]
    cells, keys, start = {}, {}, 0
    for scenario, n_samples, n_bins, key, size in metadata["keys"]:
        cell = Cell(scenario, n_samples, n_bins)
        cells[cell] = Estimates(*(array[start : start + size] for array in arrays))
        keys[cell] = key
        start += size
    return cells, keys, metadata["provenance"]


def kept(path):
    """Return the second name of a replicate file, under which the next run finds what it held."""
    path = Path(path)
    return path.with_name(f".kept-{path.name}")


def keep(path):
    """Give a replicate file its second name: a hard link, or a copy where there are none."""
    temporary = kept(path).with_suffix(f".{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    try:
        os.link(path, temporary)
    except OSError:
        shutil.copy2(path, temporary)
    os.replace(temporary, kept(path))


def _arrow(values):
    """Return numbers as an Arrow array; ``pa.array`` imports pandas, 0.25 s."""
    buffers = [None, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _texts(names):
    """Return strings as an Arrow array, without pandas too."""
    texts = [name.encode() for name in names]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = map(pa.py_buffer, (ends, b"".join(texts)))
    return pa.StringArray.from_buffers(len(texts), *buffers)


def _checksum(table, keys):
    """Return a digest of the rows' values and of the cells' keys and sizes."""
    digest = hashlib.sha256(json.dumps(keys).encode())
    for name in COLUMNS:
        column = table[name].combine_chunks()
        if name == "scenario":
            digest.update("\n".join(column.dictionary.to_pylist()).encode())
            column = column.indices
        digest.update(memoryview(column.buffers()[1])[: column.nbytes])
    return digest.hexdigest()
