"""``recalibrate_model.py`` on small surrogates."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recalibrate_model
from calbias.estimation.api import estimate
from calbias.estimation.registry import known_estimators
from calbias.io.table_schema import tables
from calbias.logits.store import load_fold
from calbias.logits.top_label import top_label
from calbias.recalibration.analysis_choices import CHOICES

ROOT = Path(__file__).parents[2]
COLUMNS = tables()
METHODS = ["uncalibrated", "temperature_scaling", "histogram_binning", "isotonic_regression"]
MEASURES = [*known_estimators(), "ks_error", "accuracy", "nll"]


@pytest.fixture(scope="module")
def logits(surrogate, tmp_path_factory):
    return surrogate(tmp_path_factory.mktemp("logits"), 400, 500, 3)


def run(logits, folder, *options, bootstrap=8):
    paths = [folder / name for name in ("values.csv", "selections.csv", "details.csv")]
    outputs = zip(("--output", "--selection-output", "--details-output"), paths, strict=True)
    recalibrate_model.main(
        [
            *("--model", "resnet110_c10", "--logits", str(logits), "--seed", "5"),
            *("--bootstrap", str(bootstrap)),
            *(str(word) for pair in outputs for word in pair),
            *options,
        ]
    )
    return paths


@pytest.fixture(scope="module")
def tables(logits, tmp_path_factory):
    return [pd.read_csv(path) for path in run(logits, tmp_path_factory.mktemp("tables"))]


def test_values_are_a_row_per_method_measure_and_reference(tables):
    values = tables[0]
    assert list(values.columns) == COLUMNS["recalibration"]["columns"]
    assert set(values["source"]) == {"surrogate_logits"}
    keys = values[["method", "measure", "reference"]].apply(tuple, axis=1).tolist()
    references = ("glm_empirical", "glm_beta")
    assert keys == [(m, e, r) for m in METHODS for e in MEASURES for r in references]
    one = values.groupby(["method", "reference"])["reference_tce_percent"].nunique()
    assert (one == 1).all()


def test_each_measure_selects_its_least_value_once(tables):
    values = tables[0]
    assert not values.loc[values["method"] == "uncalibrated", "selected"].any()
    of_one = values[(values["reference"] == "glm_beta") & (values["method"] != "uncalibrated")]
    for measure, rows in of_one.groupby("measure"):
        chosen = rows.loc[rows["selected"], "value_percent"]
        best = rows["value_percent"].max() if measure == "accuracy" else rows["value_percent"].min()
        assert chosen.tolist() == [best]


def test_values_are_those_of_the_estimators(tables, logits):
    values = tables[0].set_index(["method", "measure", "reference"])
    top = top_label(*load_fold(logits, "test"))
    row = values.loc[("uncalibrated", "ece_sweep_em", "glm_empirical")]
    assert row["value_percent"] == 100 * estimate("ece_sweep_em", top.score, top.hit, norm=2).value
    assert row["n_distinct_scores"] == len(np.unique(top.score))
    scaled = values.loc["temperature_scaling"]
    assert (scaled["accuracy_change_percent"] == 0).all()
    assert (values.loc["histogram_binning"]["n_distinct_scores"] < 300).all()


def test_selections_have_a_row_per_choice_and_measure(tables):
    values, selections, _ = tables
    assert list(dict.fromkeys(selections["choice"])) == [choice.name for choice in CHOICES]
    default = selections[selections["choice"] == "default"].set_index("measure")
    chosen = values[values["selected"]].drop_duplicates("measure").set_index("measure")["method"]
    for measure in default.index:
        assert default.loc[measure, "selected_method"] == chosen[measure]
    reference = values[
        (values["reference"] == "glm_empirical") & (values["method"] != "uncalibrated")
    ]
    least = reference.loc[reference["reference_tce_percent"].idxmin(), "method"]
    assert set(default["reference_method"]) == {least}
    assert default["agreement_frequency"].between(0, 1).all()


def test_details_tell_the_bins_of_the_sweeps_and_the_reference_curve(tables, logits):
    details = tables[2].set_index("method")
    assert list(details.index) == METHODS
    top = top_label(*load_fold(logits, "test"))
    used = details.loc["uncalibrated", "n_bins_ece_sweep_em"]
    assert used == estimate("ece_sweep_em", top.score, top.hit).n_bins
    assert details["reference_curve"].notna().all()


def test_the_same_seed_gives_the_same_bytes(logits, tmp_path):
    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        texts.append([path.read_bytes() for path in run(logits, tmp_path / name)])
    assert texts[0] == texts[1]


def test_the_published_softmax_is_accepted(logits, tmp_path):
    values = pd.read_csv(run(logits, tmp_path, "--softmax", "float32_2020")[0])
    assert values["value_percent"].notna().all()


def test_mistakes_are_one_line(logits, tmp_path, refused):
    with np.load(logits) as archive:
        arrays = {name: archive[name] for name in archive if not name.startswith("validation")}
    np.savez(tmp_path / "test_only.npz", **arrays)
    for file, options, expected in (
        (tmp_path / "test_only.npz", {}, "test_only.npz: not a file that read_logits.py"),
        (tmp_path / "absent.npz", {}, "absent.npz"),
        (logits, {"bootstrap": 1}, "--bootstrap must be at least 2"),
    ):
        with refused(expected):
            run(file, tmp_path, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test_only.npz"]
