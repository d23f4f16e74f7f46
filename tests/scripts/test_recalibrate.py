"""``recalibrate_model`` and ``select_recalibration`` on small made-up logits."""

import itertools

import numpy as np
import pytest
from checkout import PUBLISHED, ROOT
from command import read, run

from calbias.estimation.api import estimate
from calbias.estimation.registry import known_estimators
from calbias.logits.top_label import top_label
from pipeline.logits.store import load_logits

TICKS = PUBLISHED / "roelofs2022_table1_recalibration_selection.csv"
SHIPPED = ROOT / "resources/manifest.json"
METHODS = ["uncalibrated", "temperature_scaling", "histogram_binning", "isotonic_regression"]
MEASURES = [*known_estimators(), "ks_error", "accuracy", "nll"]
MODELS = {"resnet110_c10": 10, "densenet40_c100": 100}


def recalibrated(logits, folder, bootstrap=4, **options):
    """Return the paths of the values and the selections of a model."""
    names = ("recalibration", "selections")
    paths = [folder / f"{name}.parquet" for name in names]
    run("recalibrate_model", model=logits.stem, logits=logits, seed=5, bootstrap=bootstrap,
        output_recalibration=paths[0], output_selections=paths[1], manifest=SHIPPED,
        **options)  # fmt: skip
    return paths


@pytest.fixture(scope="module")
def logits(made_up_logits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logits")
    return [made_up_logits(folder, 300, 400, 3, model, k) for model, k in MODELS.items()]


@pytest.fixture(scope="module")
def paths(logits, tmp_path_factory):
    return [recalibrated(path, tmp_path_factory.mktemp(path.stem)) for path in logits]


@pytest.fixture(scope="module")
def values(paths):
    return read(paths[0][0])


@pytest.fixture(scope="module")
def selected(paths, tmp_path_factory):
    """Tables recalibration_selection and recalibration_sensitivity of both models."""
    folder = tmp_path_factory.mktemp("selected")
    outputs = [folder / f"recalibration_{name}.csv" for name in ("selection", "sensitivity")]
    run("select_recalibration", selections=[path[1] for path in paths], published=TICKS,
        output_selection=outputs[0], output_sensitivity=outputs[1])  # fmt: skip
    return [read(path) for path in outputs]


def test_values_are_a_row_per_method_measure_and_reference(values):
    assert set(values["source"]) == {"real_logits"}
    keys = values[["method", "measure", "reference"]].apply(tuple, axis=1).tolist()
    assert keys == list(itertools.product(METHODS, MEASURES, ("glm_empirical", "glm_beta")))
    one = values.groupby(["method", "reference"])["reference_tce_percent"].nunique()
    assert (one == 1).all()


def test_each_measure_selects_its_least_value_once(values):
    assert not values.loc[values["method"] == "uncalibrated", "selected"].any()
    of_one = values[(values["reference"] == "glm_beta") & (values["method"] != "uncalibrated")]
    for measure, rows in of_one.groupby("measure"):
        percent = rows["value_percent"]
        best = percent.max() if measure == "accuracy" else percent.min()
        assert percent[rows["selected"]].tolist() == [best]


def test_values_are_those_of_the_estimators(values, logits):
    values = values.set_index(["method", "measure", "reference"])
    top = top_label(*load_logits(logits[0]).test)
    row = values.loc[("uncalibrated", "ece_sweep_em", "glm_empirical")]
    expected = estimate("ece_sweep_em", top.score, top.hit, norm=2)
    assert row["value_percent"] == 100 * expected.value
    assert row["n_distinct_scores"] == len(np.unique(top.score))
    assert (values.loc["temperature_scaling"]["accuracy_change_percent"] == 0).all()
    assert (values.loc["histogram_binning"]["n_distinct_scores"] < 400).all()


def test_selections_are_those_of_the_values(values, selected):
    of_model = selected[0].set_index("model").loc["resnet110_c10"].set_index("measure")
    chosen = values[values["selected"]].drop_duplicates("measure").set_index("measure")["method"]
    assert of_model["selected_method"].to_dict() == chosen[of_model.index].to_dict()
    reference = values.query("reference == 'glm_empirical' and method != 'uncalibrated'")
    least = reference.loc[reference["reference_tce_percent"].idxmin(), "method"]
    assert set(of_model["reference_method"]) == {least}
    assert of_model["agreement_frequency"].between(0, 1).all()


def test_the_same_seed_gives_the_same_bytes_and_the_papers_softmax_is_accepted(
    paths, logits, tmp_path
):
    again = recalibrated(logits[0], tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths[0]]
    values = read(recalibrated(logits[0], tmp_path, softmax="float32_2020")[0])
    assert values["value_percent"].notna().all()


def test_mistakes_are_one_line(paths, logits, tmp_path, refused):
    with np.load(logits[0]) as archive:
        arrays = {name: archive[name] for name in archive if not name.startswith("validation")}
    np.savez(tmp_path / "test_only.npz", **arrays)
    for file, options, expected in (
        (tmp_path / "test_only.npz", {}, "test_only.npz: not a file that read_logits.py"),
        (tmp_path / "absent.npz", {}, "absent.npz"),
        (logits[0], {"bootstrap": 1}, "--bootstrap: must be at least 2"),
    ):
        with refused(expected):
            recalibrated(file, tmp_path, **options)
    with refused("error: model resnet110_c10 comes twice: give its selections once"):
        run("select_recalibration", selections=[paths[0][1]] * 2, published=TICKS,
            output_selection=tmp_path / "x", output_sensitivity=tmp_path / "y")  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["test_only.npz"]
