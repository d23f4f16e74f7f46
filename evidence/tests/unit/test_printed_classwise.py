"""Class-wise errors that a paper prints, with noise floors: which are told from each other."""

import functools

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import judged, measured, verdicts_of
from scipy.special import softmax

from evidence.steps.judge_printed_classwise import DIFFERENCES, METHODS, printed_rows
from evidence.steps.measure_differences import difference_rows
from pipeline.claims.verdicts import NotJudged
from reproduction.outputs import Outputs

PRINTED = pd.read_csv(ROOT / "evidence/resources/published/kull2019_table3_classwise_ece.csv")


def outputs(method, sharpness, labels, logits):
    p = softmax(sharpness * logits, axis=1)
    return Outputs(method, p.max(axis=1), p.argmax(axis=1) == labels, p, labels)


@pytest.fixture(scope="module")
def found():
    """Outputs of three methods, and of a spline."""
    generator = np.random.default_rng(0)
    logits = 2 * generator.normal(size=(400, 4))
    p = softmax(logits, axis=1)
    labels = (generator.random((400, 1)) < p.cumsum(axis=1)).argmax(axis=1)
    sharpness = {"uncalibrated": 3.0, "temperature_scaling": 1.0, "bbq": 1.001}
    methods = [outputs(method, by, labels, logits) for method, by in sharpness.items()]
    return [*methods, Outputs("spline", labels * 0.5, labels == 0)]


def test_methods_that_hardly_differ_have_a_small_spread(found):
    rows = pd.DataFrame(difference_rows(found, 1)).set_index(["method_a", "method_b"])
    assert set(rows["measure"]) == {DIFFERENCES}
    assert len(rows) == 3
    near = rows.loc["temperature_scaling", "bbq"]
    far = rows.loc["uncalibrated", "temperature_scaling"]
    assert near["difference_sd"] < 0.1 * far["difference_sd"]


def test_without_temperature_scaling_labels_are_of_the_first_method(found):
    first = found[0]
    (row,) = difference_rows([first, first._replace(method="vector_scaling")], 1)
    assert (row["difference"], row["difference_sd"]) == (0.0, 0.0)


PAIRS = ["model", "method_a", "method_b", "difference_sd"]


@functools.cache
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
    table = made_up(("resnet110_c10", "resnet110_c100"), spread=0.002)
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
    return {"kull2019_table3": made_up(("resnet110_c10", "resnet110_c100"), spread)}


test_c04_counts_the_networks_whose_best_method_is_told_from_the_rest = verdicts_of(
    "C04", ledger, reproduced=[0.1], not_reproduced=[0.0]
)


def test_c04_counts():
    judgement = judged("C04", **ledger(0.1))
    assert measured(judgement, "networks judged").value == 12
    assert judgement.source == "real_logits"


def test_c04_needs_networks():
    with pytest.raises(NotJudged, match="like 0 of the table"):
        judged("C04", kull2019_table3=made_up((), 0.1))
