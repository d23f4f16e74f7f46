"""What a killed run left, and whose it is: this machine's, another's, a living run's."""

import fcntl

import pytest

from calbias.pipeline import recovery
from calbias.pipeline.recovery import LET_BE, MAKE_AGAIN

RUN = ["snakemake", "--cores", "2"]


@pytest.fixture
def left(tmp_path):
    """Return the folder that a killed run left, with a lock and an unfinished output."""
    for name in ("locks/0.output.lock", "incomplete/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.fixture(autouse=True)
def let_go(monkeypatch):
    """Let go of the locks that a process holds as long as it lives."""
    held = []
    monkeypatch.setattr(recovery, "_held", held)
    yield
    for file in held:
        file.close()


def machine(monkeypatch, name):
    monkeypatch.setattr(recovery.socket, "gethostname", lambda: name)
    while recovery._held:
        recovery._held.pop().close()


def locks(folder):
    return list((folder / "locks").iterdir())


def test_a_killed_run_of_this_machine_is_cleared_away(left):
    assert recovery.about_unfinished(left, RUN) == MAKE_AGAIN
    assert locks(left) == []


@pytest.mark.parametrize("flag", ["-n", "--dry-run", "--dryrun", "-np", "-qn"])
def test_a_dry_run_waits_for_no_job_and_leaves_the_locks(left, flag):
    with open(left / "jobs", "w") as job:
        fcntl.flock(job, fcntl.LOCK_SH)
        assert recovery.about_unfinished(left, ["snakemake", flag]) == MAKE_AGAIN
    assert len(locks(left)) == 1


@pytest.mark.parametrize("arguments", [["-c2"], ["-j", "2"], ["--nolock"], ["-sSnakefile"]])
def test_what_is_no_dry_run(arguments):
    assert not recovery.is_dry_run(["snakemake", *arguments])


def test_jobs_of_a_killed_run_are_cancelled_in_slurm(left, tmp_path, monkeypatch, capsys):
    """Those that Snakemake submitted from this folder; not itself, where it is a job of Slurm."""
    run = "5e1f2f3c-0d9b-4a7e-9c43-2f1f6b1c7a55"
    here, other = left.parent, left.parent / "other"
    (tmp_path / "bin").mkdir()
    jobs = f"11 {run} {here}\n12 {run} {other}\n13 snakemake.sh {here}\n14_[0-3] {run} {here}\n"
    for name, script in (("squeue", f"printf '{jobs}'"), ("scancel", "echo $@ > cancelled")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    assert recovery.about_unfinished(left, RUN) == MAKE_AGAIN
    assert (tmp_path / "cancelled").read_text() == "11 14_[0-3]\n"
    assert "left in Slurm: 11 14_[0-3]." in capsys.readouterr().out


def test_a_living_run_is_let_be(left):
    assert recovery.about_unfinished(left, RUN) == MAKE_AGAIN  # lives on in this process
    assert recovery.about_unfinished(left, RUN) is None  # it starts, and makes nothing as yet
    (left / "locks/0.output.lock").touch()
    for another in (RUN, ["snakemake", "-n"]):
        assert recovery.about_unfinished(left, another) == LET_BE
    assert len(locks(left)) == 1


def test_a_dry_run_is_in_nobodys_way(left):
    assert recovery.about_unfinished(left, ["snakemake", "-n"]) == MAKE_AGAIN  # lives on
    assert recovery.about_unfinished(left, RUN) == MAKE_AGAIN
    assert locks(left) == []


def test_a_run_of_another_machine_is_let_be_until_it_is_unlocked(left, monkeypatch):
    machine(monkeypatch, "login1")
    recovery.about_unfinished(left, RUN)
    (left / "locks/0.output.lock").touch()
    machine(monkeypatch, "login2")
    assert recovery.about_unfinished(left, RUN) is None
    assert len(locks(left)) == 1
    locks(left)[0].unlink()  # snakemake --unlock
    machine(monkeypatch, "login2")
    assert recovery.about_unfinished(left, RUN) == MAKE_AGAIN
    (left / "locks/0.output.lock").touch()  # killed again, here
    machine(monkeypatch, "login2")
    assert recovery.about_unfinished(left, RUN) == MAKE_AGAIN
    assert locks(left) == []
