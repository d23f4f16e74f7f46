"""Summaries of replicates: bias, detection, the intro, chosen bins, paired t-tests; by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calbias.engine.sampler import draw
from calbias.errors import InputError
from calbias.estimation.api import estimate
from calbias.io.table_schema import columns_of
from calbias.simulation.replicates import Cell, Estimates
from calbias.summaries.bias import bias_rows, chosen_bins
from calbias.summaries.detection import detection_rows
from calbias.summaries.intro import HISTOGRAM_BINS, estimate_histogram, reliability_diagram
from calbias.summaries.paired_t_test import paired_t_tests
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario


def estimates(values, n_bins=15):
    values = np.asarray(values, float)
    return Estimates(np.arange(values.size), values, np.broadcast_to(n_bins, values.size))


# Bias


@pytest.fixture
def bias_table():
    values = [0.01, 0.02, 0.03, 0.06]
    named = {
        "ece_bin_ew": {Cell("a", 200, 15): estimates(values)},
        "ece_sweep_em": {Cell("a", 200, -1): estimates(values, [3, 4, 5, 6])},
        "kde": {Cell("a", 200, 0): estimates(values, 0)},
    }
    return bias_rows("realistic", named, {"a": 0.025})


def test_moments(bias_table):
    """Mean 3 %, TCE 2.5 %; sd² = (4 + 1 + 0 + 9)/3 %²; rmse² = (2.25 + 0.25 + 0.25 + 12.25)/4."""
    row = bias_table.iloc[0]
    assert row["n_replicates"] == 4
    assert row.filter(like="percent").to_dict() == pytest.approx(
        {
            "tce_percent": 2.5, "mean_estimate_percent": 3.0, "bias_percent": 0.5,
            "sd_percent": np.sqrt(14 / 3), "bias_se_percent": np.sqrt(14 / 3) / 2,
            "rmse_percent": np.sqrt(15 / 4),
        }
    )  # fmt: skip


def test_numbers_of_bins_given_chosen_and_none(bias_table):
    assert bias_table["n_bins"].fillna(0).tolist() == [15, -1, 0]
    assert bias_table["n_bins"].isna().tolist() == [False, False, True]
    assert bias_table["mean_n_bins_used"].tolist() == [15, 4.5, 0]


# Detection


def null_values(m=600, seed=0, n=100, n_bins=15):
    return {Cell("identity", n, n_bins): estimates(np.random.default_rng(seed).random(m))}


def table(null, **cells):
    alternatives = {Cell(name, 100, 15): estimates(values) for name, values in cells.items()}
    exponents = {name: 1.5 + k for k, name in enumerate(cells)}
    errors = {name: 0.1 * (k + 1) for k, name in enumerate(cells)}
    return detection_rows({"ece": alternatives}, {"ece": null}, exponents, errors)


def test_miss_rates():
    null = {Cell("identity", 100, 15): estimates(np.linspace(0, 1, 101))}  # quantile 0.95
    made = table(null, weak=[0.1, 0.95, 0.2, 0.99], strong=[0.96, 0.97, 0.98, 1.0])
    assert made["exponent"].tolist() == [1.0, 1.5, 2.5]
    assert made["tce_percent"].tolist() == pytest.approx([0, 10, 20])
    assert made["threshold_percent"].tolist() == pytest.approx([95, 95, 95])
    assert made["miss_rate"].tolist()[1:] == [0.75, 0.0]
    assert made["miss_rate_se"].tolist()[1:] == pytest.approx([np.sqrt(0.75 * 0.25 / 4), 0])
    assert made["n_replicates"].tolist() == [50, 4, 4]


def test_the_type_i_error_is_measured_on_replicates_that_did_not_set_its_threshold():
    """Were threshold and rate from the same data the rate would be exactly 95 %."""
    rows = [table(null_values(seed=seed), any=[0.5]).iloc[0] for seed in range(400)]
    rates = [row["miss_rate"] for row in rows]
    assert np.mean(rates[:100]) == pytest.approx(0.95, abs=0.005)
    assert np.mean([row["miss_rate_se"] for row in rows]) == pytest.approx(np.std(rates), rel=0.15)


def test_the_thresholds_share_of_the_error_is_the_spread_over_nulls():
    """Uniform estimates, so that a threshold that is off by e moves the miss rate by e."""
    tested = np.linspace(0, 1.2, 1201)
    rows = [table(null_values(seed=seed), any=tested).iloc[1] for seed in range(400)]
    spread = np.std([row["miss_rate"] for row in rows])
    shares = [row["miss_rate_threshold_se"] for row in rows]
    assert np.mean(shares) == pytest.approx(spread, rel=0.15)


def test_a_null_that_lacks_something_is_refused():
    with pytest.raises(InputError, match=r"detection_null has no ece at n = 100: give it"):
        table(null_values(n=200), any=[0.5])
    with pytest.raises(InputError, match="ece at several n_bins: give both the same one"):
        table(null_values(n_bins=20), any=[0.5])


# The intro


def test_histogram():
    values = np.random.default_rng(1).random(1000)
    cells = {Cell("a", 200, 15): estimates(values)}
    table = estimate_histogram("intro", {"ece_bin_ew": cells})
    assert len(table) == HISTOGRAM_BINS
    assert table["count"].sum() == 1000
    assert table["mean_estimate_percent"].unique() == pytest.approx([100 * values.mean()])
    low, high, count = (table[name].to_numpy() for name in ("low_percent", "high_percent", "count"))
    np.testing.assert_array_equal(low[1:], high[:-1])
    for k in (0, 50, 98):
        assert count[k] == ((100 * values >= low[k]) & (100 * values < high[k])).sum()


def test_the_diagram_adds_up_to_ece_bin_of_replicate_0():
    scenario = Scenario("beta", 2.8, 0.05, Curve("identity"))
    table = reliability_diagram("intro", scenario, 200, 15, seed=3)
    assert len(table) == 15
    assert table["n_in_bin"].sum() == 200
    full = table[table["n_in_bin"] > 0]
    gaps = full["mean_score"] - full["mean_hit"]
    value = np.sqrt(np.sum(full["n_in_bin"] / 200 * gaps**2))
    data = draw(scenario, 200, 0, seed=3)
    hits = np.rint(data.hits()[0])
    assert value == pytest.approx(estimate("ece_bin_ew", data.scores[0], hits, norm=2).value)
    assert (full["mean_score"] >= full["low"]).all()
    assert (full["mean_score"] <= full["high"]).all()
    assert table[table["n_in_bin"] == 0][["mean_score", "mean_hit"]].isna().all(axis=None)


# Chosen bins


def test_mean_estimates_by_number_of_bins_beside_the_sweeps_mean_number():
    rows = [
        ("s", "ece_bin_em", 1, 200, 3.0, 0.1, 1.0),
        ("s", "ece_bin_em", 2, 200, 2.0, 0.2, 2.0),
        ("s", "ece_sweep_em", -1, 200, 9.0, 0.3, 12.5),
        ("s", "ece_bin_em", 1, 400, 1.0, 0.1, 1.0),
        ("s", "ece_sweep_em", -1, 400, 9.0, 0.3, 20.0),
    ]
    names = ("scenario", "estimator", "n_bins", "n_samples", "mean_estimate_percent")
    bias = pd.DataFrame(rows, columns=[*names, "bias_se_percent", "mean_n_bins_used"])
    table = chosen_bins(bias.assign(tce_percent=4.0))
    assert tuple(table) == columns_of("chosen_bins")
    assert table["n_bins"].tolist() == [1, 2, 1]
    assert table["mean_n_bins_sweep"].tolist() == [12.5, 12.5, 20.0]
    assert table["mean_estimate_se_percent"].tolist() == [0.1, 0.2, 0.1]


# Paired t-tests


def bias(**estimators):
    """Return a bias table of scenarios a, b, c at one sample size."""
    return pd.DataFrame(
        {"experiment": "x", "scenario": s, "n_samples": 200, "estimator": e, "bias_percent": v}
        for e, values in estimators.items()
        for s, v in zip("abc", values, strict=False)
    )


def test_the_formula():
    """Differences of |bias| 1, 2, 6: mean 3, sd² = (4 + 1 + 9)/2, t = 3/sqrt(7/3)."""
    row = paired_t_tests(bias(one=[2, -4, 9], two=[-1, 2, 3])).iloc[0]
    assert (row["estimator_a"], row["estimator_b"], row["n_pairs"]) == ("one", "two", 3)
    assert row["mean_abs_bias_a_percent"] == pytest.approx(5)
    assert row["mean_abs_bias_b_percent"] == pytest.approx(2)
    assert row["t_statistic"] == pytest.approx(3 / np.sqrt(7 / 3))
    assert row["degrees_of_freedom"] == 2
    assert row["p_value"] == pytest.approx(2 * stats.t(2).sf(3 / np.sqrt(7 / 3)))


def test_every_pair_within_each_experiment():
    table = bias(one=[1, 2, 3], two=[2, 3, 5], three=[1, 1, 4])
    both = pd.concat([table, table.assign(experiment="y")])
    rows = paired_t_tests(both)
    assert rows.groupby("experiment").size().to_dict() == {"x": 3, "y": 3}


def test_equal_differences_have_no_t():
    row = paired_t_tests(bias(one=[1, 2, 3], two=[0, 1, 2])).iloc[0]
    assert np.isnan(row["t_statistic"])
    assert np.isnan(row["p_value"])


def test_pairs_that_are_not_there_are_left_out():
    assert paired_t_tests(bias(one=[1, 2, 3], two=[5])).empty
    assert paired_t_tests(bias(one=[1, 2, 3], two=[5, 6])).iloc[0]["n_pairs"] == 2


def test_the_first_number_of_bins_counts():
    table = bias(one=[1, 2, 4], two=[2, 3, 3])
    more = table[table["estimator"] == "one"].assign(bias_percent=100.0)
    pd.testing.assert_frame_equal(paired_t_tests(pd.concat([table, more])), paired_t_tests(table))
