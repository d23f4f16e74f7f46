"""The genuine scores in resources/scores: verified, and of known calibration errors."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import calbias
from calbias.errors import InputError
from calbias.logits.read_logits import read_scores
from calbias.pipeline.logit_availability import available_files

RESOURCES = Path(__file__).parents[2] / "resources"
SCORES = RESOURCES / "scores"
MANIFEST = SCORES / "manifest.json"
ENTRIES = {entry["name"]: entry for entry in json.loads(MANIFEST.read_text())}


def of_model(model):
    return read_scores(SCORES / f"{model}.parquet", MANIFEST).folds["test"]


@pytest.mark.parametrize(
    ("model", "ks", "ece15_norm2"),
    [
        ("resnet110_c10", 4.750, 6.651),
        ("densenet40_c10", 5.493, 8.227),
        ("resnet110_c100", 18.481, 20.912),
        ("densenet40_c100", 21.156, 23.336),
    ],
)
def test_known_numbers(model, ks, ece15_norm2):
    """KS of Gupta et al. 2021, Table 1; test_measures.py says why 18.481 is 18.4805 here."""
    top = of_model(model)
    found = calbias.estimate("ks", top.score, top.hit).value
    assert 100 * found == pytest.approx(ks, abs=6e-4)
    found = calbias.estimate("ece_bin_ew", top.score, top.hit, n_bins=15, norm=2).value
    assert round(100 * found, 3) == ece15_norm2


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
