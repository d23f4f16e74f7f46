"""The record of versions, configuration and checksums, and the crate of a run."""

import hashlib
import json
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from command import run

import write_rocrate
from calbias import __version__
from pipeline.provenance import config_digest

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
    def sha256(path):
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()

    record = json.loads(written[0].read_text())
    assert record["machine"].pop("cores") >= 1
    expected = {
        "configuration": {"sha256": config_digest(CONFIG), "seed": 7},
        "config": CONFIG,
        "sources": {"beta_fits": ["real_logits", "surrogate_logits"]},
        "inputs": {__file__: sha256(__file__)},
        "files": {str(path): sha256(path) for path in written[1:]},
    }
    assert {name: record[name] for name in expected} == expected
    versions = record["project"]["version"], record["packages"]["numpy"]
    assert versions == (__version__, version("numpy"))


def test_what_each_rule_used_is_read_from_the_jobs_logs(written, tmp_path, capsys):
    record, table, _ = written
    run("record_provenance", check=record)
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
def test_a_record_that_is_none_and_a_missing_file_are_named(tmp_path, refused, text):
    record = tmp_path / "provenance.json"
    if text is not None:
        record.write_text(text)
    with refused(f"error: {record}: not a record of provenance"):
        run("record_provenance", check=record)
    with refused("no.csv: cannot be read"):
        run("record_provenance", files=tmp_path / "no.csv", config="{}", output=tmp_path / "x.json")


SETTINGS = {"seed": 7, "softmax": "exact", "download": False, "experiments": {}}


@pytest.fixture
def made_by(tmp_path, monkeypatch):
    """A folder with a table, its record of provenance, and a model of the user's own elsewhere."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/bias.csv").write_text("model\na\n")
    (tmp_path / "my model.npz").write_bytes(b"mine")
    inputs = [write_rocrate.CHECKOUT / "config/models.csv", tmp_path / "my model.npz"]
    run("record_provenance", files="results/bias.csv", inputs=inputs, config=json.dumps(SETTINGS),
         output="results/p.json")  # fmt: skip
    return tmp_path


def pack(output="results/crate.zip"):
    run("write_rocrate", record="results/p.json", output=output)
    crate = zipfile.ZipFile(output)
    graph = json.loads(crate.read("ro-crate-metadata.json"))["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert len(entities) == len(graph)
    return crate, entities


def references(value):
    """Yield each {"@id": name} in a value."""
    if isinstance(value, dict) and set(value) == {"@id"}:
        yield value["@id"]
    for part in value if isinstance(value, list) else ():
        yield from references(part)


def test_ids_resolve_and_files_are_there_with_their_checksums(made_by):
    crate, entities = pack()
    elsewhere = {"https://w3id.org/ro/crate/1.1", "https://snakemake.github.io"}
    values = [value for entity in entities.values() for value in entity.values()]
    named = {name for value in values for name in references(value)}
    assert named - elsewhere == set(entities) - {"ro-crate-metadata.json"}
    files = {name: entity for name, entity in entities.items() if "File" in entity["@type"]}
    assert {*files, "ro-crate-metadata.json"} == set(crate.namelist())
    assert {"@id": "Snakefile"} in entities["./"]["hasPart"]
    for name, entity in files.items():
        assert entity["sha256"] == hashlib.sha256(crate.read(name)).hexdigest()
        assert entity["contentSize"] == str(crate.getinfo(name).file_size)


def test_the_run_is_the_workflows_with_its_inputs_results_and_settings(made_by):
    _, entities = pack()
    root, action = entities["./"], entities["#run"]
    assert {"@id": "https://w3id.org/ro/wfrun/workflow/0.5"} in root["conformsTo"]
    assert root["mainEntity"] == action["instrument"] == {"@id": "Snakefile"}
    assert "ComputationalWorkflow" in entities["Snakefile"]["@type"]
    assert action["result"] == [{"@id": "results/bias.csv"}, {"@id": "results/p.json"}]
    assert {"@id": "config/models.csv"} in action["object"]
    settings = [entities[f"#{key}"]["value"] for key in ("seed", "softmax", "download")]
    assert settings == ["7", "exact", "False"]
    # a user's own file is described, not packed
    (own,) = [entity for name, entity in entities.items() if name.endswith("my%20model.npz")]
    assert (own["@type"], own["sha256"]) == ("CreativeWork", hashlib.sha256(b"mine").hexdigest())


def test_the_same_run_gives_the_same_bytes(made_by):
    pack("a.zip"), pack("b.zip")
    assert (made_by / "a.zip").read_bytes() == (made_by / "b.zip").read_bytes()


@pytest.mark.parametrize("text", ["model\nb\n", None])
def test_an_edited_or_missing_result_is_refused(made_by, refused, text):
    table = made_by / "results/bias.csv"
    table.unlink()
    if text:
        table.write_text(text)
    with refused("error: results/bias.csv: "):
        pack()
    assert not (made_by / "results/crate.zip").exists()
