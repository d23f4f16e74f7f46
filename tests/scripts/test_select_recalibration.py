"""``select_recalibration.py`` on the selections of two small surrogates."""

from pathlib import Path

import pandas as pd
import pytest

import recalibrate_model
import select_recalibration
from calbias.io.table_schema import tables
from calbias.recalibration.analysis_choices import CHOICES

ROOT = Path(__file__).parents[2]
COLUMNS = tables()
PUBLISHED = ROOT / "resources/published/roelofs2022_table1_recalibration_selection.csv"
MODELS = {"resnet110_c10": 10, "densenet40_c100": 100}


@pytest.fixture(scope="module")
def selections(surrogate, tmp_path_factory):
    folder = tmp_path_factory.mktemp("selections")
    paths = []
    for model, n_classes in MODELS.items():
        logits = surrogate(folder, 300, 300, 1, model, n_classes)
        paths.append(str(folder / f"{model}.csv"))
        recalibrate_model.main(
            f"--model {model} --logits {logits} --seed 1 --bootstrap 4 "
            f"--output {folder / 'values.csv'} --selection-output {paths[-1]}".split()
        )
    return paths


def run(selections, folder):
    outputs = folder / "selection.csv", folder / "sensitivity.csv"
    select_recalibration.main(
        [
            *("--selections", *selections, "--published", str(PUBLISHED)),
            *("--output-selection", str(outputs[0]), "--output-sensitivity", str(outputs[1])),
        ]
    )
    return [pd.read_csv(path) for path in outputs]


def test_both_tables_keep_their_contracts(selections, tmp_path):
    selection, sensitivity = run(selections, tmp_path)
    assert list(selection.columns) == COLUMNS["recalibration_selection"]["columns"]
    assert list(sensitivity.columns) == COLUMNS["recalibration_sensitivity"]["columns"]
    assert list(dict.fromkeys(selection["model"])) == list(MODELS)
    assert not selection.duplicated(["model", "measure"]).any()
    assert list(dict.fromkeys(sensitivity["choice"])) == [choice.name for choice in CHOICES]
    assert (sensitivity["n_models"] == 2).all()
    default = sensitivity[sensitivity["choice"] == "default"].set_index("measure")
    for measure, rows in selection.groupby("measure"):
        assert default.loc[measure, "n_agree"] == rows["agrees"].sum()


def test_the_published_ticks_stand_beside_the_papers_two_estimators(selections, tmp_path):
    selection, _ = run(selections, tmp_path)
    ticks = selection.dropna(subset="published_agrees")
    found = ticks.set_index(["model", "measure"])["published_agrees"].astype(str).to_dict()
    assert found == {
        ("resnet110_c10", "ece_bin_ew"): "False",
        ("resnet110_c10", "ece_sweep_em"): "True",
        ("densenet40_c100", "ece_bin_ew"): "False",
        ("densenet40_c100", "ece_sweep_em"): "True",
    }


def test_a_model_given_twice_is_one_line(selections, tmp_path, refused):
    with refused("error: model resnet110_c10 comes twice: give its selections once"):
        run([selections[0], selections[0]], tmp_path)
