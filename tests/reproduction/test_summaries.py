"""Summaries of replicates as tables: bias, t-tests, histograms, detection and its limits."""

import numpy as np
import pandas as pd
import pytest
from refusals import refuses
from scipy import stats
from scipy.special import ndtr
from scipy.stats import norm

from calbias import Curve, Scenario
from calbias.engine.sampler import draw
from pipeline.detection_limits import detection_limits, nonincreasing, wilson_interval
from pipeline.table_schema import columns_of
from reproduction.bias import paired_t_tests
from reproduction.replicates import Estimates, ReplicateCell
from reproduction.steps.correlate_estimates import correlation_rows
from reproduction.steps.judge_batches import N_BATCHES, batch
from reproduction.steps.summarise_bias import batched_rows, bias_rows
from reproduction.steps.summarise_chosen_bins import chosen_bins
from reproduction.steps.summarise_detection import detection_rows, miss_correlations
from reproduction.steps.summarise_intro import HISTOGRAM_BINS, estimate_histogram, shown_data_set


def estimates(values, n_bins=15):
    values = np.asarray(values, float)
    return Estimates(np.arange(values.size), values, np.broadcast_to(n_bins, values.size))


VALUES = [0.01, 0.02, 0.03, 0.06]


def test_moments_and_numbers_of_bins_given_chosen_and_none():
    """Mean 3 %, TCE 2.5 %; sd² = (4 + 1 + 0 + 9)/3 %²; rmse² = (2.25 + 0.25 + 0.25 + 12.25)/4."""
    bins = {"ece_bin_ew": (15, 15), "ece_sweep_em": (-1, [3, 4, 5, 6]), "kde": (0, 0)}
    named = {
        name: {ReplicateCell("a", 200, key): estimates(VALUES, used)}
        for name, (key, used) in bins.items()
    }
    table = bias_rows("realistic", named, {"a": 0.025})
    row = table.iloc[0]
    assert row["n_replicates"] == 4
    expected = {
        "tce_percent": 2.5, "mean_estimate_percent": 3.0, "bias_percent": 0.5,
        "sd_percent": np.sqrt(14 / 3), "bias_se_percent": np.sqrt(14 / 3) / 2,
        "rmse_percent": np.sqrt(15 / 4),
    }  # fmt: skip
    assert row[[*expected]].to_dict() == pytest.approx(expected)
    assert table["n_bins"].fillna(99).tolist() == [15, -1, 99]
    assert table["mean_n_bins_used"].tolist() == [15, 4.5, 0]


def null_values(m=600, seed=0, n=100, n_bins=15):
    return {ReplicateCell("identity", n, n_bins): estimates(np.random.default_rng(seed).random(m))}


def table(null, **cells):
    alternatives = {
        ReplicateCell(name, 100, 15): estimates(values) for name, values in cells.items()
    }
    exponents = {name: 1.5 + k for k, name in enumerate(cells)}
    errors = {name: 0.1 * (k + 1) for k, name in enumerate(cells)}
    return detection_rows({"ece": alternatives}, {"ece": null}, exponents, errors)


def test_one_replicate_has_no_spread_and_no_warning(recwarn):
    cells = {"kde": {ReplicateCell("a", 200, 0): estimates(VALUES, 0)}}
    batches = batched_rows("realistic", cells, {"a": 0.025}, 3)
    assert [batch["sd_percent"].isna().item() for batch in batches] == [False, True, True]
    assert not recwarn.list


def test_miss_rates():
    null = {ReplicateCell("identity", 100, 15): estimates(np.linspace(0, 1, 101))}  # quantile 0.95
    made = table(null, weak=[0.1, 0.95, 0.2, 0.99], strong=[0.96, 0.97, 0.98, 1.0])
    null_row, *rows = made[["exponent", "tce_percent", "miss_rate", "miss_rate_se"]].to_numpy()
    assert null_row[:2].tolist() == [1.0, 0.0]
    assert rows[0] == pytest.approx([1.5, 10, 0.75, np.sqrt(0.75 * 0.25 / 4)])
    assert rows[1] == pytest.approx([2.5, 20, 0.0, 0.0])
    assert made["threshold_percent"].tolist() == pytest.approx([95, 95, 95])
    assert made["n_replicates"].tolist() == [50, 4, 4]


def test_errors_of_miss_rates_and_of_the_threshold_are_their_spread_over_nulls():
    """The type I error is measured on replicates that did not set its threshold.

    Were both from the same data the rate would be exactly 95 %. The tested estimates are uniform,
    so that a threshold that is off by e moves their miss rate by e.
    """
    tested = np.linspace(0, 1.2, 1201)
    pairs = [table(null_values(seed=seed), any=tested) for seed in range(100)]
    null, any_ = (pd.DataFrame([rows.iloc[k] for rows in pairs]) for k in (0, 1))
    assert null["miss_rate"].mean() == pytest.approx(0.95, abs=0.005)
    assert null["miss_rate_se"].mean() == pytest.approx(null["miss_rate"].std(), rel=0.15)
    assert any_["miss_rate_threshold_se"].mean() == pytest.approx(any_["miss_rate"].std(), rel=0.15)


