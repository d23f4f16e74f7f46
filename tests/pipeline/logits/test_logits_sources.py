"""Which models have real logits or the scores in resources, known before any job starts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from nightly import daily
from shipped import shipped

from calbias.errors import InputError
from pipeline import logit_availability as sources
from pipeline.logits import read_scores

RESOURCES = ROOT / "resources"
FILE = "probs_resnet110_c10_logits.p"


def config(folder, download=False):
    return {"logits_dir": str(folder), "download": download, "models": "models.csv"}


def found(folder, files, download=False):
    rows = {model: {"file": file} for model, file in files.items()}
    return sources.available_files(config(folder, download), rows, RESOURCES)


def refused(message, *arguments):
    with pytest.raises(InputError) as error:
        found(*arguments)
    assert message in str(error.value)


def test_where_real_logits_are(tmp_path):
    (tmp_path / "mine.csv").touch()
    np.savez(tmp_path / "own.npz", logits=np.eye(2), labels=np.arange(2))
    own = found(tmp_path, {"mine": "mine.csv"})
    assert own == ({"mine": str(tmp_path / "mine.csv")}, {})
    name = "resnet110_c10"
    for file, download, real in (
        *((FILE, False, []), (FILE, True, [name])),
        *(("own.npz", False, [name]), ("", False, [])),
    ):
        outputs = found(tmp_path, {name: file}, download)
        assert list(outputs.logits) == real
        assert list(outputs.scores) == ([] if real else [name])  # those that ship


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
@pytest.mark.parametrize(
    ("names", "are_scores"),
    [(("score", "hit"), True), (("score", "label", "prediction"), True),
     (("logits", "labels", "high_score"), False)],
)  # fmt: skip
def test_score_files_are_known_by_their_names(tmp_path, suffix, names, are_scores):
    path = tmp_path / f"m{suffix}"
    table = pd.DataFrame({name: [0, 1] for name in names})
    if suffix == ".npz":
        np.savez(path, **table)
    else:
        table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    for name in ("mine", "densenet40_c10"):
        outputs = found(tmp_path, {name: path.name})
        assert list(outputs.scores) == [name] * are_scores
        assert list(outputs.logits) == [name] * (not are_scores)


def test_a_mistyped_folder_of_logits_is_refused(tmp_path):
    table = {"resnet110_c10": FILE}
    message = f"config: logits_dir: there is no folder {tmp_path}/no; correct its name"
    refused(message, tmp_path / "no", table)
    assert list(found(tmp_path / "no", table, True).logits) == ["resnet110_c10"]


def test_the_two_files_that_ship_are_used_unless_a_folder_is_named(tmp_path, monkeypatch):
    files = {"resnet110_c10": FILE, "densenet40_c10": "probs_densenet40_c10_logits.p",
             "resnet110_c100": "probs_resnet110_c100_logits.p"}  # fmt: skip
    monkeypatch.chdir(tmp_path)  # a run elsewhere has them too
    default = found(sources.DEFAULT_LOGITS_DIR, files)
    assert list(default.logits) == ["resnet110_c10", "densenet40_c10"]
    assert list(default.scores) == ["resnet110_c100"]
    for path in default.logits.values():
        assert Path(path).resolve().parent == RESOURCES / "logits"
    (tmp_path / "mine").mkdir()
    assert found("mine", files).logits == {}
    here = tmp_path / sources.DEFAULT_LOGITS_DIR
    here.mkdir(parents=True)
    (here / FILE).write_text("short")
    refused("has 5 bytes", sources.DEFAULT_LOGITS_DIR, files)


NO_FIT = "there is no published fit to simulate from; name a file in {folder} there"


@pytest.mark.parametrize(
    ("model", "file", "message"),
    [
        ("mine", "pointer", "is a git-LFS pointer"),
        ("mine", "page", "is an HTML page"),
        ("resnet110_c10", FILE, "has 5 bytes, the published resnet110_c10 has"),
        ("mine", ".", "models.csv: model mine: file . is a folder ({folder}); name the file"),
        ("resnet110_c10", ".", "models.csv: model resnet110_c10: file . is a folder ({folder})"),
        ("mine", "link", "link is a link that leads to no file"),
        ("mine", "x" * 300, "mine: there is no file"),
        ("mine", "no.csv", "model mine: there is no file {folder}/no.csv, and " + NO_FIT),
        ("mine", "", "mine: its cell file is empty, and " + NO_FIT),
    ],
)
def test_a_file_that_is_none_is_refused_before_any_job(tmp_path, model, file, message):
    (tmp_path / "pointer").write_text("version https://git-lfs.github.com/spec/v1\n")
    (tmp_path / "page").write_text("<!DOCTYPE html>")
    (tmp_path / FILE).write_text("short")
    (tmp_path / "link").symlink_to("link")
    refused(message.format(folder=tmp_path), tmp_path, {model: file})


def test_sources_in_words():
    some = sources.Available({"b": "x"}, {"c": "y"})
    for available, words in (
        (some, "Real logits: b. Real scores: c. No outputs: 1 of 3 models."),
        (sources.Available({}, {}), "No real logits. No outputs: 3 of 3 models."),
    ):
        assert sources.sources_in_words(available, {"a": {}, "b": {}, "c": {}}) == words


def test_a_file_that_no_model_names_is_named(tmp_path):
    for name in ("resnet110_c10_logits.p", "notes.txt", "README.md", ".hidden", FILE, "mine.csv"):
        (tmp_path / name).touch()
    (tmp_path / "probs_densenet40_c10_logits.p").touch()  # published; the table may lack it
    for name in ("models.csv", "my_config.yaml"):  # where logits_dir is the user's folder
        (tmp_path / name).touch()
    models = {"resnet110_c10": {"file": FILE}, "mine": {"file": "mine.csv"}, "none": {"file": ""}}
    own = config(tmp_path) | {"models": str(tmp_path / "models.csv")}
    lines = sources.unused_files(own, models, RESOURCES)
    beginning = f"no model of {own['models']} has this file; rename it, or name it there."
    assert lines == [
        f"{tmp_path}/notes.txt: {beginning}",
        f"{tmp_path}/resnet110_c10_logits.p: {beginning} Did you mean {FILE}?",
    ]
    assert sources.unused_files(config(tmp_path / "none"), models, RESOURCES) == []


SCORES = RESOURCES / "scores"
MANIFEST = RESOURCES / "manifest.json"
ENTRIES = shipped("scores")


def of_model(model):
    return read_scores(SCORES / f"{model}.parquet", MANIFEST)[0]["test"]


@pytest.mark.parametrize("model", daily(ENTRIES, 2))
def test_every_file_is_the_one_of_the_manifest(model):
    top, entry = of_model(model), ENTRIES[model]
    assert len(top.score) == entry["rows"]
    assert np.isneginf(top.log1m_score).sum() == entry["scores_exactly_1"]


def test_an_edited_file_is_refused_before_it_is_parsed(tmp_path):
    """More: test_shipped_data.py."""
    data = (SCORES / "snacks.parquet").read_bytes()
    (tmp_path / "scores").mkdir()
    path = tmp_path / "scores/snacks.parquet"
    path.write_bytes(data[:100] + b"?" + data[101:])
    (tmp_path / "manifest.json").write_text(MANIFEST.read_text())
    with pytest.raises(InputError, match=r"sha256 is .*of the published"):
        read_scores(path, tmp_path / "manifest.json")
