"""What a result was made with: recorded beside it, carried on to what is made of it, compared."""

import json

import pytest
from command import run

from pipeline import versions
from pipeline.results import record_of, remember_inputs
from pipeline.tables import validate_unchanged, write_table


@pytest.fixture
def of(monkeypatch):
    """A function that makes this process one of a version of numpy."""

    def process(numpy, commit="a"):
        versions.present.cache_clear()
        monkeypatch.setenv(versions.RUN, json.dumps({"numpy": numpy, "commit": commit}))

    yield process
    versions.present.cache_clear()


def part(path, name):
    write_table(path, "paired_t_test", [dict.fromkeys(COLUMNS, name)])
    return path


COLUMNS = (
    *("experiment", "estimator_a", "estimator_b", "n_pairs", "mean_abs_bias_a_percent"),
    *("mean_abs_bias_b_percent", "t_statistic", "degrees_of_freedom", "p_value"),
)


def test_a_table_carries_its_own_versions_and_those_of_its_parts(tmp_path, of):
    of("1.0")
    first = part(tmp_path / "first.parquet", "x")
    of("2.0")
    parts = [first, part(tmp_path / "second.parquet", "y")]
    run("join_tables", parts=parts, table="paired_t_test", output=tmp_path / "t.csv")
    made_with = {
        name: versions.versions_of(record_of(tmp_path / name))
        for name in ("first.parquet", "second.parquet", "t.csv")
    }
    numbers = {name: [each["numpy"] for each in sets] for name, sets in made_with.items()}
    assert numbers == {"first.parquet": ["1.0"], "second.parquet": ["2.0"], "t.csv": ["2.0", "1.0"]}
    validate_unchanged(tmp_path / "t.csv")
    [line] = versions.mixed(made_with)
    assert (
        line
        == "results of 2 versions of numpy stand side by side: 1.0 (2 results), 2.0 (2 results)"
    )


def test_another_commit_is_recorded_and_no_fault(tmp_path, of):
    made_with = {}
    remember_inputs([])
    for commit in "ab":
        of("1.0", commit)
        path = part(tmp_path / f"{commit}.csv", commit)
        made_with[commit] = versions.versions_of(record_of(path))
    assert [sets[0]["commit"] for sets in made_with.values()] == ["a", "b"]
    assert versions.mixed(made_with) == []


def test_without_a_run_the_process_says_what_it_is(monkeypatch):
    monkeypatch.delenv(versions.RUN, raising=False)
    versions.present.cache_clear()
    assert {"calbias", "python", "numpy"} <= {*json.loads(versions.present())}
    versions.remember_versions({"commit": "c", "edited": True})
    versions.present.cache_clear()
    assert json.loads(versions.present())["commit"] == "c edited"
    monkeypatch.delenv(versions.RUN)
    versions.present.cache_clear()
