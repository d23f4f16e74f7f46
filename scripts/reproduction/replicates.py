"""Replicate files: one estimate per simulated data set, Parquet, that can be checked and extended.

The file's metadata holds for each cell (scenario, n_samples, n_bins) a key of what its numbers
depend on: code, scenario, norm, seed, shard; not the versions of packages. A later run keeps the
cells whose key is unchanged, adds the missing replicates and cells, and draws nothing twice. For
that the file has a second, hidden name in the same folder: Snakemake deletes an output before its
job runs, and after the job failed.
"""

import itertools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calbias.errors import InputError
from calbias.io.files import file_digest
from pipeline.tables import validate_unchanged
from pipeline.write_results import record_of

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

    def every(self, n: int, k: int) -> "Estimates":
        """Return every n-th replicate from the k-th on."""
        return Estimates(*(array[k::n] for array in self))

    def extended(self, other: "Estimates") -> "Estimates":
        """Return these replicates followed by ``other``."""
        return Estimates(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


NOTHING = Estimates(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))


ReplicateCells = dict[ReplicateCell, Estimates]
Cells = Mapping[ReplicateCell, Estimates]
Replicates = Mapping[str, Cells]  # by estimator


def write_replicates(
    path: Path, cells: ReplicateCells, keys: Mapping[ReplicateCell, str], provenance: dict[str, Any]
) -> None:
    """Write the estimates and the key of each cell, in their order, and a dict of provenance.

    A cell is a row group, if it has rows.
    """
    rows = [[*cell, keys[cell], estimates.estimate.size] for cell, estimates in cells.items()]
    metadata = {_METADATA: json.dumps({"provenance": provenance, "cells": rows}, sort_keys=True)}
    first = next(iter(cells.items()))
    schema = _table(*first).schema.with_metadata(metadata)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for cell, estimates in cells.items():
            if size := estimates.estimate.size:
                writer.write_table(_table(cell, estimates), size)


def _table(cell: ReplicateCell, estimates: Estimates) -> pa.Table:
    """Return the rows of a cell."""
    size, name = estimates.estimate.size, cell.scenario.encode()
    columns: list[np.ndarray] = [
        *(np.full(size, value, np.int32) for value in (0, cell.n_samples, cell.n_bins)),
        estimates.replicate.astype(np.int32),
        estimates.estimate.astype(np.float64),
        estimates.n_bins_used.astype(np.int32),
    ]
    scenario, *numbers = map(_arrow, columns)
    ends = np.array([0, len(name)], np.int32)
    names = pa.StringArray.from_buffers(1, pa.py_buffer(ends), pa.py_buffer(name))
    named = pa.DictionaryArray.from_arrays(scenario, names)
    return pa.Table.from_arrays([named, *numbers], names=list(COLUMNS))


def _arrow(values: np.ndarray) -> pa.Array:
    """Return numbers as an Arrow array; ``pa.array`` imports pandas, 0.25 s."""
    buffers = [None, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


class _File(NamedTuple):
    """A replicate file that is as it was made: the row group of each cell, if it has rows; keys."""

    path: Path
    groups: dict[ReplicateCell, int | None]
    keys: dict[ReplicateCell, str]
    provenance: dict[str, Any]
    metadata: pq.FileMetaData

    def read(
        self, cell: ReplicateCell, columns: Sequence[str] = Estimates._fields
    ) -> list[np.ndarray]:
        """Return these columns of a cell."""
        group = self.groups[cell]
        if group is None:
            return [np.empty(0)] * len(columns)
        with pq.ParquetFile(self.path, metadata=self.metadata) as file:
            table = file.read_row_group(group, list(columns))
        return [table[name].to_numpy() for name in columns]


def read_replicates(path: Path) -> tuple[ReplicateCells, dict[ReplicateCell, str], dict[str, Any]]:
    """Return (estimates by cell, key by cell, provenance) of a replicate file, if it is whole."""
    file = _checked(path)
    cells = {cell: Estimates(*file.read(cell)) for cell in file.groups}
    return cells, file.keys, file.provenance


def _checked(path: Path) -> _File:
    """Return a replicate file; InputError if it was changed since it was made."""
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such replicate file")
    validate_unchanged(path)
    try:
        parquet = pq.read_metadata(path)
        stated = json.loads(parquet.metadata[_METADATA])
        groups, keys, number = {}, {}, itertools.count()
        for scenario, n_samples, n_bins, key, size in stated["cells"]:
            cell = ReplicateCell(scenario, n_samples, n_bins)
            groups[cell], keys[cell] = next(number) if size else None, key
        return _File(path, groups, keys, stated["provenance"], parquet)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}: not a whole replicate file ({type(error).__name__}): delete it and run "
            "again: only its replicates are drawn again"
        ) from error


