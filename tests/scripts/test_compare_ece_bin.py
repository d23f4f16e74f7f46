"""Table 4: ECE_bin of a model's logits beside that of data simulated from its fits."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import compare_ece_bin
from calbias.estimation.api import estimate
from calbias.io.table_schema import tables
from calbias.logits.top_label import TopLabel
from calbias.logits.top_label_table import Origin, write_top_labels

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "resources/published/roelofs2022_table4_ece_bin.csv"


def top_label(seed, n=400):
    generator = np.random.default_rng(seed)
    score = generator.beta(3, 0.6, n) * 0.999
    hit = (generator.random(n) < score**2).astype(np.uint8)
    return TopLabel(score, np.log(score), np.log1p(-score), hit)


@pytest.fixture
def files(tmp_path):
    """Two models, listed in the scenarios in the other order."""
    folds = {"validation": top_label(1), "test": top_label(2)}
    for model in ("resnet110_c10", "mine"):
        origin = Origin(model, "surrogate_logits", "exact")
        write_top_labels(tmp_path / f"{model}.parquet", folds, origin)
    scenarios = pd.DataFrame(
        [["fits", model, "g", source, 2.0, 0.5, "identity", 0.0, 0.0]
         for model, source in (("mine", "surrogate_logits"), ("resnet110_c10", "published_fits"))],
        columns=["experiment", "scenario", "group", "source", "alpha", "beta", "curve", "b0", "b1"],
    )  # fmt: skip
    scenarios.to_csv(tmp_path / "scenarios.csv", index=False)
    bias = pd.DataFrame(
        [["resnet110_c10", "kde", 9.0, 0.9], ["resnet110_c10", "ece_bin_ew", 6.5, 0.05]],
        columns=["scenario", "estimator", "mean_estimate_percent", "bias_se_percent"],
    )
    bias.to_csv(tmp_path / "bias.csv", index=False)
    return tmp_path, folds


def run(folder, *models):
    compare_ece_bin.main(
        ["--scenarios", str(folder / "scenarios.csv"), "--bias", str(folder / "bias.csv"),
         "--top-labels", *(str(folder / f"{model}.parquet") for model in models),
         "--published", str(PUBLISHED), "--output", str(folder / "x.csv")]
    )  # fmt: skip
    return pd.read_csv(folder / "x.csv").set_index("model", drop=False)


def test_rows(files):
    folder, folds = files
    table = run(folder, "resnet110_c10", "mine")
    contract = tables()
    assert list(table) == contract["ece_bin_real_and_simulated"]["columns"]
    row = table.loc["resnet110_c10"]
    for fold, column in (("validation", "ece_bin_percent"), ("test", "ece_bin_test_percent")):
        value = estimate("ece_bin_ew", folds[fold].score, folds[fold].hit, norm=2).value
        assert row[column] == pytest.approx(100 * value)
    assert (row["source"], row["simulated_source"]) == ("surrogate_logits", "published_fits")
    assert row["mean_simulated_ece_bin_percent"] == 6.5
    assert row["published_ece_bin_percent"] == 6.67


def test_a_model_without_simulation_or_published_value_has_empty_cells(files):
    row = run(files[0], "mine").loc["mine"]
    assert row["simulated_source"] == "surrogate_logits"
    assert row[["mean_simulated_ece_bin_percent", "published_ece_bin_percent"]].isna().all()
