"""The assessment of one model: does it say what was built into the data?"""

import numpy as np
import pytest

from calbias.assessment import assess, redrawn_estimates
from calbias.engine.sampler import draw
from calbias.errors import InputError
from calbias.estimation.api import load_estimator
from calbias.io.table_schema import columns_of
from calbias.logits.top_label import TopLabel
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario

ESTIMATORS = {name: load_estimator(name) for name in ("ece_bin_ew", "ece_bin_em", "ece_sweep_em")}
CALIBRATED = Scenario("calibrated", 1.2, 0.3, Curve("identity"))
SQUARED = Scenario("squared", 1.2, 0.3, Curve("power", 0.0, 2.0))


def top_label_of(scenario, n=2000, replicate=3):
    data = draw(scenario, n, replicate, seed=9)
    score, hit = data.scores[0], data.hits()[0].astype(np.uint8)
    with np.errstate(divide="ignore"):
        return TopLabel(score, np.log(score), np.log1p(-score), hit)


def test_a_miscalibrated_model_is_found_and_its_error_recovered():
    rows = assess(top_label_of(SQUARED), ESTIMATORS, replicates=200)
    assert [row["trust_rank"] for row in rows] == [1, 2, 3]
    assert [row["rmse_percent"] for row in rows] == sorted(row["rmse_percent"] for row in rows)
    for row in rows:
        assert row["miscalibrated"]
        assert row["p_value"] == pytest.approx(1 / 201)
        assert abs(row["debiased_percent"] - row["fitted_tce_percent"]) < 4 * row["sd_percent"]


def test_a_calibrated_model_is_let_pass_although_its_estimate_is_not_zero():
    rows = assess(top_label_of(CALIBRATED), ESTIMATORS, replicates=200)
    for row in rows:
        assert row["fitted_tce_percent"] < row["null_95_percent"]
        assert row["estimate_percent"] > 0.2
        assert not row["miscalibrated"]
        assert row["p_value"] > 0.05


def test_p_values_of_calibrated_models_are_not_too_often_small():
    p_values = [
        assess(top_label_of(CALIBRATED, 300, k), ESTIMATORS, replicates=99)[0]["p_value"]
        for k in range(60)
    ]
    assert np.mean(np.array(p_values) <= 0.05) < 0.17  # 5 % expected; 3.5 binomial errors above


@pytest.mark.parametrize("hit", [0, 1])
def test_of_nothing_but_hits_or_misses_bias_and_trust_are_not_told(hit):
    top = top_label_of(CALIBRATED, 50)
    for row in assess(top._replace(hit=np.full(50, hit, np.uint8)), ESTIMATORS, replicates=20):
        assert row["estimate_percent"] > 0
        assert 0 < row["p_value"] <= 1
        for name in ("bias", "bias_se", "sd", "rmse", "debiased"):
            assert np.isnan(row[f"{name}_percent"])
        assert np.isnan(row["trust_rank"])


def test_null_keeps_the_scores_and_a_certain_hit_has_no_error():
    null = redrawn_estimates(np.ones(50), np.ones(50), ESTIMATORS, 5, 15, 2.0, key=1)
    assert all((values == 0).all() for values in null.values())


def test_same_seed_same_numbers_and_columns_are_as_documented():
    top = top_label_of(SQUARED, 300)
    first = assess(top, ESTIMATORS, replicates=20, seed=4)
    assert first == assess(top, ESTIMATORS, replicates=20, seed=4)
    assert set(first[0]) == set(columns_of("assessment")) - {"model", "source", "fold"}


def test_one_sample_is_refused():
    with pytest.raises(InputError, match="too few"):
        assess(top_label_of(SQUARED, 1), ESTIMATORS, replicates=20)
