"""Paired t-tests of absolute bias, against the formula."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calbias.summaries.paired_t_test import paired_t_tests


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
