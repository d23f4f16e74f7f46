import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from calbias import __version__
from calbias.engine.sampler import Sampler, build_quantile_table
from calbias.errors import InputError
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import bin_numbers
from calbias.io.files import file_digest
from calbias.simulation import simulate_cells
from calbias.truth.counted import CountedScenario
from calbias.truth.scenarios import Scenario
from pipeline.scenarios import read_laws
from pipeline.steps import AtLeast, Precision, Seed
from pipeline.write_results import written_whole
from reproduction.replicates import (
    NOTHING,
    Estimates,
    ReplicateCell,
    ReplicateCells,
    keep,
    kept,
    read_replicates,
    write_replicates,
)


def _earlier(path: Path) -> tuple[ReplicateCells, dict[ReplicateCell, str]]:
    """Return (estimates by cell, key by cell) of an earlier output; empty if none or damaged."""
    if not path.exists():
        return {}, {}
    try:
        cells, keys, _ = read_replicates(path)
    except InputError as error:
        print(f"warning: drawn again: {error}", file=sys.stderr)
        return {}, {}
    return cells, keys


def simulate_replicates(
    *,
    scenarios: Path,
    own_scores: list[Path],
    estimator_file: Path,
    estimator: str,
    code: str,
    n_samples: list[int],
    n_bins: list[Annotated[int, AtLeast(1)]],
    replicates: Annotated[int, AtLeast(1)],
    shard: Annotated[int, AtLeast(0)],
    shards: int,
    norm: float,
    precision: Precision,
    seed: Seed,
    output: Path,
) -> None:
    """Estimate the calibration error of simulated data sets with one estimator (paper §4, Eq. 7).

    Reuses valid replicates of an earlier run and draws only the missing ones.

    scenarios: scenario table
    own_scores: models' own scores, of the models that are simulated from them
    estimator_file: file that defines the estimator
    estimator: name, such as ece_sweep_em
    code: digest of the code; replicates drawn by another one are drawn again
    n_samples: sample sizes
    n_bins: numbers of bins
    replicates: data sets per cell
    shard: takes replicates shard, shard + shards, …
    shards: number of shards
    norm: p of the ℓp error
    precision: how scores are stored
    seed: seed of all random streams
    output: Parquet file to write or extend
    """
    if not shard < shards:
        raise InputError(f"--shard must be from 0 to {shards - 1}, not {shard}")
    earlier, known_keys = _earlier(kept(output))
    wanted = np.arange(shard, replicates, shards)
    numbers = bin_numbers(estimator_file, n_bins)
    run = {estimator: load_estimator(estimator, estimator_file)}
    cells: ReplicateCells = {}
    keys: dict[ReplicateCell, str] = {}
    for scenario, law in read_laws(scenarios, own_scores):
        shared = [code, estimator, norm, seed, shard, shards, precision, *_law(law)]
        table = None
        for n in n_samples:
            asked = [ReplicateCell(scenario.name, n, number) for number in numbers]
            for cell in asked:
                what = json.dumps([scenario[1:], cell, *shared])
                keys[cell] = hashlib.sha256(what.encode()).hexdigest()
                same = known_keys.get(cell) == keys[cell]
                cells[cell] = (earlier[cell] if same else NOTHING).first(wanted.size)
            short = {cell: cells[cell] for cell in asked if cells[cell].estimate.size < wanted.size}
            if short:
                table = build_quantile_table(law, precision) if table is None else table
                sampler = Sampler(law, n, seed, table, precision)
                cells |= _extended(short, sampler, wanted, run, norm)
    provenance = {
        "calbias": __version__,
        "estimator": estimator,
        "seed": seed,
        "precision": precision,
        "replicates": replicates,
        "shard": shard,
        "shards": shards,
        "scenarios": file_digest(scenarios),
    }
    with written_whole(output, checksum=True, extends=bool(earlier)) as temporary:
        write_replicates(temporary, cells, keys, provenance)
    keep(output)


def _law(law: Scenario | CountedScenario) -> list[Any]:
    """Return what draws depend on besides a scenario's row: the counts of a model's own scores."""
    if isinstance(law, CountedScenario):
        return [np.asarray(x).tolist() for x in (law.cells, law.n, law.hits)]
    return []


def _extended(
    short: ReplicateCells,
    sampler: Sampler,
    wanted: np.ndarray,
    run: Mapping[str, Callable[..., Any]],
    norm: float,
) -> ReplicateCells:
    """Return the cells of one estimator with all replicates; the missing ones are drawn once."""
    started = time.perf_counter()
    (estimator,), done = run, min(estimates.estimate.size for estimates in short.values())
    new, asked = wanted[done:], [(estimator, cell.n_bins) for cell in short]
    results = simulate_cells(sampler, new, run, asked, norm)
    seconds = time.perf_counter() - started
    name, n, _ = next(iter(short))
    print(f"{name}, n = {n}: {new.size} replicates in {seconds:.2f} s")
    return {
        cell: estimates.first(done).extended(Estimates(new, *result))
        for (cell, estimates), result in zip(short.items(), results, strict=True)
    }
