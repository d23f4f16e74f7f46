"""Simulated scores stored as floats: tie groups as in a file, and the curve up to 1 alone."""

import numpy as np
import pytest
from scipy.special import expit

from calbias import Curve, Scenario
from calbias.engine.float_scores import log_gap_below_one, rounded
from calbias.engine.sampler import Sampler, draw
from calbias.engine.sorted_batch import of_sorted_scores
from calbias.estimation.loading import load_estimator
from reproduction.steps.compare_precisions import precision_rows

STEEP = Scenario("steep", 2.0, 0.04, Curve("logit_logflip_b1", b1=-0.1))


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("ties", ["average", "input_order"])
def test_rounded_data_sets_are_those_of_a_file_of_scores(precision, ties):
    (data,) = Sampler(STEEP, 300, seed=1).batches(range(3))
    result = rounded(data, precision, ties)
    for row in range(3):
        scores = data.scores[row].astype(precision).astype(float)
        expected = of_sorted_scores(scores, data.hits()[row : row + 1], ties)
        for ours, theirs in zip(result, expected, strict=True):
            np.testing.assert_array_equal(ours[row], theirs[0])
    assert (result.tie_first.size > 0) == (ties == "average")


def test_exact_scores_stay_as_they_are():
    data = draw(STEEP, 50, 0, seed=1)
    assert rounded(data, "exact") is data
    assert data.tie_first.size == 0


@pytest.mark.parametrize(("precision", "bits"), [("float64", 53), ("float32", 24)])
def test_scores_of_one_have_the_curve_at_the_largest_float_below(precision, bits):
    """T there is 1/(1 + 2^(-bits/10)); exact scores that round to 1 have more hits."""
    rates = {}
    for name in (precision, "exact"):
        (data,) = Sampler(STEEP, 40_000, seed=2, precision=name).batches([0])
        at_one = data.scores[0].astype(precision) == 1
        rates[name] = data.hits()[0][at_one].mean()
        n = np.count_nonzero(at_one)
    assert log_gap_below_one(precision) == pytest.approx(-bits * np.log(2))
    expected = expit(0.1 * bits * np.log(2))
    error = np.sqrt(expected * (1 - expected) / n)
    assert abs(rates[precision] - expected) < 4 * error
    assert rates["exact"] > expected + 4 * error
    assert n > 5000


def test_the_effect_on_an_estimator_is_that_of_the_same_draws():
    run = {name: load_estimator(name) for name in ("ece_sweep_em", "ece_debias_em")}
    rows = {
        (row["estimator"], row["precision"], row["ties"]): row
        for row in precision_rows(STEEP, 400, 20, run, seed=3)
    }
    assert len(rows) == 8
    sweep = rows["ece_sweep_em", "float64", "average"]
    values = {
        name: 100 * run["ece_sweep_em"](data, 15, 2.0)[0]
        for name in ("exact", "float64")
        for data in Sampler(STEEP, 400, 3, precision=name).batches(range(20))
    }
    difference = values["float64"] - values["exact"]
    assert sweep["effect_percent"] == pytest.approx(difference.mean())
    assert sweep["effect_se_percent"] == pytest.approx(difference.std(ddof=1) / 20**0.5)
    assert sweep["bias_percent"] - sweep["bias_exact_percent"] == pytest.approx(difference.mean())
    assert 0.1 < sweep["share_at_one"] < rows["ece_sweep_em", "float32", "average"]["share_at_one"]


def test_the_sweep_stops_earlier_on_floats():
    """A miss among scores of 1 can be at any rank there: fewer bins, a lower estimate."""
    densenet = Scenario("densenet40_c10", 1.9824, 0.0397, Curve("logit_logflip_b1", b1=-0.26))
    run = {name: load_estimator(name) for name in ("ece_sweep_em", "ece_bin_em")}
    rows = {
        (row["estimator"], row["ties"]): row
        for row in precision_rows(densenet, 12_800, 600, run, seed=1)
        if row["precision"] == "float64"
    }
    sweep = rows["ece_sweep_em", "input_order"]
    assert abs(sweep["effect_percent"] + 0.059) < 3 * np.hypot(0.004, sweep["effect_se_percent"])
    assert sweep["mean_n_bins_used"] < sweep["mean_n_bins_exact"]
    assert abs(rows["ece_bin_em", "average"]["effect_percent"]) < 1e-3
