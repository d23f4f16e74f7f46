"""Estimators for all classes, each against its own truth, on ``evidence.cells.classes``.

The rule that corrects a value for its noise was chosen on Dirichlet distributions; networks judge
it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from calbias.defaults import N_BINS
from calbias.multiclass.class_bins import Floats
from calbias.multiclass.class_rows import Rows
from calbias.multiclass.measures import MEASURES, target_of
from calbias.multiclass.noise import corrected, drawn_values
from calbias.multiclass.skce import median_distance
from calbias.reading.read_logits import read_outputs
from calbias.simulation import rmse_error
from evidence.cells.classes import (
    GROUPS,
    POPULATION,
    ClassesCell,
    LabelledSample,
    cells_of,
    dirichlet_population,
)
from evidence.runner import Method, Row, Values, at_sizes, each, errors_of, run
from pipeline.steps import AtLeast, Seed
from pipeline.tables import write_table

CORRECTED = ("classwise_ece_mean", "classwise_ece_mean_em", "thresholded_ece_em", "top_label_ece",
             "confidence_ece")  # fmt: skip
SUFFIX = "_corrected"
_REDRAWS = 50
_OWN_BANDWIDTH = ("skce", "skce_all_pairs")
MOST_ALL_PAIRS = 1000  # rows, for the estimator that costs n²·K


def league_rows(
    population: str, probabilities: Floats, sample_sizes: Sequence[int], replicates: int, seed: int
) -> Iterator[Row]:
    """Yield the rows of table ``multiclass_league`` of a population (N, K).

    ``replicates`` are data sets of the smallest size; larger ones have fewer, at least three.
    """
    bandwidth = median_distance(Rows.of(probabilities).probabilities)

    def methods(cell: ClassesCell, n: int) -> dict[str, Method]:
        return {
            name: Method(target_of(name), each(partial(_values, name, bandwidth)))
            for name in MEASURES
            if "_sum" not in name and (name != "skce_all_pairs" or n <= MOST_ALL_PAIRS)
        }  # a sum is K times another

    def data_sets(cell: ClassesCell, n: int) -> int:
        return max(3, round(replicates * min(sample_sizes) / n))

    cells = at_sizes(cells_of(population, probabilities), sample_sizes)
    return run(cells, methods, data_sets, seed, _reduced)


def _values(name: str, bandwidth: float, data: LabelledSample) -> tuple[float, ...]:
    """Return the value of a measure, and corrected for its noise if it is of CORRECTED."""
    options = {"bandwidth": bandwidth} if name in _OWN_BANDWIDTH else {}
    measure = MEASURES[name].prepare(data.rows, N_BINS, **options)
    value = float(measure.whole(measure.values(data.labels))[0])
    if name not in CORRECTED:
        return (value,)
    [drawn] = drawn_values([measure], data.rows, _REDRAWS, 0)
    floor = measure.whole(drawn).mean()
    return value, float(corrected(value, floor, False))


def _reduced(
    cell: ClassesCell, n: int, methods: Mapping[str, Method], values: Values
) -> Iterator[Row]:
    for name, measure_values in values.items():
        target = methods[name].target
        for suffix, estimates in zip(("", SUFFIX), measure_values.T, strict=False):
            yield {
                "scenario": cell.name,
                "population": cell.population,
                "map": cell.map_name,
                "n_classes": cell.n_classes,
                "estimator": f"{name}{suffix}",
                "target": target,
                "n_samples": n,
                **_summary(estimates, cell, target),
            }


def _summary(values: NDArray, cell: ClassesCell, target: str) -> Row:
    truth, share, error = cell.truth(target), math.nan, math.nan
    at_half = truth if target == "kernel" else cell.truth(target, GROUPS // 2)
    errors = errors_of(values, truth)
    if truth > 0:
        share = errors["rmse"] / truth
        margin = rmse_error(errors["bias"], errors["sd"], values.size, errors["rmse"])
        error = float(margin) / truth
    return {
        **errors,
        "truth_at_half_resolution": at_half,
        "relative_rmse": share,
        "relative_rmse_se": error,
    }


def run_multiclass_league(
    *,
    population: str,
    logits: Path | None,
    n_samples: list[Annotated[int, AtLeast(2)]],
    replicates: Annotated[int, AtLeast(3)],
    seed: Seed,
    output: Path,
) -> None:
    """Run the estimators for all classes on one population, each against its own truth.

    population: a Dirichlet distribution, or the model of --logits
    logits: a model's outputs of all classes (NPZ)
    n_samples: sample sizes
    replicates: data sets at the smallest size
    seed: seed of all random streams
    output: table to write
    """
    if logits:
        fold: Any = read_outputs(logits).folds["test"]
        probabilities = softmax(fold.logits[:POPULATION].astype(np.float64), axis=1)
    else:
        probabilities = dirichlet_population(population, seed)
    rows = league_rows(population, probabilities, n_samples, replicates, seed)
    write_table(output, "multiclass_league", rows)
