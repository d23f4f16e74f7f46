"""What Snakemake records of a job: each param with its name, the bytes of what no job makes."""

import json
import os
import shutil
from types import SimpleNamespace

import pytest

from pipeline import kept_digests, sources, step_command
from pipeline.job_params import described, job_params, words


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder, and nothing that is kept of another."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "_DIGESTS", {})
    kept_digests._known.cache_clear()
    yield tmp_path
    kept_digests._known.cache_clear()


def recorded(params, **wildcards):
    """What Snakemake compares: the set of the values that are no functions of inputs."""
    texts = set()
    for value in params.values():
        if not callable(value):
            texts.add(value)
        elif "input" not in value.__code__.co_varnames:
            texts.add(value(SimpleNamespace(**wildcards, items=wildcards.items)))
    return texts


def test_two_values_that_change_places_are_a_change(folder):
    first, second = (
        recorded(job_params("compute_tce_rounding", list, norm=norm, seed=seed))
        for norm, seed in ((1, 2), (2, 1))
    )
    assert first ^ second == {"--norm 1", "--norm 2", "seed = 1", "seed = 2"}  # no option: no flag


def test_the_order_of_inputs_and_of_the_names_of_inputs_counts(folder):
    def of(paths, names):
        return recorded(job_params("judge_claims", lambda: paths, tables=names))

    paths = ["results/a.csv", "results/b.csv"]
    assert of(paths, ["a", "b"]) == of(paths, ["a", "b"])
    assert len(of(paths, ["a", "b"]) ^ of(paths[::-1], ["a", "b"])) == 2
    assert len(of(paths, ["a", "b"]) ^ of(paths, ["b", "a"])) == 2


def test_words_of_a_command_line(folder):
    wildcards, inputs = SimpleNamespace(model="m"), {"tables": ["x/a.csv", "x/b c.csv"]}
    params = job_params("judge_claims", list, tables=["a", "b"])
    assert params["tables"](wildcards, inputs) == "--tables a=x/a.csv 'b=x/b c.csv'"
    params = job_params("join_tables", list, table=lambda wildcards: wildcards.model)
    assert params["table"](wildcards) == "--table m"
    assert words("n-samples", [200, 400]) == "--n-samples 200 400"
    assert words("label", None) == words("label", []) == "--label"
    assert params["parts"](wildcards, {"parts": "one.csv"}) == "--parts one.csv"
    with pytest.raises(TypeError, match="tables: give the names, or a path for each"):
        job_params("judge_claims", list, tables={"a": ("no", "path")})


def test_words_of_a_thousand_models_are_in_a_file(folder):
    names = [f"a_model_of_a_long_name_{k:04}" for k in range(1000)]
    text = words("models", names)
    assert len(text) < 100
    assert [*step_command.from_files(text.split())] == ["--models", *names]
    assert [*step_command.from_files(["@other", "x"])] == ["@other", "x"]
    assert words("models", names[::-1]) != text


@pytest.mark.parametrize("how", ["moved", "copied", "dated back"])
def test_other_bytes_with_an_older_time_are_another_digest(how, folder):
    old, new = folder / "old.csv", folder / "new.csv"
    for path, time in ((old, 2000), (new, 1000)):
        path.write_text(f"{time}\n")
        os.utime(path, (time, time))
    first = described(["old.csv"], SimpleNamespace(items={}.items))
    sources._DIGESTS.clear()
    if how == "moved":
        new.rename(old)
    elif how == "copied":
        shutil.copy2(new, old)
    else:  # as many bytes, and the same time to the nanosecond
        old.write_text("1000\n")
        os.utime(old, (2000, 2000))
    assert described(["old.csv"], SimpleNamespace(items={}.items)) != first


def test_bytes_are_read_once_for_each_state_of_a_file(folder, monkeypatch):
    (folder / "a.csv").write_text("a")
    (folder / ".snakemake").mkdir()
    digest = sources.digest("a.csv")
    kept_digests.save()
    assert digest in json.loads(kept_digests.STORE.read_text()).values()
    sources._DIGESTS.clear()
    kept_digests._known.cache_clear()
    monkeypatch.setattr(sources, "file_digest", lambda path: pytest.fail("read again"))
    assert sources.digest("a.csv") == digest


def test_which_inputs_count_by_their_bytes():
    local, ancient = {"local": True}, {"local": True, "ancient": True}
    counted = [
        ("data/a.csv", {}),
        ("results/a.csv", local),
        ("../results/a", {}),
        ("/results/a", {}),
    ]
    made = [("results/a.csv", {}), ("of_calbias/results/a.csv", {}), ("data/a.csv", ancient)]
    assert [sources.counts_by_bytes(*each) for each in (*counted, *made)] == [True] * 4 + [
        False
    ] * 3


def test_a_file_that_is_to_be_downloaded_counts_as_if_it_were_there(folder, monkeypatch):
    monkeypatch.setitem(sources.EXPECTED, "later.p", "ab" * 32)
    assert sources.digest("later.p") == "ab" * 32
    assert sources.digest("never.p") == "absent"
    (folder / "later.p").write_text("x")
    assert sources.digest("later.p") != "ab" * 32
