"""Predicted against observed bias: data whose curve is known, and what is refused."""

import numpy as np
import pytest

from calbias.beyond.predicted_bias import REFERENCE, predicted_bias
from calbias.errors import InputError
from calbias.estimation.api import estimate
from calbias.logits.top_label import TopLabel

ESTIMATORS = ["ece_bin_em", "ece_sweep_em"]


def rows_of(n, seed=0, atom=0):
    """Return a TopLabel of n rows with a slope of 0.6 in the log-odds, ``atom`` of them at 1."""
    generator = np.random.default_rng(seed)
    scores = generator.beta(3, 0.8, n)
    scores[:atom] = 1.0
    with np.errstate(divide="ignore"):
        logs = np.log(scores), np.log1p(-scores)
        rate = 1 / (1 + np.exp(-0.6 * np.where(scores < 1, logs[0] - logs[1], 6.0)))
    return TopLabel(scores, *logs, (generator.random(n) < rate).astype(np.uint8))


@pytest.mark.parametrize("atom", [0, 3000])
def test_a_curve_of_the_family_predicts_the_bias(atom):
    table = predicted_bias(rows_of(20_000, atom=atom), ESTIMATORS, [200, 800], 150, 6, name="made")
    assert [(row["estimator"], row["n_samples"]) for row in table] == [
        (estimator, n) for n in (200, 800) for estimator in ESTIMATORS
    ]
    for row in table:
        error = np.hypot(row["observed_bias_se_percent"], row["predicted_bias_se_percent"])
        distance = row["observed_bias_percent"] - row["predicted_bias_percent"]
        assert abs(distance) < 4 * error + 0.05
    biased = table[0]
    assert biased["observed_bias_percent"] > 1  # ECE_bin with 15 bins of 13 samples
    assert abs(biased["predicted_from_subsample_percent"] - biased["observed_bias_percent"]) < 1


def test_the_whole_file_as_its_only_subsample():
    """With n = N every subsample is the file: the observed bias follows from two estimates."""
    top = rows_of(300)
    (row,) = predicted_bias(top, ["ece_bin_ew"], [300], 2, 2, name="whole")
    names = ("ece_bin_ew", REFERENCE)
    estimates = [estimate(name, top.score, top.hit, norm=2).value for name in names]
    assert row["observed_bias_percent"] == pytest.approx(100 * (estimates[0] - estimates[1]))
    assert row["reference_percent"] == pytest.approx(100 * estimates[1])


def test_a_size_does_not_depend_on_the_other_sizes():
    top = rows_of(2000, seed=3)
    alone = predicted_bias(top, ESTIMATORS, [200], 5, 2, seed=1, name="a")
    among = predicted_bias(top, ESTIMATORS, [100, 200, 5000], 5, 2, seed=1, name="a")
    assert alone == among[2:]
    assert alone != predicted_bias(top, ESTIMATORS, [200], 5, 2, seed=2, name="a")


def test_refusals():
    top = rows_of(100)
    with pytest.raises(InputError, match="a: 100 rows: give sample sizes of at most that"):
        predicted_bias(top, ESTIMATORS, [200], 5, 2, name="a")
    with pytest.raises(InputError, match="all rows are hits, or none is"):
        predicted_bias(top._replace(hit=np.ones(100)), ESTIMATORS, [50], 5, 2)
