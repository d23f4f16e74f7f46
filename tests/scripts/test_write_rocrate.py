"""The crate of a run: what it describes is in it unchanged, and every reference resolves."""

import hashlib
import json
import zipfile

import pytest
from command import run as call

import write_rocrate

CONFIG = {"seed": 7, "softmax": "exact", "download": False, "experiments": {}}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A folder with a table, its record of provenance, and a model of the user's own elsewhere."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/bias.csv").write_text("model\na\n")
    (tmp_path / "my model.npz").write_bytes(b"mine")
    inputs = [write_rocrate.CHECKOUT / "config/models.csv", tmp_path / "my model.npz"]
    call("record_provenance", files="results/bias.csv", inputs=inputs, config=json.dumps(CONFIG),
         output="results/p.json")  # fmt: skip
    return tmp_path


def pack(output="results/crate.zip"):
    call("write_rocrate", record="results/p.json", output=output)
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


def test_ids_resolve_and_files_are_there_with_their_checksums(run):
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


def test_the_run_is_the_workflows_with_its_inputs_results_and_settings(run):
    _, entities = pack()
    root, action = entities["./"], entities["#run"]
    assert {"@id": "https://w3id.org/ro/wfrun/workflow/0.5"} in root["conformsTo"]
    assert root["mainEntity"] == action["instrument"] == {"@id": "Snakefile"}
    assert "ComputationalWorkflow" in entities["Snakefile"]["@type"]
    assert action["result"] == [{"@id": "results/bias.csv"}, {"@id": "results/p.json"}]
    assert {"@id": "config/models.csv"} in action["object"]
    assert {key: entities[f"#{key}"]["value"] for key in CONFIG if key != "experiments"} == {
        "seed": "7", "softmax": "exact", "download": "False"
    }  # fmt: skip
    # a user's own file is described, not packed
    (own,) = [entity for name, entity in entities.items() if name.endswith("my%20model.npz")]
    assert own["@type"] == "CreativeWork"
    assert own["sha256"] == hashlib.sha256(b"mine").hexdigest()


def test_the_same_run_gives_the_same_bytes(run):
    pack("a.zip"), pack("b.zip")
    assert (run / "a.zip").read_bytes() == (run / "b.zip").read_bytes()


@pytest.mark.parametrize("text", ["model\nb\n", None])
def test_an_edited_or_missing_result_is_refused(run, refused, text):
    table = run / "results/bias.csv"
    table.unlink()
    if text:
        table.write_text(text)
    with refused("error: results/bias.csv: "):
        pack()
    assert not (run / "results/crate.zip").exists()
