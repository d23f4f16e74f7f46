"""The steps of the audit: a model's page, and the coverage of the intervals."""

import json

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from command import read, run
from html_page import Page

import calbias
from calbias.reading.top_label import TopLabel
from pipeline.logits import Origin, write_top_labels

FILES = {
    "page": "mine.html", "numbers": "mine.json", "estimates": "audit_estimates.csv",
    "verdict": "audit_verdicts.csv", "diagram": "audit_diagrams.csv",
}  # fmt: skip
OWN = "def estimate(scores, hits, n_bins, norm):\n    return float(abs(scores - hits).mean())\n"


def audited(folder, **options):
    """Audit and return the paths of what was written, by option."""
    paths = {name: folder / file for name, file in FILES.items()}
    outputs = {f"output_{name}": path for name, path in paths.items()}
    options = {"norm": 1, **options}
    run("audit_model", name="mine", seed=1, **options, **outputs)
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
    own = {"estimators": "own", "estimator_dir": folder / "estimators"}
    return audited(folder, top_labels=folder / "mine.parquet", n_bins=7, **own)


def test_a_models_page_and_tables_have_the_numbers_of_its_scores(top, outputs):
    found = json.loads(outputs["numbers"].read_text(encoding="utf-8"))
    value = calbias.estimate("ece_bin_ew", top.score, top.hit, n_bins=7, norm=1).value
    assert (found["ece"], found["description"]["source"]) == (pytest.approx(value), "real_logits")
    assert found["warnings"][0] == "Looks odd."
    text = outputs["page"].read_text(encoding="utf-8")
    assert "audit of mine" in text
    # target `audit` makes no other page of a run, which could be linked to
    assert not [address for address in Page(text).addresses if address.endswith(".html")]
    estimates, [verdict] = read(outputs["estimates"]), read(outputs["verdict"]).to_dict("records")
    percent = estimates.set_index("estimator")["value_percent"]
    assert percent["ece_bin_ew"] == pytest.approx(100 * value, abs=1e-4)
    assert "own" in percent
    assert verdict["model_verdict"] == found["sentence"]
    assert verdict["miscalibrated"] == (verdict["p_value"] < 0.05)
    diagram = pd.read_csv(outputs["diagram"])
    assert diagram["n_in_bin"].sum() == 400
    assert len(diagram) <= 20
    assert (diagram["curve_low"] <= diagram["curve_high"]).all()


def test_the_picture_is_drawn(outputs, tmp_path):
    files = tmp_path / "m.png", tmp_path / "m.pdf"
    given = {name: outputs[name] for name in ("diagram", "verdict")}
    run("draw_audit", **given, output_png=files[0], output_pdf=files[1])
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert files[1].read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("model", "direction", "miscalibrated", "error_percent"),
    [("snacks", "neither", True, 1.0), ("timm_resnet34", "underconfident", True, 7.8)],
)
def test_shipped_scores(tmp_path, model, direction, miscalibrated, error_percent):
    scores = pd.read_parquet(ROOT / f"resources/scores/{model}.parquet")
    scores.sample(min(2000, len(scores)), random_state=1).to_parquet(tmp_path / "some.parquet")
    outputs = audited(tmp_path, scores=tmp_path / "some.parquet")
    [verdict] = read(outputs["verdict"]).to_dict("records")
    assert (verdict["direction"], verdict["miscalibrated"]) == (direction, miscalibrated)
    assert verdict["error_percent"] == pytest.approx(error_percent, abs=0.8)
