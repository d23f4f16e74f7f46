"""The environment files say one thing: lock, conda environment, package metadata."""

import json
import re
import tomllib

import pytest
import yaml
from checkout import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked(name):
    """{package: version for Python 3.11} of a lock file."""
    versions = {}
    for line in (ROOT / "envs" / name).read_text().splitlines():
        match = re.match(r"([a-z0-9._-]+)==([^ ;\\]+)\s*(;[^\\]*)?", line)
        if match and ">= '3.12'" not in (match[3] or ""):
            versions[match[1]] = match[2]
    return versions


def wanted(name):
    lines = (ROOT / "envs" / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-"))]


def wanted_by_the_pipeline():
    """The package's dependencies with those of its extras."""
    extras = PROJECT["optional-dependencies"].values()
    return sorted([*PROJECT["dependencies"], *(name for extra in extras for name in extra)])


def test_conda_environment_has_the_locked_versions():
    environment = yaml.safe_load((ROOT / "envs/environment.yaml").read_text())
    pins = dict(line.split("=") for line in environment["dependencies"])
    assert pins.pop("python") == "3.11"
    lock = locked("requirements.lock")
    assert pins == {name: lock[name] for name in wanted_by_the_pipeline()}


def test_development_lock_extends_the_runtime_lock():
    runtime, development = locked("requirements.lock"), locked("requirements-dev.lock")
    assert {name: development.get(name) for name in runtime} == runtime
    assert set(wanted("requirements-dev.in")) <= set(development)


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "envs").glob("*.lock")))
def test_every_package_is_locked_with_hashes_and_no_host(name):
    text = (ROOT / "envs" / name).read_text()
    blocks = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text


def test_files_for_citation_and_archives_say_the_same():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    assert citation["license"] == PROJECT["license"]
    assert codemeta["license"] == f"https://spdx.org/licenses/{PROJECT['license']}"
    assert codemeta["name"] == PROJECT["name"] == citation["title"].partition(":")[0]
    assert codemeta["description"] == PROJECT["description"]
    assert codemeta["keywords"] == citation["keywords"]
    assert [author["name"] for author in codemeta["author"]] == [
        author["name"] for author in citation["authors"]
    ]
    assert codemeta["runtimePlatform"].split()[1] == PROJECT["requires-python"].strip(">=")
    assert set(codemeta["softwareRequirements"]) <= set(wanted_by_the_pipeline())
