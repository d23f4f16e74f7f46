"""The record of versions, configuration and checksums."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import pytest
from command import run

from calbias import __version__
from pipeline.provenance import config_digest

CONFIG = {"seed": 7, "softmax": "exact", "shards": 3, "experiments": {"fits": {"n_samples": [5]}}}


@pytest.fixture
def written(tmp_path):
    table, figure = tmp_path / "beta_fits.csv", tmp_path / "fig.png"
    table.write_text("model,source\na,real_logits\nb,real_scores\nc,real_logits\n")
    figure.write_bytes(b"\x89PNG")
    record = tmp_path / "record/provenance.json"
    run("record_provenance", files=[table, figure], inputs=__file__, config=json.dumps(CONFIG),
        output=record)  # fmt: skip
    return record, table, figure


def test_it_says_what_everything_was_made_with(written):
    def sha256(path):
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()

    record = json.loads(written[0].read_text())
    assert record["machine"].pop("cores") >= 1
    expected = {
        "configuration": {"sha256": config_digest(CONFIG), "seed": 7},
        "config": CONFIG,
        "sources": {"beta_fits": ["real_logits", "real_scores"]},
        "inputs": {__file__: sha256(__file__)},
        "files": {str(path): sha256(path) for path in written[1:]},
    }
    assert {name: record[name] for name in expected} == expected
    versions = record["project"]["version"], record["packages"]["numpy"]
    assert versions == (__version__, version("numpy"))


def test_what_each_rule_used_is_read_from_the_jobs_logs(written, tmp_path, capsys):
    record, table, _ = written
    run("check_provenance", record=record)
    used = capsys.readouterr().out.splitlines()[-1]
    logs = {"fit_model/a": f"text\n{used}\n", "fit_model/b/c": "used 9000.25 s of CPU and 70 MB",
            "judge_claims": "error: no memory"}  # fmt: skip
    for name, text in logs.items():
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"logs/{name}.log").write_text(text)
    run("record_provenance", files=table, logs=tmp_path / "logs", config=json.dumps(CONFIG),
        output=record)  # fmt: skip
    [(rule, cost)] = json.loads(record.read_text())["cost"].items()
    assert (rule, cost["jobs"]) == ("fit_model", 2)
    assert cost["cpu_seconds"] > 9000.25
    assert cost["peak_mb"] > 70  # of this process, of which the script has printed its own


def test_files_that_differ_from_the_record_are_named(written, capsys, refused):
    record, table, _ = written
    run("check_provenance", record=record)
    assert "2 files are as recorded" in capsys.readouterr().out
    table.write_text(table.read_text().replace("real", "ideal"))
    with refused(f"error: {table}: differs from {record}"):
        run("check_provenance", record=record)


@pytest.mark.parametrize(
    ("key", "counts"), [("shards", False), ("seed", True), ("download", True), ("softmax", True)]
)
def test_the_digest_follows_the_keys_that_count(key, counts):
    assert (config_digest({**CONFIG, key: 99}) != config_digest(CONFIG)) == counts


@pytest.mark.parametrize("text", [None, "", "[]", "{}"])
def test_a_record_that_is_none_and_a_missing_file_are_named(tmp_path, refused, text):
    record = tmp_path / "provenance.json"
    if text is not None:
        record.write_text(text)
    with refused(f"error: {record}: not a record of provenance"):
        run("check_provenance", record=record)
    with refused("no.csv: cannot be read"):
        run("record_provenance", files=tmp_path / "no.csv", config="{}", output=tmp_path / "x.json")
