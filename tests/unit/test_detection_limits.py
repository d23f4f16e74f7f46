"""The TCE at which a miss rate falls to a target."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from scipy.stats import norm

from pipeline.detection_limits import detection_limits, nonincreasing, wilson_interval


def table(tce, rate, m=2000, threshold_se=0.0):
    """Return table ``detection``, the null's row first: a miss rate of 0.95 with error 0.003."""
    rows = pd.DataFrame({"tce_percent": tce, "miss_rate": rate, "exponent": 1 + np.array(tce)})
    rows = rows.assign(n_replicates=m, miss_rate_se=0.01, miss_rate_threshold_se=threshold_se)
    first = pd.DataFrame([(0.0, 0.95, 1.0, 5000, 0.003, 0.002)], columns=list(rows))
    return pd.concat([first, rows], ignore_index=True).assign(estimator="e", n_samples=100)


def test_a_probit_curve_is_inverted_exactly():
    tce = np.arange(1.0, 11.0)
    limits = detection_limits(table(tce, ndtr(3 - tce)), targets=(0.1, 0.05))
    # by hand: Phi(3 - x) = target at x = 3 + 1.2816 and 3 + 1.6449
    assert limits["tce_percent"].tolist() == pytest.approx([4.28155, 4.64485], abs=1e-4)
    low, high = limits["tce_low_percent"], limits["tce_high_percent"]
    assert limits["tce_percent"].between(low, high, inclusive="neither").all()
    rates = limits[["type_1_rate", "type_1_rate_se"]].to_numpy()
    assert rates == pytest.approx(np.array([[0.05, 0.003]] * 2))


def test_the_range_covers_the_truth_as_often_as_it_says():
    rng, tce = np.random.default_rng(5), np.arange(1.0, 9.0, 0.5)
    truth, covered = 3 + 1.2815516, 0
    for _ in range(100):
        rate = rng.binomial(500, ndtr(3 - tce)) / 500
        row = detection_limits(table(tce, rate, 500), targets=(0.1,)).iloc[0]
        covered += row["tce_low_percent"] <= truth <= row["tce_high_percent"]
    assert covered > 93


def test_the_range_covers_the_truth_where_the_threshold_is_off_for_all_miss_rates_at_once():
    """By hand: a threshold that is off by e moves Phi(3 - x) to Phi(3 + e - x)."""
    rng, tce = np.random.default_rng(6), np.arange(1.0, 9.0, 0.5)
    truth, error, covered = 3 + 1.2815516, 0.1, [0, 0]
    threshold_se = error * norm.pdf(3 - tce)
    for _ in range(100):
        rate = rng.binomial(4000, ndtr(3 + rng.normal(0, error) - tce)) / 4000
        for k, given in enumerate((threshold_se, 0.0)):
            row = detection_limits(table(tce, rate, 4000, given), targets=(0.1,)).iloc[0]
            covered[k] += row["tce_low_percent"] <= truth <= row["tce_high_percent"]
    assert covered[0] > 93
    assert covered[1] < 75


def test_a_rate_always_above_or_below_the_target_has_no_limit_but_a_bound():
    above = detection_limits(table([1.0, 2.0, 3.0], [0.9, 0.8, 0.7]), targets=(0.1,)).iloc[0]
    assert above[["tce_percent", "tce_high_percent"]].isna().all()
    assert above["tce_low_percent"] == 3.0
    rows = table([1.0, 2.0], [0.0, 0.0]).query("exponent > 1")
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