test_a_null_that_lacks_something_is_refused = refuses(
    lambda **of: table(null_values(**of), any=[0.5]),
    ({"n": 200}, r"detection_null has no ece at n = 100: give it"),
    ({"n_bins": 20}, "ece at several n_bins: give both the same one"),
)


def test_histogram():
    values = 100 * np.random.default_rng(1).random(1000)
    cells = {ReplicateCell("a", 200, 15): estimates(values / 100)}
    table = estimate_histogram("intro", {"ece_bin_ew": cells})
    assert (len(table), table["count"].sum()) == (HISTOGRAM_BINS, 1000)
    assert table["mean_estimate_percent"].unique() == pytest.approx([values.mean()])
    low, high, count = (table[name].to_numpy() for name in ("low_percent", "high_percent", "count"))
    np.testing.assert_array_equal(low[1:], high[:-1])
    for k in (0, 50, 98):
        assert count[k] == ((values >= low[k]) & (values < high[k])).sum()


def test_the_data_set_of_figure_1_is_replicate_0():
    scenario = Scenario("beta", 2.8, 0.05, Curve("identity"))
    table = shown_data_set("intro", scenario, 200, seed=3)
    data = draw(scenario, 200, 0, seed=3)
    assert table["score"].tolist() == data.scores[0].tolist()
    assert table["hit"].tolist() == np.rint(data.hits()[0]).tolist()


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
    assert (tuple(table), table["n_bins"].tolist()) == (columns_of("chosen_bins"), [1, 2, 1])
    assert table["mean_n_bins_sweep"].tolist() == [12.5, 12.5, 20.0]
    assert table["mean_estimate_se_percent"].tolist() == [0.1, 0.2, 0.1]


def bias(**estimators):
    """Return a bias table of scenarios a, b, c at one sample size."""
    return pd.DataFrame(
        {"experiment": "x", "scenario": s, "n_samples": 200, "estimator": e, "bias_percent": v}
        for e, values in estimators.items()
        for s, v in zip("abc", values, strict=False)
    )


def test_the_formula():
    """Differences of |bias| 1, 2, 6: mean 3, sd² = (4 + 1 + 9)/2, t = 3/sqrt(7/3)."""
    row = paired_t_tests(bias(one=[2, -4, 9], two=[-1, 2, 3])).iloc[0].to_dict()
    t = 3 / np.sqrt(7 / 3)
    expected = {
        "n_pairs": 3, "mean_abs_bias_a_percent": 5, "mean_abs_bias_b_percent": 2,
        "t_statistic": t, "degrees_of_freedom": 2, "p_value": 2 * stats.t(2).sf(t),
    }  # fmt: skip
    assert (row["estimator_a"], row["estimator_b"]) == ("one", "two")
    assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_every_pair_within_each_experiment():
    table = bias(one=[1, 2, 3], two=[2, 3, 5], three=[1, 1, 4])
    rows = paired_t_tests(pd.concat([table, table.assign(experiment="y")]))
    assert rows.groupby("experiment").size().to_dict() == {"x": 3, "y": 3}


def test_equal_differences_have_no_t_and_pairs_that_are_not_there_are_left_out():
    row = paired_t_tests(bias(one=[1, 2, 3], two=[0, 1, 2])).iloc[0]
    assert row[["t_statistic", "p_value"]].isna().all()
    assert paired_t_tests(bias(one=[1, 2, 3], two=[5])).empty
    assert paired_t_tests(bias(one=[1, 2, 3], two=[5, 6])).iloc[0]["n_pairs"] == 2


def test_the_first_number_of_bins_counts():
    table = bias(one=[1, 2, 4], two=[2, 3, 3])
    more = table[table["estimator"] == "one"].assign(bias_percent=100.0)
    pd.testing.assert_frame_equal(paired_t_tests(pd.concat([table, more])), paired_t_tests(table))


def misses(tce, rate, m=2000, threshold_se=0.0):
    """Return table ``detection``, the null's row first: a miss rate of 0.95 with error 0.003."""
    rows = pd.DataFrame({"tce_percent": tce, "miss_rate": rate, "exponent": 1 + np.array(tce)})
    rows = rows.assign(n_replicates=m, miss_rate_se=0.01, miss_rate_threshold_se=threshold_se)
    first = pd.DataFrame([(0.0, 0.95, 1.0, 5000, 0.003, 0.002)], columns=list(rows))
    return pd.concat([first, rows], ignore_index=True).assign(estimator="e", n_samples=100)


