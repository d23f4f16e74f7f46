"""Numbers that papers print, from outputs that ship; class-wise errors with noise floors."""

import functools

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import judged, measured, verdicts_of
from scipy.special import softmax
from shipped import shipped_folds

import calbias
from calbias.logits.top_label import top_label
from calbias.recalibration import inverse_temperature
from evidence.studies.printed_classwise import DIFFERENCES, METHODS, printed_rows
from pipeline.claims.verdicts import NotJudged
from pipeline.fits.beta import fit_beta
from pipeline.fits.glm import best_fit, fit_all
from pipeline.logits import Logits
from reproduction.noise_floors import FLOORS, NoiseFloors
from reproduction.outputs import Outputs, outputs_of_logits

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


PRINTED = pd.read_csv(ROOT / "resources/published/kull2019_table3_classwise_ece.csv")


def outputs(method, sharpness, labels, logits):
    p = softmax(sharpness * logits, axis=1)
    return Outputs(method, p.max(axis=1), p.argmax(axis=1) == labels, p, labels)


@pytest.fixture(scope="module")
def floors():
    generator = np.random.default_rng(0)
    logits = 2 * generator.normal(size=(400, 4))
    sums = softmax(logits, axis=1).cumsum(axis=1)
    labels = (generator.random((400, 1)) < sums).argmax(axis=1)
    found = NoiseFloors(seed=1)
    for method, sharpness in (("uncalibrated", 3.0), ("temperature_scaling", 1.0), ("bbq", 1.001)):
        found.add(outputs(method, sharpness, labels, logits))
    found.add(Outputs("spline", labels * 0.5, labels == 0))
    return found, labels, softmax(logits, axis=1)


def test_each_method_with_all_classes_has_every_floor(floors):
    found, labels, p = floors
    rows = pd.DataFrame(found.rows).set_index(["method", "measure"])
    assert len(rows) == 3 * len(FLOORS)
    same = calbias.noise_floor(p, labels, seed=1)
    row = rows.loc["temperature_scaling", "classwise_ece_mean"]
    for key in ("value", "floor", "floor_sd", "p_value"):
        assert row[key] == getattr(same, key)
    assert rows.loc[("uncalibrated", "classwise_ece_mean"), "p_value"] == pytest.approx(1 / 201)


def test_methods_that_hardly_differ_have_a_small_spread(floors):
    rows = pd.DataFrame(floors[0].differences()).set_index(["method_a", "method_b"])
    assert set(rows["measure"]) == {DIFFERENCES}
    assert len(rows) == 3
    near = rows.loc["temperature_scaling", "bbq"]
    far = rows.loc["uncalibrated", "temperature_scaling"]
    assert near["difference_sd"] < 0.1 * far["difference_sd"]


def test_without_temperature_scaling_labels_are_of_the_first_method(floors):
    _, labels, p = floors
    found = NoiseFloors(seed=1)
    for method in ("uncalibrated", "vector_scaling"):
        found.add(Outputs(method, p.max(axis=1), labels == 0, p, labels))
    (row,) = found.differences()
    assert (row["difference"], row["difference_sd"]) == (0.0, 0.0)


PAIRS = ["model", "method_a", "method_b", "difference_sd"]


def made_up(models, spread):
    kinds = PRINTED[PRINTED["model"].isin(models)][["model", "n_classes", "n_samples"]]
    floors = kinds.merge(pd.DataFrame({"method": METHODS}), how="cross").assign(
        measure=DIFFERENCES, value=0.0983, floor=0.05, floor_sd=0.001
    )  # the uncalibrated value of resnet110_c10 as printed, 0.098
    pairs = [
        {"model": model, "method_a": a, "method_b": b, "difference_sd": spread}
        for model in models
        for i, a in enumerate(METHODS)
        for b in METHODS[i + 1 :]
    ]
    return pd.DataFrame(printed_rows(PRINTED, floors, pd.DataFrame(pairs, columns=PAIRS)))


def test_a_difference_within_the_spread_is_undecided():
    table = made_up(["resnet110_c10", "resnet110_c100"], spread=0.002)
    own = table[table["model"] == "resnet110_c10"].set_index("method")
    assert own.loc["dirichlet_l2", "verdict"] == "best"  # 0.032
    assert own.loc["vector_scaling", "verdict"] == "undecided by noise"  # 0.036, 1.96 × 0.0021
    assert own.loc["temperature_scaling", "verdict"] == "worse"  # 0.043
    assert set(own["floor_from"]) == {"its own outputs"}
    for model in ("lenet5_c100", "resnet110_c100"):  # that one is another network of its name
        other = table[table["model"] == model]
        assert set(other["floor_from"]) == {"1 other networks"}
    assert other["recomputed"].isna().all()
    svhn = table[table["model"] == "convnet_svhn"]
    assert set(svhn["verdict"]) == {"best", "no network of this kind"}


def ledger(spread):
    return {"kull2019_table3": made_up(["resnet110_c10", "resnet110_c100"], spread)}


test_c04_counts_the_networks_whose_best_method_is_told_from_the_rest = verdicts_of(
    "C04", ledger, reproduced=[0.0025, 0.1], not_reproduced=[0.0]
)


def test_c04_counts():
    judgement = judged("C04", **ledger(0.1))
    assert measured(judgement, "networks judged").value == 12
    assert judgement.source == "real_logits"


def test_c04_needs_networks():
    with pytest.raises(NotJudged, match="like 0 of the table"):
        judged("C04", kull2019_table3=made_up([], 0.1))


@pytest.mark.parametrize(
    ("model", "temperature", "value", "floor", "kull"),
    [
        (RESNET, 1.0, 0.0983, 0.0149, 0.098456),
        (RESNET, 2.3950, 0.0434, 0.0269, 0.043437),
        (DENSENET, 1.0, 0.1140, 0.0163, 0.114303),
        (DENSENET, 2.8826, 0.0405, 0.0295, 0.039768),
    ],
)
def test_genuine_networks_before_and_after_temperature(model, temperature, value, floor, kull):
    """Values to the digits of Kull et al. (2019), whose code has 14 bins; floors ± 0.002."""
    logits, labels = folds(model)["test"]
    p = softmax(logits.astype(float) / temperature, axis=1)
    found = calbias.noise_floor(p, labels, measure="classwise_ece_sum")
    assert found.value == pytest.approx(value, abs=5e-5)
    assert found.floor == pytest.approx(floor, abs=0.002)
    theirs = calbias.noise_floor(p, labels, measure="classwise_ece_sum", n_bins=14, replicates=20)
    assert theirs.value == pytest.approx(kull, abs=1.5e-6)
