"""An estimator of a user's own against the others, cell by cell, and its rows of the tables."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.errors import InputError
from calbias.simulation import rmse_error
from calbias.truth.true_error import true_calibration_error
from pipeline.detection_limits import detection_limits
from pipeline.scenarios import read_scenarios
from pipeline.steps import Seed
from pipeline.tables import read_table, write_table
from reproduction.bias import paired_t_test
from reproduction.claims.compared_biases import clear_cells
from reproduction.replicates import drawn_with, gather_shards
from reproduction.steps.summarise_bias import bias_rows
from reproduction.steps.summarise_detection import detection_rows

PAPER = "realistic"
"""The experiment of the §7.1 test, whose quantities have no suffix in the comparison."""
NETWORKS = "networks"
"""The experiment on trained networks: its unit is a network, the mean over its sample sizes."""
REFERENCES = ("ece_sweep_em", "ece_bin_ew", "averaged_posterior")
"""The paper's best, the usual one, and that of calbias: which one is compared with first."""
CELL = ["scenario", "n_samples"]
ROUNDING_PERCENT = 1e-4
"""True errors of one cell, of which a kept one is rounded, differ by at most this."""


def judge_estimator(
    *,
    experiments: list[str],
    scenarios: list[Path],
    replicates: list[Path],
    judging: Path,
    others: Path,
    norm: float,
    seed: Seed,
    output_bias: Path,
    output_comparison: Path,
    output_detection: Path,
    output_limits: Path,
) -> None:
    """Compare an estimator with the others, whose numbers are kept, on the paper's grids.

    experiments: names; the last two are those of the miss rates and of their null
    scenarios: scenario table of each experiment, in this order
    replicates: of the estimator in all experiments
    judging: its rows on the judging cells
    others: the other estimators' rows of table bias
    norm: p of the ℓp error
    seed: seed of all random streams
    output_bias: its rows of table bias to write
    output_comparison: table to write
    output_detection: its rows of table detection to write
    output_limits: its rows of table detection_limits to write
    """
    estimates, truths, exponents = {}, {}, {}
    for name, path in zip(experiments, scenarios, strict=True):
        all_scenarios = [scenario for scenario, _ in read_scenarios(path)]
        truths[name] = {
            each.name: true_calibration_error(each, norm=norm) for each in all_scenarios
        }
        exponents[name] = {each.name: each.curve.b1 for each in all_scenarios}
        files = [file for file in replicates if file.parts[-3] == name]
        estimates[name] = gather_shards(files, **drawn_with(path, seed))
    *compared, tested, null = experiments
    bias = [bias_rows(name, estimates[name], truths[name]) for name in compared]
    rows = pd.concat([*bias, read_table(judging)], ignore_index=True)
    write_table(output_bias, "bias", rows)
    write_table(output_comparison, "estimator_comparison", compared_rows(rows, read_table(others)))
    detection = detection_rows(
        estimates[tested], estimates[null], exponents[tested], truths[tested]
    )
    write_table(output_detection, "detection", detection)
    write_table(output_limits, "detection_limits", detection_limits(detection))


def references(name: str) -> list[str]:
    """Return the REFERENCES for an estimator: those that it is not itself."""
    return [each for each in REFERENCES if each != name]


def opponent(name: str) -> str:
    """Return the estimator that decides where this one loses."""
    return references(name)[0]


def compared_rows(rows: pd.DataFrame, others: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of table ``estimator_comparison``: of each estimator with each other one.

    Both are tables ``bias``. Cells are those that both have with the same true error; one counts as
    better or worse where the difference exceeds three bounds of its Monte Carlo error. InputError
    where there are none.
    """
    by = ["experiment", "estimator"]
    result: list[dict[str, Any]] = []
    for (experiment, name), rows_of_name in rows.groupby(by, sort=False):
        for (experiment_of_other, other), rows_of_other in others.groupby(by, sort=False):
            if experiment_of_other == experiment and other != name:
                result += _pair_rows(str(name), rows_of_name, str(other), rows_of_other)
    if not result:
        raise InputError(
            "no cell of this configuration is among those whose numbers are kept; leave out the "
            "changes to experiments, models and fits"
        )
    return result


def _pair_rows(
    name: str, rows: pd.DataFrame, other: str, other_rows: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield a row for the bias and one for the RMSE of two estimators in one experiment."""
    a, b = shared_cells(other_rows, rows)
    suffix = "" if rows["experiment"].iloc[0] == PAPER else f"_{rows['experiment'].iloc[0]}"
    if len(a) < 2:
        return
    for quantity in ("bias", "rmse"):
        (value_a, se_a), (value_b, se_b) = (errors_of(x, quantity) for x in (a, b))
        pairs = pd.DataFrame({other: value_a, name: value_b}, index=a.index)
        if rows["experiment"].iloc[0] == NETWORKS:
            pairs = pairs.groupby(level="scenario").mean()
        test = paired_t_test(pairs, other, name)
        cells = clear_cells(value_a - value_b, se_a + se_b)
        yield {
            "estimator": name,
            "other": other,
            "quantity": quantity + suffix,
            "cells": cells.total,
            "better": cells.agree,
            "worse": cells.disagree,
            "mean_difference": (value_a - value_b).mean() / 100,
            "t_statistic": test["t_statistic"],
            "p_value": test["p_value"],
        }


def shared_cells(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of one estimator each on the cells that both have, in one order.

    Of several numbers of bins the first counts.
    """
    a, b = (rows.drop_duplicates(CELL).set_index(CELL) for rows in (first, second))
    a, b = a.loc[a.index.intersection(b.index)], b.loc[a.index.intersection(b.index)]
    alike = (a["tce_percent"] - b["tce_percent"]).abs() <= ROUNDING_PERCENT
    return a[alike], b[alike]


def errors_of(rows: Mapping[str, Any], quantity: str) -> tuple[np.ndarray, np.ndarray]:
    """Return |bias| or RMSE in percent, (m,), with its Monte Carlo error."""
    bias, sd, rmse = (np.asarray(rows[f"{x}_percent"], float) for x in ("bias", "sd", "rmse"))
    if quantity == "bias":
        return np.abs(bias), np.asarray(rows["bias_se_percent"], float)
    with np.errstate(invalid="ignore"):
        error = rmse_error(bias, sd, np.asarray(rows["n_replicates"], float), rmse)
    return rmse, np.nan_to_num(error)
