"""Simulated scores stored as floats: tie groups as in a file, and the curve up to 1 alone."""

import numpy as np
import pytest
from scipy.special import expit

from calbias import Curve, Scenario
from calbias.engine.float_scores import log_gap_below_one, rounded
from calbias.engine.sampler import Sampler, draw
from calbias.engine.sorted_batch import of_sorted_scores

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
