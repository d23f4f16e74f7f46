"""Which models have real logits, known before any job starts."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT

from calbias.errors import InputError
from calbias.pipeline import logit_availability as sources

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
    own = found(tmp_path, {"mine": "mine.csv"})
    assert own == ({"mine": str(tmp_path / "mine.csv")}, {}, [])
    published = {"resnet110_c10": FILE}
    assert found(tmp_path, published).surrogates == ["resnet110_c10"]
    assert list(found(tmp_path, published, True).logits) == ["resnet110_c10"]
    assert found(tmp_path, {"resnet110_c10": ""}).logits == {}
    np.savez(tmp_path / "own.npz", logits=np.eye(2), labels=np.arange(2))
    assert list(found(tmp_path, {"resnet110_c10": "own.npz"}).logits) == ["resnet110_c10"]


@pytest.mark.parametrize("name", ["mine", "densenet40_c10"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
@pytest.mark.parametrize(
    ("names", "are_scores"),
    [(("score", "hit"), True), (("score", "label", "prediction"), True),
     (("logits", "labels", "high_score"), False)],
)  # fmt: skip
def test_score_files_are_known_by_their_names(tmp_path, name, suffix, names, are_scores):
    path = tmp_path / f"m{suffix}"
    columns = {name: np.array([0, 1]) for name in names}
    if suffix == ".npz":
        np.savez(path, **columns)
    else:
        table = pd.DataFrame(columns)
        table.to_csv(path, index=False) if suffix == ".csv" else table.to_parquet(path)
    outputs = found(tmp_path, {name: path.name})
    assert list(outputs.scores) == [name] * are_scores
    assert list(outputs.logits) == [name] * (not are_scores)
    surrogate = are_scores and name == "densenet40_c10"  # its fits and recalibration need logits
    assert outputs.surrogates == [name] * surrogate


def test_a_mistyped_folder_of_logits_is_refused(tmp_path):
    table = {"resnet110_c10": FILE}
    message = f"config: logits_dir: there is no folder {tmp_path}/no; correct its name"
    refused(message, tmp_path / "no", table)
    assert list(found(tmp_path / "no", table, True).logits) == ["resnet110_c10"]
    assert found(sources.DEFAULT_LOGITS_DIR, table).logits == {}


NO_FIT = "there is no published fit to draw a surrogate from; name a file in {folder} there"


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
    models = {"a": {}, "b": {}, "c": {}}
    words = sources.sources_in_words(sources.Available({"b": "x"}, {"c": "y"}, ["a", "c"]), models)
    assert words == "Real logits: b. Real scores: c. Surrogate logits: 2 of 3 models."
    words = sources.sources_in_words(sources.Available({}, {}, ["a", "b", "c"]), models)
    assert words == "No real logits. Surrogate logits: 3 of 3 models."
