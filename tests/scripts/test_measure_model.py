"""``measure_model`` and ``tabulate_measures``: from outputs to the papers' tables."""

from checkout import GENUINE, PUBLISHED, ROOT
from command import read, run

MODEL = "resnet110_c10"


def measured(folder, **outputs):
    """Return the tables of the model, then ``measures`` and ``printed_tables``."""
    names = ("of_model.parquet", "reliability_bins.parquet", "calibration_graphs.parquet")
    own, *of_model = (folder / name for name in names)
    run("measure_model", **outputs, model=MODEL, seed=1, bootstrap=20,
        output_measures=own, output_bins=of_model[0], output_graphs=of_model[1])  # fmt: skip
    tables = [folder / "measures.csv", folder / "printed_tables.csv"]
    run("tabulate_measures", measures=own, models_table=ROOT / "config/models.csv",
        printed=[*PUBLISHED.glob("g*.csv")], output_measures=tables[0],
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


def test_genuine_logits_fill_the_row_of_their_model(tmp_path):
    """KS of Gupta et al.: 4.750, 0.916, 0.643; top-2 3.011 and 0.947; within-top-2 1.805, 0.097."""
    manifest = PUBLISHED / "nn_calibration_logits_manifest.csv"
    logits = tmp_path / f"{MODEL}.npz"
    run("read_logits", file=GENUINE, manifest=manifest, model=MODEL, n_classes=10, seed=1,
        output_logits=logits, output_top_labels=tmp_path / "top.parquet")  # fmt: skip
    _, graphs, table, papers = measured(tmp_path, logits=logits)
    assert len(graphs) == 5 * 3 * 200
    mine = table[table["model"] == MODEL]
    assert mine["needs"].isna().all()
    assert mine["value_percent"].notna().all()
    rows = papers[(papers["model"] == MODEL) & (papers["row"] == "computed")]
    found = rows.set_index("measure").round(3).rename(columns=lambda c: c.removesuffix("_percent"))
    assert set(found["source"]) == {"real_logits"}
    for measure, expected in {
        "ks_top1": {"uncalibrated": 4.75, "temperature_scaling": 0.917, "spline": 0.65},
        "ks_top2": {"uncalibrated": 3.012, "temperature_scaling": 0.948},
        "ks_within_top2": {"uncalibrated": 1.805, "temperature_scaling": 0.097},
        "ece25": {"uncalibrated": 4.75, "temperature_scaling": 1.224},
        "accuracy": {"uncalibrated": 93.56, "vector_scaling": 93.5},
    }.items():
        assert found.loc[measure, list(expected)].to_dict() == expected
