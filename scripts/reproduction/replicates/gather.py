"""Gather the shards of an experiment into one set of estimates per estimator and cell."""

from pathlib import Path

import numpy as np

from calbias.errors import InputError
from calbias.io.files import file_digest
from reproduction.replicates.store import Estimates, read_replicates


def gather_shards(paths, **expected):
    """Return {estimator: {Cell: Estimates}} from replicate files, in order of the replicate.

    A file must say of itself what ``expected`` (see ``drawn_with``) and its path do: nothing left
    over from another configuration counts.
    """
    parts, wanted = {}, {}
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


def drawn_with(scenarios, seed, n_replicates):
    """Return what files drawn from the scenario table at this path must say of themselves."""
    return {"seed": seed, "replicates": n_replicates, "scenarios": file_digest(scenarios)}


def _check_origin(path, provenance, expected):
    path = Path(path)
    named = dict(zip(("shard", "shards"), path.stem.split("-of-"), strict=False))
    for name, value in {"estimator": path.parent.name, **named, **expected}.items():
        if str(provenance.get(name)) != str(value):
            values = "" if name == "scenarios" else f" {provenance.get(name)}, not {value}"
            raise InputError(
                f"{path}: it was made with other {name}{values}: delete it and run again: only its "
                "replicates are drawn again"
            )


def _joined(estimator, cell, shards, m):
    joined = Estimates(*(np.concatenate(arrays) for arrays in zip(*shards, strict=True)))
    order = np.argsort(joined.replicate, kind="stable")
    joined = Estimates(*(array[order] for array in joined))
    if not np.array_equal(joined.replicate, np.arange(m)):
        raise InputError(
            f"replicates of {estimator} on {cell.scenario}, n = {cell.n_samples}: the shards do "
            f"not hold each of {m} once; delete results/replicates and run again"
        )
    return joined
