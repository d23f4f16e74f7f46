"""Steps on a model's outputs: recalibrated, measured, fitted as published, replicated."""

import itertools

import numpy as np
import pytest
from checkout import GENUINE, PUBLISHED, ROOT, TABLE_2, TABLE_3
from command import read, run
from shipped import RESOURCES

from calbias.estimation.api import estimate
from calbias.reading.top_label import top_label
from pipeline.logits import load_logits
from reproduction.selection import load_measures

MODEL = "resnet110_c10"


def measured(folder, **outputs):
    """Return the tables of the model, then ``measures`` and ``printed_tables``."""
    names = ("of_model.parquet", "reliability_bins.parquet", "calibration_graphs.parquet")
    own, *of_model = (folder / name for name in names)
    run("measure_model", **outputs, model=MODEL, seed=1, bootstrap=20,
        output_measures=own, output_bins=of_model[0], output_graphs=of_model[1])  # fmt: skip
    tables = [folder / "measures.csv", folder / "printed_tables.csv"]
    run("tabulate_measures", measures=own, models_table=ROOT / "config/models.csv",
        printed=PUBLISHED / "guo2017_gupta2021.csv", output_measures=tables[0],
        output_printed=tables[1])  # fmt: skip
    return [read(path) for path in (*of_model, *tables)]


def test_genuine_scores_give_the_printed_uncalibrated_values(tmp_path):
    folder = ROOT / "resources/scores"
    run("read_scores", model=MODEL, file=folder / f"{MODEL}.parquet",
        output_top_labels=tmp_path / "top.parquet")  # fmt: skip
    bins, graphs, table, _ = measured(tmp_path, top_labels=tmp_path / "top.parquet")
    assert list(bins["method"].unique()) == ["uncalibrated", "spline_on_half"]
    assert graphs.empty
    computed = table[(table["source"] == "real_scores") & (table["method"] == "uncalibrated")]
    printed = computed[computed["published_source"].str.startswith("Gupta", na=False)]
    assert set(printed["measure"]) == {"accuracy", "ece25", "ks_top1"}
    difference = (printed["value_percent"] - printed["published_percent"]).abs()
    assert difference.max() < 0.0006


TICKS = PUBLISHED / "roelofs2022_table1_recalibration_selection.csv"
SHIPPED = ROOT / "resources/manifest.json"
METHODS = ["uncalibrated", "temperature_scaling", "histogram_binning", "isotonic_regression"]
MEASURES = [*load_measures(), "accuracy", "nll"]
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
    assert row["value_percent"] == pytest.approx(100 * expected.value, rel=1e-12)
    assert (row["n_distinct_scores"], row["largest_atom"]) == (400, 1 / 400)
    assert (values.loc["temperature_scaling"]["accuracy_change_percent"] == 0).all()
    assert (values.loc["histogram_binning"]["n_distinct_scores"] < 400).all()
    assert (values.loc["histogram_binning"]["largest_atom"] > 1 / 400).all()


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
        (tmp_path / "test_only.npz", {}, "test_only.npz: not a file that step read_logits"),
        (tmp_path / "absent.npz", {}, "absent.npz"),
        (logits[0], {"bootstrap": 1}, "--bootstrap: must be at least 2"),
    ):
        with refused(expected):
            recalibrated(file, tmp_path, **options)
    with refused("error: model resnet110_c10 comes twice: give its selections once"):
        run("select_recalibration", selections=[paths[0][1]] * 2, published=TICKS,
            output_selection=tmp_path / "x", output_sensitivity=tmp_path / "y")  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["test_only.npz"]


def test_the_genuine_file_is_fitted_as_the_paper_did(tmp_path):
    logits = tmp_path / "m.npz"
    beta, glm = (tmp_path / f"{name}_fits_float32_2020.csv" for name in ("beta", "glm"))
    manifest = PUBLISHED / "nn_calibration_logits_manifest.csv"
    run("read_logits", file=GENUINE, manifest=manifest, model=MODEL, n_classes=10,
        output_logits=logits, output_top_labels=tmp_path / "top.parquet")  # fmt: skip
    run("fit_model", logits=logits, model=MODEL, published_beta=TABLE_2,
        published_glm=TABLE_3, output_beta=beta, output_glm=glm)  # fmt: skip
    (row,) = read(beta).to_dict("records")
    assert (row["source"], row["softmax"]) == ("real_logits", "float32_2020")
    assert (round(row["alpha"], 4), round(row["beta"], 4)) == (2.7752, 0.0478)
    assert (row["published_alpha"], row["published_beta"]) == (2.7752, 0.0478)
    assert len(read(glm)) == 12


def replicated(tmp_path, file, name):
    output = tmp_path / "replication.csv"
    run("replicate_model", file=file, printed=PUBLISHED / "mukhoti2020_table1.csv", model=name,
        methods="quick", output_replication=output)  # fmt: skip
    return read(output)


def test_a_model_held_back_goes_through(tmp_path):
    """A file that no manifest lists, with both folds; no paper prints it."""
    rng = np.random.default_rng(0)
    arrays = {}
    for fold, n in (("validation", 300), ("test", 400)):
        logits = 3 * rng.normal(size=(n, 3))
        noise = logits / 2 + rng.gumbel(size=(n, 3))
        arrays |= {f"{fold}_logits": logits, f"{fold}_labels": noise.argmax(axis=1)}
    np.savez(tmp_path / "mine.npz", **arrays)
    rows = replicated(tmp_path, tmp_path / "mine.npz", "mine")
    assert set(rows["model"]) == {"mine"}
    assert rows["published_percent"].isna().all()
    assert rows[["n_validation", "n_test"]].drop_duplicates().to_numpy().tolist() == [[300, 400]]
    ece = rows[rows["measure"] == "ece"].set_index("method")["value_percent"]
    assert ece["temperature_scaling"] < ece["uncalibrated"]


def test_scores_of_the_top_class_cannot_be_recalibrated(tmp_path, refused):
    with refused("snacks.parquet: scores of the top class; give"):
        replicated(tmp_path, RESOURCES / "scores/snacks.parquet", "snacks")
