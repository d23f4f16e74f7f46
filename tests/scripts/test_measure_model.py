"""``measure_model.py`` and ``tabulate_measures.py``: from outputs to the papers' tables."""

from pathlib import Path

import pandas as pd
import pytest
from checkout import SHARED

import measure_model
import read_logits
import read_scores
import tabulate_measures
from calbias.io.table_schema import columns_of

ROOT = Path(__file__).parents[2]
GENUINE = SHARED / "logits/probs_resnet110_c10_logits.p"
MODEL = "resnet110_c10"


def measured(folder, form, path):
    """Return the tables of the model, then ``measures`` and ``printed_tables``, as read back."""
    names = ("measures", "reliability_bins", "calibration_graphs")
    paths = {name: folder / f"{name}.parquet" for name in names}
    outputs = zip(("--output", "--output-bins", "--output-graphs"), paths.values(), strict=True)
    words = [form, path, "--model", MODEL, "--seed", 1, "--bootstrap", 20]
    measure_model.main([str(word) for word in (*words, *(x for pair in outputs for x in pair))])
    joined = folder / "measures.csv", folder / "printed.csv"
    tabulate_measures.main(
        [
            *("--measures", str(paths["measures"])),
            *("--models-table", str(ROOT / "config/models.csv")),
            *("--published-dir", str(ROOT / "resources/published")),
            *("--output-measures", str(joined[0]), "--output-printed", str(joined[1])),
        ]
    )
    return [pd.read_parquet(paths[name]) for name in names[1:]] + [pd.read_csv(p) for p in joined]


def test_genuine_scores_give_the_printed_uncalibrated_values(tmp_path):
    folder = ROOT / "resources/scores"
    read_scores.main(
        [
            *("--model", MODEL, "--file", str(folder / f"{MODEL}.parquet")),
            *("--manifest", str(folder / "manifest.json")),
            *("--top-labels", str(tmp_path / "top.parquet")),
        ]
    )
    bins, graphs, table, papers = measured(tmp_path, "--top-labels", tmp_path / "top.parquet")
    for name, rows in (("reliability_bins", bins), ("calibration_graphs", graphs)):
        assert tuple(rows.columns) == columns_of(name)
        assert list(rows["method"].unique()) == ["uncalibrated", "spline_on_half"]
    assert tuple(papers.columns) == columns_of("printed_tables")
    computed = table[(table["source"] == "real_scores") & (table["method"] == "uncalibrated")]
    printed = computed[computed["published_source"].str.startswith("Gupta", na=False)]
    assert set(printed["measure"]) == {"accuracy", "ece25", "ks_top1"}
    difference = (printed["value_percent"] - printed["published_percent"]).abs()
    assert difference.max() < 0.0006


@pytest.mark.skipif(not GENUINE.exists(), reason=f"the genuine file is not at {GENUINE}")
def test_genuine_logits_fill_the_row_of_their_model(tmp_path):
    """KS of Gupta et al.: 4.750, 0.916, 0.643; top-2 3.011 and 0.947; within-top-2 1.805, 0.097."""
    manifest = ROOT / "resources/published/nn_calibration_logits_manifest.csv"
    read_logits.main(
        [
            *("--file", str(GENUINE), "--manifest", str(manifest), "--model", MODEL),
            *("--n-classes", "10", "--seed", "1", "--logits", str(tmp_path / f"{MODEL}.npz")),
            *("--top-labels", str(tmp_path / "top.parquet")),
        ]
    )
    _, _, table, papers = measured(tmp_path, "--logits", tmp_path / f"{MODEL}.npz")
    mine = table[table["model"] == MODEL]
    assert mine["needs"].isna().all()
    assert mine["value_percent"].notna().all()
    rows = papers[(papers["model"] == MODEL) & (papers["row"] == "computed")]
    found = rows.set_index("measure").round(3).rename(columns=lambda c: c.removesuffix("_percent"))
    assert set(found["source"]) == {"real_logits"}
    assert found.loc["ks_top1", "uncalibrated"] == 4.75
    assert found.loc["ks_top1", "temperature_scaling"] == 0.917
    assert found.loc["ks_top1", "spline"] == 0.65
    assert found.loc["ks_top2", ["uncalibrated", "temperature_scaling"]].tolist() == [3.012, 0.948]
    within = found.loc["ks_within_top2", ["uncalibrated", "temperature_scaling"]]
    assert within.tolist() == [1.805, 0.097]
    assert found.loc["ece25", ["uncalibrated", "temperature_scaling"]].tolist() == [4.75, 1.224]
    assert found.loc["accuracy", ["uncalibrated", "vector_scaling"]].tolist() == [93.56, 93.5]
