"""Bias and spread of estimators (Roelofs et al. 2022, Eqs. 6–7; table ``bias``)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.estimation.registry import NO_BINS
from pipeline.scenarios import read_scenarios
from pipeline.steps import Seed
from pipeline.tables import read_table, true_errors_of, write_table
from reproduction.replicates import Cells, Estimates, ReplicateCell, drawn_with, gather_shards


def summarise_bias(
    *,
    scenarios: Path,
    true_errors: Path,
    replicates: list[Path],
    experiment: str,
    n_replicates: int,
    seed: Seed,
    output: Path,
) -> None:
    """Summarise the replicates of one experiment: bias, spread and Monte Carlo error (paper Eq. 7).

    One cell of one estimator is in memory at a time.

    scenarios: the experiment's scenario table
    true_errors: table true_calibration_error
    replicates: its replicate files
    experiment: the experiment's name
    n_replicates: how many a cell has
    seed: seed of all random streams
    output: table to write
    """
    truths = true_errors_of(read_table(true_errors), read_scenarios(scenarios))
    expected = drawn_with(scenarios, seed, n_replicates)
    write_table(
        output, "bias", bias_rows(experiment, gather_shards(replicates, **expected), truths)
    )


def bias_rows(
    experiment: str, estimators: Mapping[str, Cells], true_errors: Mapping[str, float]
) -> pd.DataFrame:
    """Return the rows of table ``bias`` of one experiment, in percent, in the order given.

    ``estimators`` is {name: {cell: Estimates}}, ``true_errors`` {scenario: TCE}, a fraction.
    """
    (rows,) = batched_rows(experiment, estimators, true_errors, 1)
    return rows


def batched_rows(
    experiment: str, estimators: Mapping[str, Cells], true_errors: Mapping[str, float], n: int
) -> list[pd.DataFrame]:
    """Return the rows of table ``bias`` from each of n batches of the replicates, taken in turn."""
    rows: list[list[dict[str, Any]]] = [[] for _ in range(n)]
    for estimator, cells in estimators.items():
        for cell, estimates in cells.items():
            for k in range(n):
                part = estimates.every(n, k)
                rows[k].append(_row(experiment, estimator, cell, part, true_errors[cell.scenario]))
    return [pd.DataFrame(batch_rows).astype({"n_bins": "Int64"}) for batch_rows in rows]


def _row(
    experiment: str, estimator: str, cell: ReplicateCell, estimates: Estimates, true_error: float
) -> dict[str, Any]:
    values, tce = 100 * estimates.estimate, 100 * true_error
    mean, sd = values.mean(), values.std(ddof=1) if values.size > 1 else np.nan
    return {
        "experiment": experiment,
        "scenario": cell.scenario,
        "estimator": estimator,
        "n_bins": None if cell.n_bins == NO_BINS else cell.n_bins,
        "n_samples": cell.n_samples,
        "n_replicates": values.size,
        "tce_percent": tce,
        "mean_estimate_percent": mean,
        "bias_percent": mean - tce,
        "bias_se_percent": sd / np.sqrt(values.size),
        "sd_percent": sd,
        "rmse_percent": np.sqrt(np.mean((values - tce) ** 2)),
        "mean_n_bins_used": estimates.n_bins_used.mean(),
    }