def test_a_probit_curve_is_inverted_exactly():
    tce = np.arange(1.0, 11.0)
    limits = detection_limits(misses(tce, ndtr(3 - tce)), targets=(0.1, 0.05))
    # by hand: Phi(3 - x) = target at x = 3 + 1.2816 and 3 + 1.6449
    assert limits["tce_percent"].tolist() == pytest.approx([4.28155, 4.64485], abs=1e-4)
    low, high = limits["tce_low_percent"], limits["tce_high_percent"]
    assert limits["tce_percent"].between(low, high, inclusive="neither").all()
    rates = limits[["type_1_rate", "type_1_rate_se"]].to_numpy()
    assert rates == pytest.approx(np.array([[0.05, 0.003]] * 2))


@pytest.mark.nightly
@pytest.mark.parametrize(("m", "error"), [(500, 0.0), (4000, 0.1)])
def test_the_range_covers_the_truth_as_often_as_it_says(m, error):
    """By hand: a threshold that is off by e moves Phi(3 - x) to Phi(3 + e - x), for all x."""
    rng, tce = np.random.default_rng(6), np.arange(1.0, 9.0, 0.5)
    truth, covered = 3 + 1.2815516, [0, 0]
    threshold_se = error * norm.pdf(3 - tce)
    for _ in range(40):
        rate = rng.binomial(m, ndtr(3 + rng.normal(0, error) - tce)) / m
        for k, given in enumerate((threshold_se, 0.0)):
            row = detection_limits(misses(tce, rate, m, given), targets=(0.1,)).iloc[0]
            covered[k] += row["tce_low_percent"] <= truth <= row["tce_high_percent"]
    assert covered[0] > 35  # 38 are expected
    assert covered[1] < 31 or error == 0


def test_a_rate_always_above_or_below_the_target_has_no_limit_but_a_bound():
    above = detection_limits(misses([1.0, 2.0, 3.0], [0.9, 0.8, 0.7]), targets=(0.1,)).iloc[0]
    assert above[["tce_percent", "tce_high_percent"]].isna().all()
    assert above["tce_low_percent"] == 3.0
    rows = misses([1.0, 2.0], [0.0, 0.0]).query("exponent > 1")
    below = detection_limits(rows, targets=(0.1,)).iloc[0]
    assert below[["tce_percent", "type_1_rate"]].isna().all()
    assert below["tce_high_percent"] == 1.0


def test_a_bump_is_pooled():
    assert nonincreasing([0.9, 0.3, 0.5, 0.1], [1, 1, 1, 1]).tolist() == [0.9, 0.4, 0.4, 0.1]
    assert nonincreasing([0.0, 1.0], [1, 3]).tolist() == [0.75, 0.75]


def test_wilson_interval_of_no_misses():
    low, high = wilson_interval(np.array([0.0]), 100)
    expected = [0, 1.96**2 / (100 + 1.96**2)]
    assert [low[0], high[0]] == pytest.approx(expected, rel=1e-3, abs=1e-12)


def test_correlations_of_estimates_of_the_same_data_sets():
    """The second is twice the first, the third goes the other way, the last never changes."""
    values = {"a": [1.0, 2, 3, 6], "b": [2.0, 4, 6, 12], "c": [-1.0, -2, -3, -6], "d": [1.0] * 4}
    named = {name: {ReplicateCell("s", 200, 15): estimates(x)} for name, x in values.items()}
    named["b"][ReplicateCell("t", 200, 0)] = estimates([1.0, 2])  # alone there
    rows = correlation_rows("x", named)
    pairs = zip(rows["estimator_a"] + rows["estimator_b"], rows["correlation"], strict=True)
    expected = {"ab": 1, "ac": -1, "bc": -1, "ad": np.nan, "bd": np.nan, "cd": np.nan}
    assert dict(pairs) == pytest.approx(expected, nan_ok=True)
    assert rows["n_bins_a"].tolist() == [15] * 6


def test_correlations_of_misses_at_the_thresholds_of_each():
    cells = {name: {ReplicateCell("c", 100, 15): estimates(x)} for name, x in
             (("a", [1, 2, 3, 4]), ("b", [4, 3, 9, 9]), ("d", [0, 0, 0, 0]))}  # fmt: skip
    thresholds = {
        "estimator": ["a", "b", "d"],
        "n_samples": 100,
        "threshold_percent": [250, 500, 9],
    }
    rows = miss_correlations(cells, pd.DataFrame(thresholds).assign(n_samples=100), {"c": 2.0})
    assert [row[:4] for row in rows[:1]] == [(100, 2.0, "a", "b")]
    assert [row[4] for row in rows] == pytest.approx([1.0, np.nan, np.nan], nan_ok=True)


def test_a_batch_has_every_fifth_replicate():
    cells = {"a": {ReplicateCell("c", 100, 15): estimates(range(12))}}
    parts = [batch(cells, k)["a"][ReplicateCell("c", 100, 15)] for k in range(N_BATCHES)]
    assert [part.estimate.tolist() for part in parts[:2]] == [[0, 5, 10], [1, 6, 11]]
    assert sorted(np.concatenate([part.estimate for part in parts])) == [*range(12)]
