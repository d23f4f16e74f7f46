"""Without its folder nothing misses the evidence: plan, results, wheel, tests and documentation."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from checkout import ROOT, SNAKEMAKE
from command import python

from pipeline.beside import MAIN

pytestmark = pytest.mark.skipif(
    not (ROOT / "evidence/Snakefile").exists(), reason="the folder is not there"
)


@pytest.fixture
def alone(pristine, tmp_path):
    """A checkout without the folder."""
    checkout = pristine.copy(tmp_path / "alone")
    shutil.rmtree(checkout / "evidence")
    return checkout


def commands(checkout, *arguments):
    """Return the shell lines of all jobs with the params that Snakemake compares, sorted."""
    text = checkout.run("--dry-run", "--printshellcmds", "--verbose", *arguments)
    return sorted(re.findall(r"^Shell command: .*|^ +(?:input|output|wildcards): .*", text, re.M))


def test_the_same_jobs_with_the_same_commands_are_planned(pristine, alone):
    assert commands(alone) == commands(pristine)


def test_nothing_runs_again_where_the_folder_is_taken_away(finished):
    shutil.rmtree(finished / "evidence")
    assert finished.planned() == []


def test_the_folder_is_asked_for_by_no_code_of_the_tool_and_the_papers():
    lines = [
        f"{path}: {line}"
        for path in (*MAIN.scripts.rglob("*.py"), *MAIN.rules.glob("*.smk"))
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"from evidence|import evidence|rules/evidence", line)
    ]
    assert lines == []


@pytest.mark.nightly
def test_a_run_makes_the_same_bytes(undisturbed, alone):
    alone.run()
    folders = ("tables", "figures", "bias", "fits", "audit")
    made, expected = alone.bytes(*folders), undisturbed.bytes(*folders)
    assert made
    assert made == {name: expected.get(name) for name in made}  # which has more: the smoke run's


@pytest.mark.nightly
def test_the_wheel_has_the_same_bytes(pristine, alone):
    build = "import setuptools.build_meta as b; print(b.build_wheel('.'))"
    digests = []
    for checkout in (pristine.copy(alone.path.with_name("whole")), alone):
        name = python(build, folder=checkout.path, SOURCE_DATE_EPOCH="1700000000").splitlines()[-1]
        digests.append(hashlib.sha256((checkout / name).read_bytes()).hexdigest())
    assert digests[0] == digests[1]


@pytest.mark.nightly
def test_the_fast_tests_pass(alone):
    command = [SNAKEMAKE.with_name("pytest"), "-q", "-n", "2", "-m", "not slow", "-x"]
    run = subprocess.run(command, cwd=alone.path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:]


@pytest.mark.nightly
@pytest.mark.skipif(not importlib.util.find_spec("sphinx"), reason="make docs has Sphinx")
def test_the_documentation_has_no_warning(alone):
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "docs", "build/docs"]
    run = subprocess.run(command, cwd=alone.path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
