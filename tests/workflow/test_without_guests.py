"""Without their folders nothing misses the guests: plan, results, wheel, tests, documentation."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from checkout import ROOT, SNAKEMAKE
from command import python
from nightly import daily

from pipeline.guests import MAIN

GUESTS = ("evidence", "networks")
TAKEN_AWAY = [[*GUESTS], *([name] for name in GUESTS)]
pytestmark = pytest.mark.skipif(
    not all((ROOT / name / "Snakefile").exists() for name in GUESTS), reason="a folder is missing"
)


@pytest.fixture(params=daily(TAKEN_AWAY, 1), ids="+".join)
def alone(request, pristine, tmp_path):
    """A checkout without these folders."""
    checkout = pristine.copy(tmp_path / "alone")
    for name in request.param:
        shutil.rmtree(checkout / name)
    return checkout


def commands(checkout, *arguments):
    """Return the shell lines of all jobs with the params that Snakemake compares, sorted."""
    text = checkout.run("--dry-run", "--printshellcmds", "--verbose", *arguments)
    return sorted(re.findall(r"^Shell command: .*|^ +(?:input|output|wildcards): .*", text, re.M))


def test_the_same_jobs_with_the_same_commands_are_planned(pristine, alone):
    assert commands(alone) == commands(pristine)


def test_nothing_runs_again_where_the_folders_are_taken_away(finished):
    for name in GUESTS:
        shutil.rmtree(finished / name)
    assert finished.planned() == []


def test_a_guest_is_imported_by_nobody_else():
    """import-linter checks the houses; a guest must not import the other one either."""
    folders = {MAIN.scripts: GUESTS} | {ROOT / x: {*GUESTS} - {x} for x in GUESTS}
    lines = [
        f"{path}: {line}"
        for folder, others in folders.items()
        for path in folder.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.match(rf"\s*(from|import) ({'|'.join(others)})\b", line)
    ]
    assert lines == []


def test_make_offers_only_what_is_there(alone):
    text = subprocess.run(["make", "help"], cwd=alone.path, capture_output=True, text=True).stdout
    offered = {name for name in GUESTS if f"make {name} " in text}
    assert offered == {name for name in GUESTS if (alone / name).exists()}
    assert "make reproduce" in text


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
