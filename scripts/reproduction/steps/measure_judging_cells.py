from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from calbias.conventions import N_BINS
from calbias.estimation.loading import load_estimator
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table
from reproduction.judging.halves import CELLS, HalfCell
from reproduction.judging.runner import Method, Row, Values, at_sizes, errors_of, run


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


def measure_judging_cells(
    *,
    estimators: dict[str, Path],
    n_samples: list[Annotated[int, AtLeast(1)]],
    data_sets: Annotated[int, AtLeast(2)],
    norm: float,
    seed: Seed,
    output: Path,
) -> None:
    """Measure the bias of estimators on the judging cells, which no design has seen.

    estimators: files of the estimators, as NAME=PATH
    n_samples: sample sizes
    data_sets: of each cell and size
    norm: p of the ℓp error
    seed: seed of all random streams
    output: table to write
    """
    write_table(output, "bias", judging_rows(estimators, n_samples, data_sets, norm, seed))
