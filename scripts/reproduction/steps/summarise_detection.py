"""Type II error: how often a miscalibration goes unnoticed (§7.2, Fig 5; table ``detection``)."""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.errors import InputError
from pipeline.detection_limits import detection_limits, rejected_above
from pipeline.scenarios import read_scenarios
from pipeline.steps import Seed
from pipeline.tables import read_table, true_errors_of, write_table
from reproduction.replicates import Cells, Replicates, drawn_with, gather_shards


def summarise_detection(
    *,
    scenarios: Path,
    true_errors: Path,
    replicates: list[Path],
    null_scenarios: Path,
    null_replicates: list[Path],
    n_replicates: int,
    null_n_replicates: int,
    seed: Seed,
    output_detection: Path,
    output_limits: Path,
    output_correlations: Path,
) -> None:
    """Summarise type II errors: miss rates at a type I error of 5 % (paper §7.2, Fig 5).

    The second table has the TCE at which a miss rate falls to 20, 10 and 5 %, interpolated; the
    third how the misses of two estimators go together.

    scenarios: scenarios of the power curves
    true_errors: table true_calibration_error
    replicates: replicates of the power curves
    null_scenarios: scenarios of the null
    null_replicates: replicates of the null
    n_replicates: how many a cell of the power curves has
    null_n_replicates: how many a cell of the null has
    seed: seed of all random streams
    output_detection: table detection to write
    output_limits: table detection_limits to write
    output_correlations: table miss_correlations to write
    """
    curves = read_scenarios(scenarios)
    expected = drawn_with(scenarios, seed, n_replicates)
    expected_of_null = drawn_with(null_scenarios, seed, null_n_replicates)
    estimators = gather_shards(replicates, **expected)
    exponents = {scenario.name: scenario.curve.b1 for scenario, _ in curves}
    table = detection_rows(
        estimators,
        gather_shards(null_replicates, **expected_of_null),
        exponents,
        true_errors_of(read_table(true_errors), curves),
    )
    write_table(output_detection, "detection", table)
    write_table(output_limits, "detection_limits", detection_limits(table))
    correlations = miss_correlations(estimators, table, exponents)
    write_table(output_correlations, "miss_correlations", correlations)


def detection_rows(
    estimators: Replicates,
    null: Replicates,
    scenarios: Mapping[str, float],
    true_errors: Mapping[str, float],
) -> pd.DataFrame:
    """Return the table ``detection`` from replicates under the curves c^d and under the null.

    ``estimators`` and ``null`` are {name: {cell: Estimates}}, ``scenarios`` {name: exponent d},
    ``true_errors`` {scenario: TCE}, a fraction. The null is rejected where an estimate exceeds the
    95 % quantile of the null's at the same n. ``miss_rate_se`` is binomial given that threshold;
    ``miss_rate_threshold_se`` is how far one error of the threshold moves the miss rate. The row of
    exponent 1 checks the type I error: one half of the null sets the threshold of the other.
    """
    rows = []
    for estimator, cells in estimators.items():
        thresholds = {}
        for n, values in _null_values(estimator, cells, null.get(estimator, {})):
            thresholds[n] = rejected_above(values)
            # Not both ways: their errors nearly cancel, so that the mean would hide them.
            setting, tested = values[0::2], values[1::2]
            row = _row(estimator, n, 1.0, 0.0, tested, rejected_above(setting))
            rate, share = row["miss_rate"], 1 / tested.size + 1 / setting.size
            row["miss_rate_se"] = np.sqrt(rate * (1 - rate) * share)
            rows.append(row | {"threshold_percent": 100 * thresholds[n][0]})
        for cell, estimates in cells.items():
            details = scenarios[cell.scenario], true_errors[cell.scenario], estimates.estimate
            rows.append(_row(estimator, cell.n_samples, *details, thresholds[cell.n_samples]))
    table = pd.DataFrame(rows)
    return table.sort_values(["estimator", "n_samples", "exponent"], ignore_index=True)


def _null_values(estimator: str, cells: Cells, null: Cells) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (n_samples, estimates under the null), checked to be what ``cells`` is tested by."""
    bins = {cell.n_bins for cell in (*cells, *null)}
    missing = {cell.n_samples for cell in cells} - {cell.n_samples for cell in null}
    if missing:
        raise InputError(
            f"config: experiments.detection_null has no {estimator} at n = {min(missing)}: give it "
            f"the estimators and n_samples of experiments.detection"
        )
    if len(bins) > 1:
        raise InputError(
            f"config: experiments.detection and detection_null have {estimator} at several n_bins: "
            f"give both the same one"
        )
    for cell, values in null.items():
        yield cell.n_samples, values.estimate


def _row(
    estimator: str,
    n_samples: int,
    exponent: float,
    tce: float,
    estimates: np.ndarray,
    thresholds: np.ndarray,
) -> dict[str, Any]:
    """Return a row of ``estimates`` that are tested at the first of ``rejected_above``."""
    rate, low, high = (np.mean(estimates <= threshold) for threshold in thresholds)
    return {
        "estimator": estimator,
        "n_samples": n_samples,
        "exponent": exponent,
        "tce_percent": 100 * tce,
        "threshold_percent": 100 * thresholds[0],
        "miss_rate": rate,
        "miss_rate_se": np.sqrt(rate * (1 - rate) / estimates.size),
        "n_replicates": estimates.size,
        "miss_rate_threshold_se": (high - low) / 2,
    }


def miss_correlations(
    estimators: Replicates, detection: pd.DataFrame, scenarios: Mapping[str, float]
) -> list[tuple[Any, ...]]:
    """Return the rows of table ``miss_correlations``.

    ``estimators`` are replicates under the curves, ``detection`` is the table of their thresholds,
    ``scenarios`` is {name: exponent d}. Both estimators of a row see the same data sets; the
    correlation is NaN where one of them always or never misses.
    """
    keys = ["estimator", "n_samples"]
    thresholds = detection.drop_duplicates(keys).set_index(keys)["threshold_percent"] / 100
    rows = []
    for a, b in itertools.combinations(estimators, 2):
        cells_b = {(cell.scenario, cell.n_samples): cell for cell in estimators[b]}
        for cell in estimators[a]:
            scenario, n, _ = cell
            if (scenario, n) not in cells_b:
                continue
            misses = np.array([
                estimators[name][each].estimate <= thresholds[name, n]
                for name, each in ((a, cell), (b, cells_b[scenario, n]))
            ])  # fmt: skip
            varies = misses.any(axis=1) & ~misses.all(axis=1)
            correlation = np.corrcoef(misses)[0, 1] if varies.all() else np.nan
            rows.append((n, scenarios[scenario], a, b, correlation))
    return rows
