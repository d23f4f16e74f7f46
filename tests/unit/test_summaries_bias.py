"""Bias, spread and Monte Carlo error of replicates, by hand."""

import numpy as np
import pytest

from calbias.io.table_schema import tables
from calbias.simulation.replicates import Cell, Estimates
from calbias.summaries.bias import bias_rows

VALUES = np.array([0.01, 0.02, 0.03, 0.06])
COLUMNS = tables()["bias"]["columns"]


def estimates(values, n_bins):
    return Estimates(np.arange(len(values)), np.asarray(values), np.asarray(n_bins))


def rows():
    binned = {Cell("a", 200, 15): estimates(VALUES, [15] * 4)}
    sweep = {Cell("a", 200, -1): estimates(VALUES, [3, 4, 5, 6])}
    kde = {Cell("a", 200, 0): estimates(VALUES, [0] * 4)}
    named = {"ece_bin_ew": binned, "ece_sweep_em": sweep, "kde": kde}
    return bias_rows("realistic", named, {"a": 0.025})


def test_columns_are_those_of_the_contract():
    assert list(rows()) == COLUMNS


def test_moments():
    """Mean 3 %, TCE 2.5 %; sd² = (4 + 1 + 0 + 9)/3 %²; rmse² = (2.25 + 0.25 + 0.25 + 12.25)/4."""
    row = rows().iloc[0]
    assert row["n_replicates"] == 4
    assert row["tce_percent"] == pytest.approx(2.5)
    assert row["mean_estimate_percent"] == pytest.approx(3.0)
    assert row["bias_percent"] == pytest.approx(0.5)
    assert row["sd_percent"] == pytest.approx(np.sqrt(14 / 3))
    assert row["bias_se_percent"] == pytest.approx(np.sqrt(14 / 3) / 2)
    assert row["rmse_percent"] == pytest.approx(np.sqrt(15 / 4))


def test_numbers_of_bins_given_chosen_and_none():
    table = rows()
    assert table["n_bins"].iloc[0] == 15
    assert table["n_bins"].iloc[1] == -1
    assert table["n_bins"].isna().tolist() == [False, False, True]
    assert table["mean_n_bins_used"].tolist() == [15, 4.5, 0]
