"""Rows of table ``bias``, averaged over groups (Figures 4, 6) and tested in pairs (§7.1, §7.3)."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

PAIR = ("ece_debias_em", "ece_sweep_em")
"""The estimators of the test of §7.1."""
PAIRINGS = ("cell", "model", "data set and n")
"""What counts as a pair of it: cells that share a model, or a data set and n, depend."""
# Names of choices in table t_test_sensitivity.
CONFIGURED = "as_configured"
ONE_SIDED, POPULATION_VARIANCE = "one_sided", "population_variance"
ROUNDING = "rounding_"  # begins the name of a draw of the printed parameters
SAME_MEANS = (CONFIGURED, ONE_SIDED, POPULATION_VARIANCE)
"""Choices with the configured means of |bias|: they change t or p, and never the sign."""


def bias_by_group(bias: pd.DataFrame) -> pd.DataFrame:
    """Return the mean bias of each group and its error, by estimator, n_bins and n_samples.

    ``bias`` has the rows of table ``bias`` with a column ``group``, the data set of a model.
    Scenarios are simulated independently: errors add in quadrature.
    """
    bias = bias.dropna(subset="bias_percent").assign(variance=lambda t: t["bias_se_percent"] ** 2)
    keys = ["group", "estimator", "n_bins", "n_samples"]
    groups = bias.groupby(keys, sort=False, dropna=False)
    means = groups[["bias_percent", "variance"]].mean().assign(n_scenarios=groups.size())
    means["bias_se_percent"] = np.sqrt(means.pop("variance") / means["n_scenarios"])
    return means.reset_index().sort_values("n_samples", kind="stable")


def error_of_mean(errors: Any) -> Any:
    """Return the error of a mean of independent values from their ``errors``, (k,) or columns."""
    return np.sqrt((errors**2).sum()) / len(errors)


def paired_t_tests(bias: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each experiment and pair of estimators of a ``bias`` table.

    A pair is |bias| of a and of b on a scenario at an n; t is positive where a is more biased, p is
    two-sided. Of several numbers of bins the first counts; two pairs are the fewest.
    """
    rows = []
    for experiment, table in bias.groupby("experiment", sort=False):
        for a, b in combinations(dict.fromkeys(table["estimator"]), 2):
            pairs = abs_pairs(table, a, b)
            if len(pairs) >= 2:
                rows.append({"experiment": experiment, **paired_t_test(pairs, a, b)})
    return pd.DataFrame(rows)


def abs_pairs(rows: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return |bias| in percent in columns a and b, indexed by (scenario, n_samples)."""
    rows = rows[rows["estimator"].isin([a, b])]
    rows = rows.drop_duplicates(["scenario", "n_samples", "estimator"])
    wide = rows.pivot(index=["scenario", "n_samples"], columns="estimator", values="bias_percent")
    return wide.reindex(columns=[a, b]).dropna().abs()


def average_pairs(pairs: pd.DataFrame, pairing: str, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return ``pairs``, indexed by (scenario, n_samples), averaged over pairs that depend.

    ``pairing`` is ``cell``, ``model`` or ``data set and n``; ``groups`` is {model: data set}.
    """
    if pairing == "cell":
        return pairs
    if pairing == "model":
        return pairs.groupby(level="scenario").mean()
    scenarios, n_samples = (pairs.index.get_level_values(k) for k in ("scenario", "n_samples"))
    return pairs.groupby([scenarios.map(groups), n_samples]).mean()


def paired_t_test(pairs: pd.DataFrame, a: str, b: str) -> dict[str, Any]:
    """Return the columns of one test; ``pairs`` has |bias| in percent in columns a and b."""
    differences = pairs[a] - pairs[b]
    t, p = np.nan, np.nan
    if differences.std() > 0:
        from scipy.stats import ttest_rel  # claims read this module without a test

        t, p = ttest_rel(pairs[a], pairs[b])
    return {
        "estimator_a": a,
        "estimator_b": b,
        "n_pairs": len(pairs),
        "mean_abs_bias_a_percent": pairs[a].mean(),
        "mean_abs_bias_b_percent": pairs[b].mean(),
        "t_statistic": t,
        "degrees_of_freedom": len(pairs) - 1,
        "p_value": p,
    }
