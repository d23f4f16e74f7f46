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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calbias.errors import InputError
from calbias.io.files import file_digest

COLUMNS = ("scenario", "n_samples", "n_bins", "replicate", "estimate", "n_bins_used")
_METADATA = b"calbias"


class ReplicateCell(NamedTuple):
    """What replicates share; n_bins is -1 where the estimator chooses it, 0 where it has none."""

    scenario: str
    n_samples: int
    n_bins: int


class Estimates(NamedTuple):
    """The replicates of a cell: their numbers, estimates (fractions) and bins used, each (m,)."""

    replicate: np.ndarray
    estimate: np.ndarray
    n_bins_used: np.ndarray

    def first(self, m: int) -> "Estimates":
        """Return the first m replicates."""
        return Estimates(*(array[:m] for array in self))

    def extended(self, other: "Estimates") -> "Estimates":
        """Return these replicates followed by ``other``."""
        return Estimates(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


NOTHING = Estimates(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


ReplicateCells = dict[ReplicateCell, Estimates]
Replicates = dict[str, ReplicateCells]  # by estimator


def write_replicates(
    path: Path, cells: ReplicateCells, keys: Mapping[ReplicateCell, str], provenance: dict[str, Any]
) -> None:
    """Write the estimates and the key of each cell, in their order, and a dict of provenance."""
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
    rows = [[*cell, keys[cell], size] for cell, size in zip(cells, sizes, strict=True)]
    metadata = {"provenance": provenance, "keys": rows, "checksum": _checksum(table, rows)}
    table = table.replace_schema_metadata({_METADATA: json.dumps(metadata, sort_keys=True)})
    pq.write_table(table, path, compression="zstd")


def read_replicates(path: Path) -> tuple[ReplicateCells, dict[ReplicateCell, str], dict[str, Any]]:
    """Return (estimates by cell, key by cell, provenance) of a replicate file, if it is whole."""
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
        cell = ReplicateCell(scenario, n_samples, n_bins)
        cells[cell] = Estimates(*(array[start : start + size] for array in arrays))
        keys[cell] = key
        start += size
    return cells, keys, metadata["provenance"]


def kept(path: Path) -> Path:
    """Return the second name of a replicate file, under which the next run finds what it held."""
    path = Path(path)
    return path.with_name(f".kept-{path.name}")


def keep(path: Path) -> None:
    """Give a replicate file its second name: a hard link, or a copy where there are none."""
    temporary = kept(path).with_suffix(f".{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    try:
        os.link(path, temporary)
    except OSError:
        shutil.copy2(path, temporary)
    os.replace(temporary, kept(path))


def _arrow(values: np.ndarray) -> pa.Array:
    """Return numbers as an Arrow array; ``pa.array`` imports pandas, 0.25 s."""
    buffers = [None, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _texts(names: Iterable[str]) -> pa.Array:
    """Return strings as an Arrow array, without pandas too."""
    texts = [name.encode() for name in names]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = map(pa.py_buffer, (ends, b"".join(texts)))
    return pa.StringArray.from_buffers(len(texts), *buffers)


def _checksum(table: pa.Table, keys: list[Any]) -> str:
    """Return a digest of the rows' values and of the cells' keys and sizes."""
    digest = hashlib.sha256(json.dumps(keys).encode())
    for name in COLUMNS:
        column = table[name].combine_chunks()
        if name == "scenario":
            digest.update("\n".join(column.dictionary.to_pylist()).encode())
            column = column.indices
        digest.update(memoryview(column.buffers()[1])[: column.nbytes])
    return digest.hexdigest()


def gather_shards(paths: Iterable[Path], **expected: Any) -> dict[str, ReplicateCells]:
    """Return {estimator: {cell: Estimates}} from replicate files, in order of the replicate.

    A file must say of itself what ``expected`` (see ``drawn_with``) and its path do: nothing left
    over from another configuration counts.
    """
    parts: dict[str, dict[ReplicateCell, list[Estimates]]] = {}
    wanted = {}
    for path in paths:
        cells, _, provenance = read_replicates(path)
        _check_origin(path, provenance, expected)
        estimator = parts.setdefault(provenance["estimator"], {})
        wanted[provenance["estimator"]] = provenance["replicates"]
        for cell, estimates in cells.items():
            estimator.setdefault(cell, []).append(estimates)
    return {
        name: {cell: _joined(name, cell, shards, wanted[name]) for cell, shards in cells.items()}
        for name, cells in parts.items()
    }


def drawn_with(scenarios: Path, seed: int, n_replicates: int) -> dict[str, Any]:
    """Return what files drawn from the scenario table at this path must say of themselves."""
    return {"seed": seed, "replicates": n_replicates, "scenarios": file_digest(scenarios)}


def _check_origin(path: Path, provenance: dict[str, Any], expected: dict[str, Any]) -> None:
    path = Path(path)
    named = dict(zip(("shard", "shards"), path.stem.split("-of-"), strict=False))
    for name, value in {"estimator": path.parent.name, **named, **expected}.items():
        if str(provenance.get(name)) != str(value):
            values = "" if name == "scenarios" else f" {provenance.get(name)}, not {value}"
            raise InputError(
                f"{path}: it was made with other {name}{values}: delete it and run again: only its "
                "replicates are drawn again"
            )


def _joined(estimator: str, cell: ReplicateCell, shards: Sequence[Estimates], m: int) -> Estimates:
    joined = Estimates(*(np.concatenate(arrays) for arrays in zip(*shards, strict=True)))
    order = np.argsort(joined.replicate, kind="stable")
    joined = Estimates(*(array[order] for array in joined))
    if not np.array_equal(joined.replicate, np.arange(m)):
        raise InputError(
            f"replicates of {estimator} on {cell.scenario}, n = {cell.n_samples}: the shards do "
            f"not hold each of {m} once; delete results/replicates and run again"
        )
    return joined
