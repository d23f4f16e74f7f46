"""The scripts of the audit: a model's page, and the coverage of the intervals."""

import json

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT

import calbias
from audit_model import main as audit_model
from calbias.io.table_schema import columns_of
from calbias.logits.top_label import TopLabel
from calbias.logits.top_label_table import Origin, write_top_labels
from draw_audit import main as draw_audit
from judge_recommendation import main as judge_recommendation
from measure_coverage import main as measure_coverage

SUFFIXES = {"page": ".html", "numbers": ".json"}
OWN = "def estimate(scores, hits, n_bins, norm):\n    return float(abs(scores - hits).mean())\n"


def run(folder, *options):
    """Audit and return the paths of what was written, by option."""
    names = ("page", "numbers", "estimates", "verdict", "diagram")
    paths = {name: folder / f"{name}{SUFFIXES.get(name, '.csv')}" for name in names}
    outputs = [x for name, path in paths.items() for x in (f"--output-{name}", str(path))]
    audit_model(["--name", "mine", "--seed", "1", *outputs, *options])
    return paths


@pytest.fixture(scope="module")
def top():
    generator = np.random.default_rng(0)
    log1m = -generator.exponential(3.0, 400)  # some scores are within rounding of 1
    score = -np.expm1(log1m)
    return TopLabel(score, np.log(score), log1m, (generator.random(400) < score**2) * 1)


@pytest.fixture(scope="module")
def outputs(top, tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    origin = Origin("mine", "real_logits", "exact", ("looks odd",))
    write_top_labels(folder / "mine.parquet", {"test": top}, origin)
    (folder / "estimators").mkdir()
    (folder / "estimators/own.py").write_text(OWN)
    options = ["--estimators", "own", "--estimator-dir", str(folder / "estimators")]
    return run(folder, "--top-labels", str(folder / "mine.parquet"), "--n-bins", "7", *options)


def test_a_models_page_and_tables_have_the_numbers_of_its_scores(top, outputs):
    found = json.loads(outputs["numbers"].read_text(encoding="utf-8"))
    value = calbias.estimate("ece_bin_ew", top.score, top.hit, n_bins=7, norm=1).value
    assert found["ece"] == pytest.approx(value)
    assert found["description"]["source"] == "real_logits"
    assert found["warnings"][0] == "Looks odd."
    assert "audit of mine" in outputs["page"].read_text(encoding="utf-8")
    tables = {name: pd.read_csv(outputs[name]) for name in ("estimates", "verdict", "diagram")}
    for name, contract in (("estimates", "estimates"), ("verdict", "verdicts")):
        assert tuple(tables[name].columns) == columns_of(f"audit_{contract}")
    estimates, (verdict,) = tables["estimates"], tables["verdict"].to_dict("records")
    assert "own" in set(estimates["estimator"])
    assert estimates.set_index("estimator").loc["ece_bin_ew", "value_percent"] == pytest.approx(
        100 * value, abs=1e-4
    )
    assert verdict["model_verdict"] == found["sentence"]
    assert verdict["miscalibrated"] == (verdict["p_value"] < 0.05)
    assert tables["diagram"]["n_in_bin"].sum() == 400
    assert len(tables["diagram"]) <= 7


def test_the_picture_is_drawn(outputs, tmp_path):
    files = tmp_path / "m.png", tmp_path / "m.pdf"
    options = f"--diagram {outputs['diagram']} --verdict {outputs['verdict']}"
    draw_audit(f"{options} --output-png {files[0]} --output-pdf {files[1]}".split())
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert files[1].read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("model", "direction", "miscalibrated", "error_percent"),
    [
        ("snacks", "neither", False, 0.8),
        ("densenet40_c10", "overconfident", True, 5.5),
        ("timm_resnet34", "underconfident", True, 7.8),
    ],
)
def test_shipped_scores(tmp_path, model, direction, miscalibrated, error_percent):
    scores = pd.read_parquet(ROOT / f"resources/scores/{model}.parquet")
    scores.sample(min(2000, len(scores)), random_state=1).to_parquet(tmp_path / "some.parquet")
    outputs = run(tmp_path, "--scores", str(tmp_path / "some.parquet"))
    [verdict] = pd.read_csv(outputs["verdict"]).to_dict("records")
    assert (verdict["direction"], verdict["miscalibrated"]) == (direction, miscalibrated)
    assert verdict["corrected_percent"] == pytest.approx(error_percent, abs=0.8)


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
