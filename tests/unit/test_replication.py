"""Other networks: printed and independent numbers, and what a model without a fold is given."""

import functools

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from shipped import shipped_folds

from calbias.errors import InputError
from calbias.logits.output_file import Fold
from calbias.logits.top_label import top_label
from calbias.recalibration import inverse_temperature
from reproduction.measures import MEASURES
from reproduction.recalibration import PAPERS_METHODS
from reproduction.recalibration.registry import load_method
from reproduction.steps.replicate_model import NO_FOLD, mukhoti_rows, replication_rows

PRINTED = pd.read_csv(ROOT / "resources/published/mukhoti2020_table1.csv").set_index("model")

folds_of = functools.cache(shipped_folds)


@pytest.mark.parametrize("model", PRINTED.index)
def test_table_1_of_mukhoti_et_al_comes_out_to_the_printed_digit(model):
    printed = PRINTED.loc[model]
    computed, given = mukhoti_rows(model, folds_of(model), printed)
    assert (computed["row"], given["row"]) == ("computed", "printed")
    for column in PRINTED:
        digits = 1 if column == "temperature" else 2
        assert f"{computed[column]:.{digits}f}" == f"{printed[column]:.{digits}f}"


@pytest.mark.parametrize(
    ("model", "accuracy", "before", "after", "temperature"),
    [
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
    ],
)
def test_numbers_of_an_independent_program(model, accuracy, before, after, temperature):
    folds = folds_of(model)

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
    return {name: Fold(*(array[:n] for array in fold)) for name, fold in folds_of(model).items()}


def test_a_model_without_a_validation_fold_is_measured_as_it_is():
    rows = pd.DataFrame(replication_rows(small("imdb", 300)))
    assert set(rows["n_validation"]) == {0}
    assert set(rows.loc[rows["needs"].isna(), "method"]) == {"uncalibrated"}
    refused = rows[rows["needs"] == NO_FOLD]
    assert set(refused["method"]) == set(PAPERS_METHODS) - {"uncalibrated"}
    with pytest.raises(InputError, match="imdb: no validation fold"):
        mukhoti_rows("imdb", small("imdb", 300), {})


@pytest.mark.filterwarnings("ignore")
def test_the_slow_matrices_of_a_hundred_classes_are_left_to_the_target_replication():
    rows = pd.DataFrame(replication_rows(small("wrn26_brier_c100", 150)))
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
