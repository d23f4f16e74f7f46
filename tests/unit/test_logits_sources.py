"""Which models have real logits, known before any job starts."""

from pathlib import Path

import pytest

from calbias.errors import InputError
from calbias.pipeline import logit_availability as sources

PUBLISHED = Path(__file__).parents[2] / "resources/published"
FILE = "probs_resnet110_c10_logits.p"


def refused(message, function, *arguments):
    with pytest.raises(InputError) as error:
        function(*arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_where_real_logits_are(tmp_path):
    row = {"file": "mine.csv"}
    config = {"logits_dir": str(tmp_path), "download": False, "models": "models.csv"}
    refused(
        f"models.csv: model mine: there is no file {tmp_path}/mine.csv, and no published fit",
        sources.real_logit_files,
        config,
        {"mine": row},
        PUBLISHED,
    )
    (tmp_path / "mine.csv").touch()
    found = sources.real_logit_files(config, {"mine": row}, PUBLISHED)
    assert found == {"mine": str(tmp_path / "mine.csv")}
    published = {"resnet110_c10": {"file": "probs_resnet110_c10_logits.p"}}
    assert sources.real_logit_files(config, published, PUBLISHED) == {}
    downloaded = sources.real_logit_files({**config, "download": True}, published, PUBLISHED)
    assert list(downloaded) == ["resnet110_c10"]


def logits_dir(path, download=False):
    return {"logits_dir": str(path), "download": download, "models": "models.csv"}


def test_a_mistyped_folder_of_logits_is_refused(tmp_path):
    table = {"resnet110_c10": {"file": FILE}}
    refused(
        f"config: logits_dir: there is no folder {tmp_path}/no; mend its name",
        sources.real_logit_files, logits_dir(tmp_path / "no"), table, PUBLISHED,
    )  # fmt: skip
    to_download = sources.real_logit_files(logits_dir(tmp_path / "no", True), table, PUBLISHED)
    assert list(to_download) == ["resnet110_c10"]
    assert sources.real_logit_files(logits_dir(sources.DEFAULT_LOGITS_DIR), table, PUBLISHED) == {}


@pytest.mark.parametrize(
    ("model", "content", "message"),
    [
        ("mine", b"version https://git-lfs.github.com/spec/v1\n", "is a git-LFS pointer"),
        ("mine", b"<!DOCTYPE html>", "is an HTML page"),
        ("resnet110_c10", b"short", "has 5 bytes, the published resnet110_c10 has"),
    ],
)
def test_a_file_that_is_none_is_refused_before_any_job(tmp_path, model, content, message):
    (tmp_path / FILE).write_bytes(content)
    arguments = logits_dir(tmp_path), {model: {"file": FILE}}, PUBLISHED
    refused(message, sources.real_logit_files, *arguments)


@pytest.mark.parametrize("model", ["mine", "resnet110_c10"])
def test_a_folder_is_no_file(tmp_path, model):
    arguments = logits_dir(tmp_path), {model: {"file": "."}}, PUBLISHED
    message = f"models.csv: model {model}: file . is a folder ({tmp_path}); name the file"
    refused(message, sources.real_logit_files, *arguments)


def test_a_name_too_long_for_a_file_is_that_of_none(tmp_path):
    arguments = logits_dir(tmp_path), {"mine": {"file": "x" * 300}}, PUBLISHED
    refused("mine: there is no file", sources.real_logit_files, *arguments)


def test_an_empty_cell_is_fine_for_a_published_model_only(tmp_path):
    def files(model):
        return sources.real_logit_files(logits_dir(tmp_path), {model: {"file": ""}}, PUBLISHED)

    assert files("resnet110_c10") == {}
    refused(f"mine: its cell file is empty, and no published fit to draw a surrogate from; name a "
            f"file in {tmp_path} there", files, "mine")  # fmt: skip


def test_sources_in_words():
    table = {"a": {}, "b": {}, "c": {}}
    assert sources.sources_in_words({"b": "x"}, table) == (
        "Real logits: b. Surrogates: 2 of 3 models."
    )
    assert sources.sources_in_words({}, table) == "No real logits. Surrogates: 3 of 3 models."
