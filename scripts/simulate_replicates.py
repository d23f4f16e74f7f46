"""Estimate the calibration error of simulated data sets with one estimator (paper §4, Eq. 7).

Reuses valid replicates of an earlier run and draws only the missing ones.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

import numpy as np

from calbias import __version__
from calbias.engine.quantile_table import build_quantile_table
from calbias.engine.sampler import Sampler
from calbias.errors import InputError
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import bin_numbers, estimator_file
from calbias.io.checksums import file_digest, files_digest
from calbias.io.code_files import code_files
from calbias.io.command_line import written_whole
from calbias.simulation.simulate import simulate_cells
from pipeline.scenarios.tables import read_scenarios
from pipeline.script import NORM, SEED, option, script
from reproduction.replicates.store import (
    NOTHING,
    Cell,
    Estimates,
    keep,
    kept,
    read_replicates,
    write_replicates,
)


def _earlier(path):
    """Return ({Cell: Estimates}, {Cell: key}) of an earlier output; empty if none or damaged."""
    if not Path(path).exists():
        return {}, {}
    try:
        cells, keys, _ = read_replicates(path)
    except InputError as error:
        print(f"warning: drawn again: {error}", file=sys.stderr)
        return {}, {}
    return cells, keys


@script(
    option("--scenarios", "scenario table"),
    option("--estimator-file", "file of the estimator, if not calbias's own", default=None),
    option("--estimator", "name, such as ece_sweep_em"),
    option("--n-samples", "sample sizes", int, many=True),
    option("--n-bins", "numbers of bins", int, least=1, many=True, default=[15]),
    option("--replicates", "data sets per cell", int, least=1),
    option("--shard", "takes replicates shard, shard + shards, …", int, least=0, default=0),
    option("--shards", "number of shards", int, default=1),
    NORM,
    SEED,
    option("--output", "Parquet file to write or extend"),
)
def main(options):
    if not options.shard < options.shards:
        raise InputError(f"--shard must be from 0 to {options.shards - 1}, not {options.shard}")
    file = Path(options.estimator_file or estimator_file(options.estimator))
    code = files_digest(code_files(__file__, file))
    known, known_keys = _earlier(kept(options.output))
    wanted = np.arange(options.shard, options.replicates, options.shards)
    numbers = bin_numbers(file, options.n_bins)
    run = {options.estimator: load_estimator(options.estimator, file)}
    cells, keys = {}, {}
    for scenario, _ in read_scenarios(options.scenarios):
        table = None
        for n_samples in options.n_samples:
            these = [Cell(scenario.name, n_samples, n_bins) for n_bins in numbers]
            for cell in these:
                what = [code, options.estimator, scenario[1:], cell, options.norm, options.seed]
                what += [options.shard, options.shards]
                keys[cell] = hashlib.sha256(json.dumps(what).encode()).hexdigest()
                same = known_keys.get(cell) == keys[cell]
                cells[cell] = (known[cell] if same else NOTHING).first(wanted.size)
            short = [cell for cell in these if cells[cell].estimate.size < wanted.size]
            if not short:
                continue
            done = min(cells[cell].estimate.size for cell in short)
            table = build_quantile_table(scenario) if table is None else table
            started = time.perf_counter()
            new = wanted[done:]
            results = simulate_cells(
                Sampler(scenario, n_samples, options.seed, table),
                new,
                run,
                [(options.estimator, cell.n_bins) for cell in short],
                options.norm,
            )
            for cell, result in zip(short, results, strict=True):
                cells[cell] = cells[cell].first(done).extended(Estimates(new, *result))
            seconds = time.perf_counter() - started
            print(f"{scenario.name}, n = {n_samples}: {new.size} replicates in {seconds:.2f} s")
    names = ("estimator", "seed", "replicates", "shard", "shards")
    provenance = {"calbias": __version__, **{name: getattr(options, name) for name in names}}
    provenance["scenarios"] = file_digest(options.scenarios)
    with written_whole(options.output) as temporary:
        write_replicates(temporary, cells, keys, provenance)
    keep(options.output)


if __name__ == "__main__":
    main()
