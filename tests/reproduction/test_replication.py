"""Numbers that papers print, from outputs that ship; what a model without a fold is given."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from nightly import daily
from scipy.special import softmax
from shipped import shipped_folds

import calbias
from calbias.reading.output_file import Fold
from calbias.reading.top_label import top_label
from calbias.recalibration.temperature import inverse_temperature
from pipeline.fits.beta import fit_beta
from pipeline.fits.glm import best_fit, fit_all
from pipeline.logits import Logits
from reproduction.measured_rows import measure_rows
from reproduction.measures import MEASURES
from reproduction.outputs import outputs_of_logits
from reproduction.recalibration import PAPERS_METHODS
from reproduction.recalibration.registry import load_method
from reproduction.steps.replicate_model import NO_FOLD, replication_tables

RESNET, DENSENET = "resnet110_c10", "densenet40_c10"


OF_MODEL = {  # what an independent program found, and what papers print to their last digit
    RESNET: {
        "beta, float32_2020": (2.7752, 0.0478),  # Roelofs et al., Table 2
        "beta, exact": (4.8796, 0.0911),
        "ece": (6.6717, 6.651),  # of both folds; 6.67 is printed
        # Table 3 has its least mean AIC at logflip_logflip_b0_b1
        "glm": "logit_logit_b0_b1",
        "temperature": 2.3950,
        # Gupta et al., Tables 1, 2, 4 and 6, before and after temperature scaling
        "ks_top1": (4.750, 0.917),
        "ks_top2": (3.012, 0.948),
        "ks_within_top2": (1.805, 0.097),
        "ece25": (4.750, 1.224),
    },
    DENSENET: {
        "beta, float32_2020": (1.9824, 0.0397),
        "beta, exact": (2.6060, 0.0555),
        "ece": (6.6999, 8.227),  # 6.70 is printed
        "glm": "logflip_logflip_b0_b1",  # and here at logit_logflip_b1
        "temperature": 2.8826,
        "ks_top1": (5.493, 0.899),
        "ks_top2": (3.343, 0.535),
        "ks_within_top2": (2.255, 0.435),
        "ece25": (5.507, 1.006),
    },
}


@pytest.mark.parametrize(("model", "expected"), OF_MODEL.items())
def test_fits_and_errors_of_the_genuine_files(model, expected):
    folds = shipped_folds(model)
    for softmax_convention in ("float32_2020", "exact"):
        top = top_label(*folds["test"], softmax_convention)
        fit = fit_beta(top.log_score, top.log1m_score)
        found = round(fit.alpha, 4), round(fit.beta, 4)
        assert found == expected[f"beta, {softmax_convention}"]
        if softmax_convention == "float32_2020":
            logs = top.log_score, top.log1m_score
            fits = fit_all(*logs, top.hit, drop_scores_equal_to_one=True)
            assert best_fit(fits).glm == expected["glm"]
    tops = (top_label(*folds[fold]) for fold in ("validation", "test"))
    ece = [100 * calbias.estimate("ece_bin_ew", x.score, x.hit, norm=2).value for x in tops]
    assert (round(ece[0], 4), round(ece[1], 3)) == expected["ece"]
    assert round(1 / inverse_temperature(*folds["validation"]), 4) == expected["temperature"]


@pytest.mark.parametrize(("model", "expected"), OF_MODEL.items())
def test_before_and_after_temperature_scaling(model, expected):
    logits = Logits(shipped_folds(model)["validation"], shipped_folds(model)["test"])
    methods = outputs_of_logits(logits, methods=("uncalibrated", "temperature_scaling"))
    for k, outputs in enumerate(methods):
        values = {row["measure"]: row["value_percent"] for row in measure_rows(outputs, None)}
        for name in ("ks_top1", "ks_top2", "ks_within_top2", "ece25"):
            assert round(values[name], 3) == expected[name][k]


@pytest.mark.parametrize(
    ("model", "temperature", "value", "floor", "kull"),
    [
        (RESNET, 1.0, 0.0983, 0.0149, 0.098456),
        (RESNET, 2.3950, 0.0434, 0.0269, 0.043437),
        (DENSENET, 1.0, 0.1140, 0.0163, 0.114303),
        (DENSENET, 2.8826, 0.0405, 0.0295, 0.039768),
    ],
)
def test_classwise_errors_and_their_noise_floors(model, temperature, value, floor, kull):
    """Values to the digits of Kull et al. (2019), whose code has 14 bins; floors ± 0.002."""
    logits, labels = shipped_folds(model)["test"]
    p = softmax(logits.astype(float) / temperature, axis=1)
    found = calbias.noise_floor(p, labels, measure="classwise_ece_sum")
    assert found.value == pytest.approx(value, abs=5e-5)
    assert found.floor == pytest.approx(floor, abs=0.002)
    theirs = calbias.noise_floor(p, labels, measure="classwise_ece_sum", n_bins=14, replicates=20)
    assert theirs.value == pytest.approx(kull, abs=1.5e-6)


PRINTED = pd.read_csv(ROOT / "resources/published/mukhoti2020_table1.csv")


@pytest.mark.parametrize("model", daily(PRINTED["model"].unique(), 1))
def test_table_1_of_mukhoti_et_al_comes_out_to_the_printed_digit(model):
    logits = Logits(shipped_folds(model)["validation"], shipped_folds(model)["test"])
    found = {
        (row["method"], row["measure"]): row["value_percent"]
        for outputs in outputs_of_logits(logits, methods=("uncalibrated", "temperature_by_ece"))
        for row in measure_rows(outputs, None)
    }
    for cell in PRINTED[PRINTED["model"] == model].itertuples():
        assert found[cell.method, cell.measure] == pytest.approx(cell.published_percent, abs=0.0051)


@pytest.mark.parametrize(
    ("model", "accuracy", "before", "after", "temperature"),
    daily([
        ("resnet50_brier_c10", 95.00, 1.819, 1.121, 1.0959),
        ("resnet110_brier_c10", 94.52, 2.564, 1.294, 1.1714),
        ("resnet110_focal_c10", 94.58, 1.873, 1.061, 1.1055),
        ("resnet50_brier_c100", 76.61, 6.524, 4.813, 1.0517),
        ("wrn26_brier_c100", 79.41, 4.311, 4.243, 1.0093),
        ("resnet110_c10_lt", 75.97, 19.138, 5.903, 3.4452),
        ("resnet110_SD_c10_lt", 64.90, 14.428, 6.756, 1.3833),
        ("densenet100_c100", 75.41, 14.215, None, None),
        ("news20", 92.34, 20.114, None, None),
        ("imdb", 89.58, 4.038, None, None),
    ], 2),
)  # fmt: skip
def test_numbers_of_an_independent_program(model, accuracy, before, after, temperature):
    folds = shipped_folds(model)

    def ece(scale):
        top = top_label(folds["test"].logits * scale, folds["test"].labels)
        return round(100 * MEASURES["ece"].of(top.score, top.hit), 3), top.hit.mean()

    value, rate = ece(1.0)
    assert (value, round(100 * rate, 2)) == (before, accuracy)
    if temperature:
        inverse = inverse_temperature(*folds["validation"])
        assert round(1 / inverse, 4) == temperature
        assert ece(inverse)[0] == after


def small(model, n):
    return {
        name: Fold(*(array[:n] for array in fold)) for name, fold in shipped_folds(model).items()
    }


def test_a_model_without_a_validation_fold_is_measured_as_it_is():
    rows = replication_tables(small("imdb", 300), False, seed=1)["replication"]
    assert set(rows["n_validation"]) == {0}
    assert set(rows.loc[rows["needs"].isna(), "method"]) == {"uncalibrated"}
    refused = rows[rows["needs"] == NO_FOLD]
    assert set(refused["method"]) == set(PAPERS_METHODS) - {"uncalibrated"}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
def test_the_slow_matrices_of_a_hundred_classes_are_left_to_the_target_replication():
    rows = replication_tables(small("wrn26_brier_c100", 150), False, seed=1)["replication"]
    left_out = rows[rows["needs"].notna()]
    assert dict(zip(left_out["method"], left_out["needs"], strict=True)) == {
        "ms_odir": "snakemake replication", "dir_odir": "snakemake replication"
    }  # fmt: skip
    assert {*PAPERS_METHODS, "temperature_by_ece"} == set(rows["method"])


def test_the_temperature_of_least_ece_is_on_the_grid_and_the_smallest_of_several():
    logits, labels = np.zeros((10, 2), np.float32), np.zeros(10, np.int64)
    logits[:, 0] = 800.0  # always right and sure: every temperature has an ECE of 0
    assert load_method("temperature_by_ece")(logits, labels).inverse == 10.0
    # scores of 0.6 with half right: overconfident at any T, least at the largest
    logits[:, 0] = np.log(0.6 / 0.4)
    labels[::2] = 1
    assert load_method("temperature_by_ece")(logits, labels).inverse == 0.1
