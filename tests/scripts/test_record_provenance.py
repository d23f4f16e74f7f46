"""The record of versions, configuration, sources and checksums."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import pytest
from command import run

from calbias import __version__
from calbias.pipeline.provenance import config_digest

CONFIG = {"seed": 7, "softmax": "exact", "shards": 3, "experiments": {"fits": {"n_samples": [5]}}}


@pytest.fixture
def written(tmp_path):
    table, figure = tmp_path / "beta_fits.csv", tmp_path / "fig.png"
    table.write_text("model,source\na,real_logits\nb,surrogate_logits\nc,real_logits\n")
    figure.write_bytes(b"\x89PNG")
    record = tmp_path / "record/provenance.json"
    run("record_provenance", files=[table, figure], inputs=__file__, config=json.dumps(CONFIG),
        output=record)  # fmt: skip
    return record, table, figure


def test_it_says_what_everything_was_made_with(written):
    record = json.loads(written[0].read_text())
    assert record["project"]["version"] == __version__
    assert record["configuration"] == {"sha256": config_digest(CONFIG), "seed": 7}
    assert record["config"] == CONFIG
    assert record["sources"] == {"beta_fits": ["real_logits", "surrogate_logits"]}
    assert record["packages"]["numpy"] == version("numpy")
    assert record["machine"]["cores"] >= 1
    assert record["inputs"] == {__file__: hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}
    for path in written[1:]:
        assert record["files"][str(path)] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_that_differ_from_the_record_are_named(written, capsys, refused):
    record, table, _ = written
    run("record_provenance", check=record)
    assert "2 files are as recorded" in capsys.readouterr().out
    table.write_text(table.read_text().replace("real", "ideal"))
    with refused(f"error: {table}: differs from {record}"):
        run("record_provenance", check=record)


@pytest.mark.parametrize(
    ("key", "counts"), [("shards", False), ("seed", True), ("download", True), ("softmax", True)]
)
def test_the_digest_follows_the_keys_that_count(key, counts):
    assert (config_digest({**CONFIG, key: 99}) != config_digest(CONFIG)) == counts


@pytest.mark.parametrize("text", [None, "", "[]", "{}"])
def test_a_record_that_is_none_is_named(tmp_path, refused, text):
    record = tmp_path / "provenance.json"
    if text is not None:
        record.write_text(text)
    with refused(f"error: {record}: not a record of provenance"):
        run("record_provenance", check=record)


def test_a_missing_file_is_named(tmp_path, refused):
    with refused("no.csv: cannot be read"):
        run("record_provenance", files=tmp_path / "no.csv", config="{}", output=tmp_path / "x.json")
