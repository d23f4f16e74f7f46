"""The scripts of the audit: a model's page, and the coverage of the intervals."""

import json

import numpy as np
import pandas as pd
import pytest

import calbias
from audit_model import main as audit_model
from calbias.logits.top_label import TopLabel
from calbias.logits.top_label_table import Origin, write_top_labels
from judge_recommendation import main as judge_recommendation
from measure_coverage import main as measure_coverage


def test_a_models_page_has_the_numbers_of_its_scores(tmp_path):
    generator = np.random.default_rng(0)
    log1m = -generator.exponential(3.0, 400)  # some scores are within rounding of 1
    score = -np.expm1(log1m)
    hit = (generator.random(400) < score**2).astype(np.uint8)
    top = TopLabel(score, np.log(score), log1m, hit)
    table = tmp_path / "mine.parquet"
    write_top_labels(table, {"test": top}, Origin("mine", "real_logits", "exact"))
    outputs = [
        "--output-page",
        str(tmp_path / "x.html"),
        "--output-numbers",
        str(tmp_path / "x.json"),
    ]
    audit_model(["--top-labels", str(table), "--name", "mine", "--seed", "1", *outputs])
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert found["ece"] == pytest.approx(calbias.estimate("ece_bin_ew", score, hit, norm=1).value)
    assert found["description"]["source"] == "real_logits"
    assert "audit of mine" in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_coverage_of_one_law(tmp_path, monkeypatch):
    monkeypatch.setattr("calbias.auditing.coverage.SIZES", (200,))
    out = tmp_path / "c.parquet"
    measure_coverage(["--law", "uniform", "--data-sets", "2", "--seed", "1", "--output", str(out)])
    table = pd.read_parquet(out)
    assert set(table["coverage"]) <= {0.0, 0.5, 1.0}
    assert table["scenario"].nunique() == 4
    with pytest.raises(SystemExit):
        measure_coverage(["--law", "x", "--data-sets", "2", "--seed", "1", "--output", str(out)])


def test_the_recommending_rule(tmp_path, monkeypatch):
    """With two data sets a cell: the rule's error is between the best and the worst choice."""
    whole = "calbias.auditing.recommendation"
    monkeypatch.setattr("judge_recommendation.recommendation_table.__defaults__", (0, (200,)))
    monkeypatch.setattr(f"{whole}.LAWS", {"spread": (2.0, 1.0)})
    out = tmp_path / "r.csv"
    judge_recommendation(["--data-sets", "2", "--seed", "1", "--output", str(out)])
    table = pd.read_csv(out)
    assert len(table) == 4
    assert (table["best_rmse"] <= table["worst_rmse"]).all()
    assert table["rmse_ratio"].to_numpy() == pytest.approx(table["rmse"] / table["best_rmse"])
    assert table["share_best"].isin([0.0, 0.5, 1.0]).all()
    assert table.set_index("scenario").loc["spread_shift", "truth"] == pytest.approx(
        0.03, abs=0.001
    )
