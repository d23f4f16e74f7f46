"""The genuine scores in resources/scores: verified, audited, and found for the paper's models."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT

import calbias
from calbias.errors import InputError
from calbias.logits.read_logits import read_scores
from calbias.pipeline.logit_availability import available_files

RESOURCES = ROOT / "resources"
SCORES = RESOURCES / "scores"
MANIFEST = SCORES / "manifest.json"
ENTRIES = {entry["name"]: entry for entry in json.loads(MANIFEST.read_text())}


def of_model(model):
    return read_scores(SCORES / f"{model}.parquet", MANIFEST).folds["test"]


def test_no_estimator_of_another_quantity_is_recommended():
    """On perfectly calibrated data sets the unrooted KDE has the least error, of its own target."""
    generator = np.random.default_rng(0)
    scores = generator.choice(of_model("timm_resnet34").score, 500)
    found = calbias.audit(
        scores, generator.random(500) < scores, replicates=100, norm=2,
        estimators=["kde_unrooted", "kde", "ece_sweep_em"],
    )  # fmt: skip
    assert found.estimates["rmse"].idxmin() == "kde_unrooted" != found.recommended
    assert found.estimates.loc["kde_unrooted", "rank"] == 1


@pytest.mark.parametrize("model", ENTRIES)
def test_every_file_is_the_one_of_the_manifest(model):
    top, entry = of_model(model), ENTRIES[model]
    assert len(top.score) == entry["rows"]
    assert np.isneginf(top.log1m_score).sum() == entry["scores_exactly_1"]
    assert (SCORES / "LICENSE").read_text().startswith("MIT License")


def test_an_edited_file_is_refused_before_it_is_parsed(tmp_path):
    shutil.copytree(SCORES, tmp_path / "scores")
    path, manifest = tmp_path / "scores/snacks.parquet", tmp_path / "scores/manifest.json"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"snacks\.parquet: sha256 is .*that of the published sn"):
        read_scores(path, manifest)
    path.write_bytes(data[:-1])
    with pytest.raises(InputError, match=r"has 8001 bytes, the published snacks has 8002"):
        read_scores(path, manifest)
    manifest.write_text("[{}]")
    with pytest.raises(InputError, match="restore the manifest"):
        read_scores(path, manifest)


def test_four_models_of_the_paper_have_scores_unless_the_user_has_better(tmp_path):
    config = {"logits_dir": str(tmp_path), "download": False, "models": "models.csv"}
    files = {"densenet40_c10": "a.npz", "resnet110_c100": "b.npz", "resnet_wide32_c10": ""}
    np.savez(tmp_path / "a.npz", logits=np.eye(2), labels=np.arange(2))
    found = available_files(config, {name: {"file": f} for name, f in files.items()}, RESOURCES)
    assert list(found.logits) == ["densenet40_c10"]
    assert list(found.scores) == ["resnet110_c100"]
    assert Path(found.scores["resnet110_c100"]).name == "resnet110_c100.parquet"
    assert found.surrogates == ["resnet110_c100", "resnet_wide32_c10"]
