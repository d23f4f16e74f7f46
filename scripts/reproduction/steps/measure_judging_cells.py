from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd

from calbias.defaults import N_BINS
from calbias.engine.sampler import Sampler
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import NO_BINS, bin_numbers
from calbias.simulation import simulate_cells
from calbias.truth.counted import CountedScenario
from calbias.truth.true_error import true_calibration_error
from pipeline.populations import read_populations
from pipeline.steps import AtLeast, Seed
from pipeline.tables import read_table, write_table
from reproduction.judging import CELLS
from reproduction.replicates import Estimates, ReplicateCell, ReplicateCells
from reproduction.steps.summarise_bias import bias_rows


def judging_rows(
    estimators: Mapping[str, Path], sizes: list[int], data_sets: int, norm: float, seed: int
) -> pd.DataFrame:
    """Return the rows of table ``bias`` on the judging cells, experiment ``judging``."""
    loaded = {name: load_estimator(name, path) for name, path in estimators.items()}
    numbers = np.arange(data_sets)
    cells: dict[str, ReplicateCells] = {name: {} for name in estimators}
    for cell, n in product(CELLS, sizes):
        samples = [cell.draw(n, seed, number).data for number in range(data_sets)]
        for name, estimate in loaded.items():
            results = (estimate(data, N_BINS, norm) for data in samples)
            values, bins = map(np.concatenate, zip(*results, strict=True))
            cells[name][ReplicateCell(cell.name, n, NO_BINS)] = Estimates(numbers, values, bins)
    truths = {cell.name: cell.truth(f"l{norm:g}") for cell in CELLS}
    return bias_rows("judging", cells, truths)


def network_rows(
    estimators: Mapping[str, Path],
    populations: Iterable[CountedScenario],
    sizes: list[int],
    data_sets: int,
    norm: float,
    seed: int,
) -> pd.DataFrame:
    """Return the rows of table ``bias`` on networks of known truth, experiment ``networks``."""
    loaded = {name: load_estimator(name, path) for name, path in estimators.items()}
    n_bins = {name: bin_numbers(path, [N_BINS])[0] for name, path in estimators.items()}
    numbers, truths = np.arange(data_sets), {}
    cells: dict[str, ReplicateCells] = {name: {} for name in estimators}
    for population in populations:
        truths[population.name] = true_calibration_error(population, norm=norm)
        for n in sizes:
            sampler = Sampler(population, n, seed)
            results = simulate_cells(sampler, numbers, loaded, [*n_bins.items()], norm)
            for (name, bins), result in zip(n_bins.items(), results, strict=True):
                cell = ReplicateCell(population.name, n, bins)
                cells[name][cell] = Estimates(numbers, *result)
    return bias_rows("networks", cells, truths)


def measure_judging_cells(
    *,
    estimators: dict[str, Path],
    sketches: Path | None,
    others: Path,
    n_samples: list[Annotated[int, AtLeast(1)]],
    data_sets: Annotated[int, AtLeast(2)],
    network_data_sets: Annotated[int, AtLeast(2)],
    norm: float,
    seed: Seed,
    output: Path,
) -> None:
    """Measure the bias of estimators on judging cells and on judging networks of known truth.

    estimators: files of the estimators, as NAME=PATH
    sketches: populations of trained networks, in cells, where they are there
    others: the other estimators' rows of table bias: its networks count
    n_samples: sample sizes
    data_sets: of each cell and size
    network_data_sets: of each network and size
    norm: p of the ℓp error
    seed: seed of all random streams
    output: table to write
    """
    rows = [judging_rows(estimators, n_samples, data_sets, norm, seed)]
    if sketches:
        compared = {*read_table(others).query("experiment == 'networks'")["scenario"]}
        networks = [x for name, x in read_populations(sketches).items() if name in compared]
        rows.append(network_rows(estimators, networks, n_samples, network_data_sets, norm, seed))
    write_table(output, "bias", pd.concat(rows))