def kept(path: Path) -> Path:
    """Return the second name of a replicate file, under which the next run finds what it held."""
    path = Path(path)
    return path.with_name(f".kept-{path.name}")


def keep(path: Path) -> None:
    """Give a replicate file, and its record, a second name: a hard link, or a copy."""
    for source, target in ((path, kept(path)), (record_of(path), record_of(kept(path)))):
        temporary = target.with_suffix(f".{os.getpid()}")
        temporary.unlink(missing_ok=True)
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copy2(source, temporary)
        os.replace(temporary, target)


class ShardedCells(Mapping[ReplicateCell, Estimates]):
    """The cells of one estimator, in shards; the estimates of one cell are in memory at a time."""

    def __init__(self, shards: Iterable[_File]) -> None:
        """Sort the files by shard; InputError unless they hold each replicate of each cell once."""
        self._shards = sorted(shards, key=lambda file: int(file.provenance["shard"]))
        provenance = self._shards[0].provenance
        self._m, n_shards = int(provenance["replicates"]), int(provenance["shards"])
        for cell in dict.fromkeys(cell for file in self._shards for cell in file.groups):
            is_complete = len(self._shards) == n_shards and all(
                cell in file.groups
                and np.array_equal(
                    file.read(cell, ["replicate"])[0], np.arange(shard, self._m, n_shards)
                )
                for shard, file in enumerate(self._shards)
            )
            if not is_complete:
                raise InputError(
                    f"replicates of {provenance['estimator']} on {cell.scenario}, n = "
                    f"{cell.n_samples}: the shards do not hold each of {self._m} once; delete "
                    f"results/replicates and run again"
                )

    @property
    def n_replicates(self) -> int:
        """Return the number of replicates of each cell."""
        return self._m

    def __iter__(self) -> Iterator[ReplicateCell]:
        """Iterate over the cells; no file is read."""
        return iter(self._shards[0].groups)

    def __getitem__(self, cell: ReplicateCell) -> Estimates:
        """Return the estimates of a cell in the order of the replicates."""
        estimate, n_bins_used = np.empty(self._m), np.empty(self._m, np.int32)
        for k, file in enumerate(self._shards):
            shard = slice(k, None, len(self._shards))
            estimate[shard], n_bins_used[shard] = file.read(cell, ["estimate", "n_bins_used"])
        return Estimates(np.arange(self._m), estimate, n_bins_used)

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._shards[0].groups)


def gather_shards(paths: Iterable[Path], **expected: Any) -> dict[str, ShardedCells]:
    """Return {estimator: {cell: Estimates}} from replicate files, in order of the replicate.

    A file must say of itself what ``expected`` (see ``drawn_with``) and its path do: nothing left
    over from another configuration counts.
    """
    shards: dict[str, list[_File]] = {}
    for path in paths:
        file = _checked(path)
        _check_origin(path, file.provenance, expected)
        shards.setdefault(file.provenance["estimator"], []).append(file)
    return {name: ShardedCells(files) for name, files in shards.items()}


def drawn_with(scenarios: Path, seed: int, n_replicates: int | None = None) -> dict[str, Any]:
    """Return what files drawn from the scenario table at this path must say of themselves.

    Without a number of replicates each estimator may have another one.
    """
    number = {} if n_replicates is None else {"replicates": n_replicates}
    return {"seed": seed, **number, "scenarios": file_digest(scenarios)}


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
