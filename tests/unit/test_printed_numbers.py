"""Numbers that papers print of the two genuine files, and those that independent programs found."""

import functools

import numpy as np
import pytest
from shipped import shipped_folds

import calbias
from calbias.logits.top_label import top_label
from calbias.recalibration import inverse_temperature
from pipeline.fits.beta import fit_beta
from pipeline.fits.glm import best_fit, fit_all
from pipeline.logits.store import Logits
from reproduction.measured.outputs import outputs_of_logits

RESNET, DENSENET = "resnet110_c10", "densenet40_c10"


@functools.cache
def folds(model):
    return shipped_folds(model)


@functools.cache
def tops(model, softmax="exact"):
    return {name: top_label(*fold, softmax) for name, fold in folds(model).items()}


@functools.cache
def values(model):
    """{(method, measure): value in percent} before and after temperature scaling."""
    logits = Logits(folds(model)["validation"], folds(model)["test"])
    found = {}
    for outputs in outputs_of_logits(logits, methods=("uncalibrated", "temperature_scaling")):
        for name in ("ece", "ece25", "ks_top1", "ks_top2", "ks_within_top2", "classwise_ece"):
            measure, *data = outputs.given(name)
            found[outputs.method, name] = 100 * measure.of(*data)
    return found


@pytest.mark.parametrize(
    ("model", "softmax", "expected"),
    [
        (RESNET, "float32_2020", (2.7752, 0.0478)),  # Roelofs et al., Table 2
        (DENSENET, "float32_2020", (1.9824, 0.0397)),
        (RESNET, "exact", (4.8796, 0.0911)),
        (DENSENET, "exact", (2.6060, 0.0555)),
    ],
)
def test_beta_parameters(model, softmax, expected):
    top = tops(model, softmax)["test"]
    fit = fit_beta(top.log_score, top.log1m_score)
    assert (round(fit.alpha, 4), round(fit.beta, 4)) == expected


@pytest.mark.parametrize(
    ("model", "validation", "test"), [(RESNET, 6.6717, 6.651), (DENSENET, 6.6999, 8.227)]
)
def test_ece_bin_of_the_validation_fold_is_table_4s(model, validation, test):
    found = {
        fold: 100 * calbias.estimate("ece_bin_ew", top.score, top.hit, n_bins=15, norm=2).value
        for fold, top in tops(model).items()
    }
    assert round(found["validation"], 4) == validation  # 6.67 and 6.70 are printed
    assert round(found["test"], 3) == test


@pytest.mark.parametrize(
    ("model", "winner"),
    [(RESNET, "logit_logit_b0_b1"), (DENSENET, "logflip_logflip_b0_b1")],
)
def test_the_winning_curve(model, winner):
    """Table 3 has its least mean AICs at logflip_logflip_b0_b1 and at logit_logflip_b1."""
    top = tops(model, "float32_2020")["test"]
    fits = fit_all(top.log_score, top.log1m_score, top.hit, drop_scores_equal_to_one=True)
    assert best_fit(fits).glm == winner


@pytest.mark.parametrize(("model", "temperature"), [(RESNET, 2.3950), (DENSENET, 2.8826)])
def test_temperature(model, temperature):
    assert round(1 / inverse_temperature(*folds(model)["validation"]), 4) == temperature


@pytest.mark.parametrize(
    ("model", "measure", "before", "after"),
    [  # Gupta et al., Tables 1, 2, 4 and 6, to a unit of their last digit
        (RESNET, "ks_top1", 4.750, 0.917),
        (RESNET, "ks_top2", 3.012, 0.948),
        (RESNET, "ks_within_top2", 1.805, 0.097),
        (RESNET, "ece25", 4.750, 1.224),
        (DENSENET, "ks_top1", 5.493, 0.899),
        (DENSENET, "ks_top2", 3.343, 0.535),
        (DENSENET, "ks_within_top2", 2.255, 0.435),
        (DENSENET, "ece25", 5.507, 1.006),
    ],
)
def test_before_and_after_temperature_scaling(model, measure, before, after):
    found = values(model)
    assert round(found["uncalibrated", measure], 3) == before
    assert round(found["temperature_scaling", measure], 3) == after


@pytest.mark.parametrize(
    ("model", "before", "after"), [(RESNET, 4.75, 1.14), (DENSENET, 5.50, 0.96)]
)
def test_ece15_of_a_third_source(model, before, after):
    """The log of temperature scaling in SeungjinJung/SCTL; its temperatures are not printed."""
    found = values(model)
    assert round(found["uncalibrated", "ece"], 2) == before
    assert abs(found["temperature_scaling", "ece"] - after) < 0.015


@pytest.mark.parametrize(
    ("model", "before", "after"), [(RESNET, 0.0983, 0.0434), (DENSENET, 0.1140, 0.0405)]
)
def test_classwise_ece_summed_over_classes_is_kull_et_als(model, before, after):
    """Kull et al. (2019) print 0.098 and 0.043 of the first."""
    found = values(model)
    sums = [found[m, "classwise_ece"] / 100 * 10 for m in ("uncalibrated", "temperature_scaling")]
    assert np.round(sums, 4).tolist() == [before, after]
