from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calbias.conventions import N_BINS
from calbias.engine.sampler import Sampler
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import bin_numbers
from calbias.simulation import simulate_cells
from calbias.truth.counted import CountedScenario
from calbias.truth.true_error import true_calibration_error
from pipeline.populations import read_populations
from pipeline.steps import AtLeast, Seed
from pipeline.tables import read_table, write_table
from reproduction.judging.halves import CELLS, HalfCell
from reproduction.judging.runner import Method, Row, Values, at_sizes, errors_of, run
from reproduction.replicates import Estimates, ReplicateCell
from reproduction.steps.summarise_bias import bias_rows


def judging_rows(
    estimators: Mapping[str, Path], sizes: list[int], data_sets: int, norm: float, seed: int
) -> Iterator[Row]:
    """Yield the rows of table ``bias`` on the judging cells, experiment ``judging``."""
    loaded = {name: load_estimator(name, path) for name, path in estimators.items()}
    methods = {
        name: Method(f"l{norm:g}", partial(_values, estimator, norm))
        for name, estimator in loaded.items()
    }
    return run(at_sizes(CELLS, sizes), lambda cell, n: methods, data_sets, seed, _reduce)


def _values(estimate: Any, norm: float, batch: Any) -> NDArray:
    return np.array([[of[0] for of in estimate(sample.data, N_BINS, norm)] for sample in batch])


def _reduce(cell: HalfCell, n: int, methods: Mapping[str, Method], values: Values) -> Iterator[Row]:
    """Yield a row for each estimator; its values are estimates with numbers of bins."""
    for name, estimates in values.items():
        errors = errors_of(estimates[:, 0], cell.truth(methods[name].target))
        percents = {"tce": "truth", "mean_estimate": "mean_estimate", "bias": "bias"}
        percents |= {"bias_se": "bias_se", "sd": "sd", "rmse": "rmse"}
        yield {
            "experiment": "judging",
            "scenario": cell.name,
            "estimator": name,
            "n_bins": None,
            "n_samples": n,
            "n_replicates": errors["n_replicates"],
            **{f"{column}_percent": 100 * errors[key] for column, key in percents.items()},
            "mean_n_bins_used": estimates[:, 1].mean(),
        }


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
    cells: dict[str, dict[ReplicateCell, Estimates]] = {name: {} for name in estimators}
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
    sketches: Path,
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
    sketches: populations of trained networks, in cells
    others: the other estimators' rows of table bias: its networks count
    n_samples: sample sizes
    data_sets: of each cell and size
    network_data_sets: of each network and size
    norm: p of the ℓp error
    seed: seed of all random streams
    output: table to write
    """
    rows = pd.DataFrame(judging_rows(estimators, n_samples, data_sets, norm, seed))
    compared = {*read_table(others).query("experiment == 'networks'")["scenario"]}
    networks = [x for name, x in read_populations(sketches).items() if name in compared]
    trained = network_rows(estimators, networks, n_samples, network_data_sets, norm, seed)
    write_table(output, "bias", pd.concat([rows.astype({"n_bins": "Int64"}), trained]))
