"""The assessment of one model: does it say what was built into the data, and nothing else?"""

from dataclasses import replace

import numpy as np
import pytest

import calbias
from calbias.assessment.api import ESTIMATORS, assess_top_label, loaded_estimators
from calbias.assessment.calibration_curve import fitted_model
from calbias.assessment.estimators import _ranked
from calbias.assessment.redraws import redrawn_estimates
from calbias.assessment.tables import estimator_rows, verdict_row
from calbias.errors import InputError
from calbias.estimation.inputs import as_top_label
from calbias.logits.top_label_table import Origin
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario

THREE = ("ece_bin_ew", "ece_bin_em", "ece_sweep_em")
CALIBRATED = Scenario("calibrated", 1.2, 0.3, Curve("identity"))
SQUARED = Scenario("squared", 1.2, 0.3, Curve("power", 0.0, 2.0))
UNKNOWN = ("truth", "bias", "bias_se", "sd", "rmse", "debiased", "trust_rank")


def data_of(scenario, n=2000, seed=9):
    scores, hits = calbias.simulate(scenario, n, seed=seed)
    return scores[0], hits[0]


@pytest.mark.parametrize("norm", [1, 2])
def test_a_miscalibrated_model_is_found_and_its_error_recovered(norm):
    assessment = calbias.assess(*data_of(SQUARED), estimators=THREE, replicates=200, norm=norm)
    assert assessment.miscalibrated
    assert assessment.direction == "overconfident"
    assert assessment.p_value == pytest.approx(1 / 201)
    truth = calbias.true_calibration_error(SQUARED, norm)
    for estimator in assessment.estimators:
        assert estimator.norm == norm
        assert abs(estimator.debiased - truth) < 4 * estimator.sd
    assert assessment.verdict.startswith("Not calibrated (p = 0.005 by ece_sweep_em): overconfid")


def test_a_calibrated_model_is_let_pass_although_its_estimate_is_not_zero():
    assessment = calbias.assess(*data_of(CALIBRATED, seed=10), estimators=THREE, replicates=200)
    assert not assessment.miscalibrated
    assert assessment.direction == "neither"
    assert assessment.verdict.startswith("No miscalibration is found (p = ")
    for estimator in assessment.estimators:
        assert estimator.truth < estimator.null_95
        assert estimator.estimate > 0.002


def test_p_values_of_calibrated_models_are_not_too_often_small():
    p_values = [
        calbias.assess(
            *data_of(CALIBRATED, 300, seed), estimators=["ece_sweep_em"], replicates=99
        ).p_value
        for seed in range(60)
    ]
    assert np.mean(np.array(p_values) <= 0.05) < 0.17  # 5 % expected; 3.5 binomial errors above


def test_estimators_are_ranked_among_those_of_their_target_and_norm():
    assessment = calbias.assess(
        *data_of(CALIBRATED, 500), estimators=[*ESTIMATORS, "kde_unrooted"], replicates=150, norm=2
    )
    unrooted = assessment["kde_unrooted"]
    assert unrooted.rmse < min(e.rmse for e in assessment.estimators if e.target == "lp")
    assert unrooted.trust_rank is None
    assert unrooted.note == "no other estimator of target lp_power at norm 2 to rank it by"
    assert unrooted.truth == pytest.approx(assessment["kde"].truth ** 2)
    ranks = [e.trust_rank for e in assessment.estimators if e.target == "lp"]
    assert ranks == sorted(ranks)
    assert ranks[0] == 1


def test_an_estimator_without_the_norm_has_its_own_and_is_ranked_apart():
    names = ["ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em"]
    assessment = calbias.assess(*data_of(SQUARED, 500), estimators=names, replicates=100)
    assert [e.norm for e in assessment.estimators] == [1, 1, 2, 2]
    assert min(e.trust_rank for e in assessment.estimators[2:]) == 1
    assert assessment.best.norm == 1


def test_ranks_within_monte_carlo_error_are_ties():
    assessment = calbias.assess(*data_of(SQUARED, 300), estimators=THREE, replicates=50)
    first, second, third = assessment.estimators
    rng = np.random.default_rng(1)
    noise = rng.random(400)
    errors = {first.name: noise, second.name: noise[::-1], third.name: noise + 0.2}
    ranks = [_ranked(e, assessment.estimators, errors).trust_rank for e in (first, second, third)]
    assert ranks == [1, 1, 3]


