"""Bias and spread of estimators (Roelofs et al. 2022, Eqs. 6–7), and bins that a sweep chooses."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from calbias.estimation.registry import NO_BINS
from pipeline.table_schema import columns_of
from reproduction.replicates.store import ReplicateCells


def bias_rows(
    experiment: str, estimators: Mapping[str, ReplicateCells], true_errors: Mapping[str, float]
) -> pd.DataFrame:
    """Return the rows of table ``bias`` of one experiment, in percent, in the order given.

    ``estimators`` is {name: {cell: Estimates}}, ``true_errors`` {scenario: TCE}, a fraction.
    """
    rows = []
    for estimator, cells in estimators.items():
        for cell, estimates in cells.items():
            values, tce = 100 * estimates.estimate, 100 * true_errors[cell.scenario]
            mean, sd = values.mean(), values.std(ddof=1)
            rows.append(
                {
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
            )
    return pd.DataFrame(rows).astype({"n_bins": "Int64"})


def chosen_bins(bias: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``chosen_bins`` from the rows of a ``bias`` table of that experiment.

    How many bins the sweep chooses, next to what each number gives (App D, Fig 14).
    """
    keys = ["scenario", "n_samples"]
    of_sweep = bias[bias["estimator"] == "ece_sweep_em"].set_index(keys)["mean_n_bins_used"]
    table = bias[bias["estimator"] == "ece_bin_em"].join(of_sweep.rename("mean_n_bins_sweep"), keys)
    table = table.rename(columns={"bias_se_percent": "mean_estimate_se_percent"})
    return table[list(columns_of("chosen_bins"))]
