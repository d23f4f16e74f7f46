"""Bias averaged over the scenarios of a group, as Figures 4 and 6 draw it."""

from typing import Any

import numpy as np
import pandas as pd


def bias_by_group(bias: pd.DataFrame) -> pd.DataFrame:
    """Return the mean bias of each group and its error, by estimator, n_bins and n_samples.

    ``bias`` has the rows of table ``bias`` with a column ``group``, the data set of a model.
    Scenarios are simulated independently: errors add in quadrature.
    """
    bias = bias.dropna(subset="bias_percent")
    keys = ["group", "estimator", "n_bins", "n_samples"]
    means = bias.groupby(keys, sort=False, dropna=False).agg(
        bias_percent=("bias_percent", "mean"),
        bias_se_percent=("bias_se_percent", error_of_mean),
        n_scenarios=("bias_percent", "size"),
    )
    return means.reset_index().sort_values("n_samples", kind="stable")


def error_of_mean(errors: Any) -> Any:
    """Return the error of a mean of independent values from their ``errors``, (k,) or columns."""
    return np.sqrt((errors**2).sum()) / len(errors)