@pytest.mark.parametrize(
    ("scores", "hits", "reason"),
    [
        (np.linspace(0.5, 0.9, 50), np.ones(50), "all 50 samples are hits: no others can be"),
        (np.linspace(0.5, 0.9, 50), np.zeros(50), "all 50 samples are misses: no others can"),
        (np.linspace(0.1, 0.9, 200), np.linspace(0.1, 0.9, 200) > 0.5, "the scores separate hit"),
        (np.linspace(0.1, 0.9, 200), np.linspace(0.1, 0.9, 200) < 0.5, "the scores separate hit"),
        ([0.9, 0.8], [1, 0], "1 hits and 1 misses: a calibration curve needs at least 5 of each"),
        (np.linspace(0.5, 0.9, 50), np.arange(50) % 13 > 0, "46 hits and 4 misses: a calibration"),
    ],
)
def test_what_cannot_be_known_is_empty_with_the_reason(scores, hits, reason):
    assessment = calbias.assess(scores, hits, estimators=THREE, replicates=20)
    assert assessment.fitted_curve == ""
    assert assessment.verdict.endswith("of unknown bias.")
    for estimator in assessment.estimators:
        assert [getattr(estimator, name) for name in UNKNOWN] == [None] * len(UNKNOWN)
        assert estimator.note.startswith(reason)
        assert 0 < estimator.p_value <= 1
    row = estimator_rows(Origin("m", "real_logits", "exact"), "test", assessment)[0]
    assert row["bias_percent"] is row["trust_rank"] is None
    assert row["note"].startswith(reason)


def test_equal_scores_have_their_mean_hit_as_curve():
    assessment = calbias.assess(np.full(80, 0.7), np.arange(80) % 2, replicates=50)
    assert assessment.fitted_curve == "mean_hit"
    assert assessment["ece_bin_ew"].truth == pytest.approx(0.2)


def test_a_curve_that_does_not_follow_the_hits_has_a_small_p_value():
    scores, _ = data_of(CALIBRATED, 20_000)
    random = np.random.default_rng(3).random(scores.size)
    wave = np.clip(scores + 0.15 * np.sin(12 * np.pi * scores), 0, 1)
    poor = fitted_model(as_top_label(scores, random < wave)).fit_p_value
    good = fitted_model(as_top_label(scores, random < scores)).fit_p_value
    assert poor < 1e-6 < 0.01 < good


def test_no_truth_is_told_of_a_target_that_is_not_known():
    top = as_top_label(*data_of(SQUARED, 200))
    loaded = {"mine": loaded_estimators(["kde"], 1)["kde"]._replace(target="skill")}
    [mine] = assess_top_label(top, loaded, replicates=20).estimators
    assert mine.trust_rank is mine.bias is None
    assert mine.note == "the true value of its target skill is not known here"


def test_null_keeps_the_scores_and_a_certain_hit_has_no_error():
    runs = {
        name: lambda data, run=estimator.run: run(data, 15, 2.0)
        for name, estimator in loaded_estimators(THREE, 2).items()
    }
    null = redrawn_estimates(np.ones(50), np.ones(50), runs, 5, 1, "null")
    assert all((values == 0).all() for values in null.values())


def test_same_seed_same_numbers_whatever_else_is_assessed():
    data = data_of(SQUARED, 300)
    first = calbias.assess(*data, estimators=THREE, replicates=20, seed=4)
    again = calbias.assess(*data, estimators=THREE[::-1], replicates=20, seed=4)
    assert first["ece_bin_em"] == replace(
        again["ece_bin_em"], trust_rank=first["ece_bin_em"].trust_rank
    )
    assert calbias.assess(*data, estimators=THREE, replicates=20, seed=5) != first


def test_the_verdict_that_counts_does_not_depend_on_the_data():
    data = data_of(CALIBRATED, 200)
    assert calbias.assess(*data, estimators=THREE, replicates=10).decided_by == "ece_sweep_em"
    others = ["kde_unrooted", "ece_bin_em", "ece_bin_ew"]
    assert calbias.assess(*data, estimators=others, replicates=10).decided_by == "ece_bin_em"
    row = verdict_row(
        Origin("m", "real_logits", "exact"), "test", calbias.assess(*data, replicates=10)
    )
    assert row["miscalibrated"] == (row["p_value"] < 0.05)
    assert row["estimate_percent"] == round(row["estimate_percent"], 4)


def test_in_words():
    assessment = calbias.assess(*data_of(SQUARED, 300), estimators=THREE, replicates=20)
    verdict, head, *rows = str(assessment).splitlines()
    assert verdict == assessment.verdict
    assert head.split() == [
        "percent",
        "norm",
        "estimate",
        "bias",
        "sd",
        "debiased",
        "p-value",
        "rank",
    ]
    best = assessment.estimators[0]
    assert rows[0].split()[:3] == [best.name, "1", f"{100 * best.estimate:.2f}"]
    assert len(rows) == 3


def test_one_sample_is_refused():
    with pytest.raises(InputError, match="1 samples are too few to judge a model by"):
        calbias.assess([0.5], [1])
