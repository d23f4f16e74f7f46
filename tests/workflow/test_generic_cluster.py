"""The generic profile with commands that stand in for Grid Engine's."""

import contextlib
import os
import re
import shutil
import subprocess
import time

import psutil
import pytest
from checkout import ROOT
from slow_estimator import RUN, SLOW_SHARD, with_slow_estimator
from test_isolation import NAMES

STATUS = ROOT / "workflow/profiles/generic-cluster/status.sh"
# qsub runs the job's script in the background and prints an id; the status of its end is recorded
# also where the job is killed.
COMMANDS = {
    "qsub": """
echo "$@" >> submitted
for script; do :; done
mkdir -p ended
id=$(wc -l < submitted)
nohup sh -c 'sh "$1"; echo $? > "ended/$2"' recorder "$script" "$id" > /dev/null 2>&1 &
echo "$id"
""",
    "qstat": """
[ ! -e "ended/$2" ] || { echo 'Following jobs do not exist:' >&2; echo "$2" >&2; exit 1; }
echo "job_number:                 $2"
""",
    "qacct": """
echo ==============================================================
echo "jobnumber    $2"
echo "failed       0"
echo "exit_status  $(cat "ended/$2")"
""",
    "qdel": 'echo "$@" >> deleted',
}
PROFILE = ("--workflow-profile", "workflow/profiles/generic-cluster", "--jobs", "4")
SOON = ("--latency-wait", "5", "--seconds-between-status-checks", "1")


def commands(folder, **scripts):
    """Write commands into ``folder``; return the environment in which they are found."""
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return {"PATH": os.pathsep.join([str(folder), os.environ["PATH"]])}


def submissions(checkout, what):
    """Return [(slots, MB per slot, minutes)] of the jobs submitted for a group or rule."""
    lines = (checkout / "submitted").read_text().splitlines()
    asked = r"-pe smp (\d+) -l h_vmem=(\d+)M,h_rt=0:(\d+):0"
    return [tuple(map(int, re.search(asked, line).groups())) for line in lines if what in line]


def test_jobs_are_submitted_in_groups_with_their_resources(fresh, undisturbed):
    environment = commands(fresh / "bin", **COMMANDS)
    targets = [f"results/replicates/realistic/{name}/0-of-1.parquet" for name in NAMES]
    fresh.run(*PROFILE, *SOON, "--", *targets, environment=environment)
    for target in targets:
        assert (fresh / target).read_bytes() == (undisturbed / target).read_bytes()
    # four shards of 600 MB in one job of four slots: memory is per slot
    assert submissions(fresh, "simulate") == [(4, 600, 30)]


@pytest.mark.nightly
def test_a_job_that_the_scheduler_kills_is_noticed_and_submitted_again(fresh):
    """All its processes at once, by SIGKILL: it leaves no sign of its own."""
    slow = with_slow_estimator(fresh)
    environment = commands(slow / "bin", **COMMANDS)
    run = slow.start(*PROFILE, *SOON, *RUN[:-1], SLOW_SHARD, environment=environment)
    for process in processes_of_the_job(slow, run):
        process.kill()
    (slow / "go").touch()
    assert run.wait(300) == 0, (slow / "run.log").read_text()
    assert "Trying to restart job" in (slow / "run.log").read_text()
    assert (slow / SLOW_SHARD).exists()
    assert submissions(slow, "simulate") == [(1, 600, 30), (1, 1200, 60)]


def processes_of_the_job(checkout, run, seconds=120):
    """Wait for the slow estimator to be at work; return its job's processes, the script's first."""
    for _ in range(seconds * 10):
        for process in psutil.process_iter(["cmdline", "cwd"]):
            if process.info["cwd"] == str(checkout.path) and "recorder" in process.info["cmdline"]:
                below = process.children(recursive=True)
                with contextlib.suppress(psutil.NoSuchProcess):  # one that ends at this moment
                    if any("simulate_replicates" in each.cmdline() for each in below):
                        return below
        assert run.poll() is None, (checkout / "run.log").read_text()
        time.sleep(0.1)
    raise AssertionError("the job was not seen")


QUEUED = "echo job_number: 7"
LEFT = "echo Following jobs do not exist: >&2; exit 1"
BEFORE = "echo failed 1; echo exit_status 0; echo =======;"  # an earlier job with the same id


@pytest.mark.parametrize(
    ("qstat", "qacct", "expected"),
    [
        (QUEUED, "exit 1", "running"),
        ("echo unable to contact qmaster >&2; exit 1", "exit 1", "running"),
        ("echo error reason 1: no such folder", "exit 1", "failed"),
        (LEFT, "exit 1", "running"),  # its record is still to come
        (LEFT, "echo failed 0; echo exit_status 0", "success"),
        (LEFT, f"{BEFORE} echo failed 0; echo exit_status 0", "success"),
        (LEFT, "echo failed 0; echo exit_status 1", "failed"),
        (LEFT, "echo failed 100 : assumedly after job; echo exit_status 137", "failed"),
    ],
)
def test_what_became_of_a_job(tmp_path, qstat, qacct, expected):
    environment = commands(tmp_path / "bin", qstat=qstat, qacct=qacct, qdel="")
    (tmp_path / ".snakemake").mkdir()
    assert status(tmp_path, environment) == expected


def test_a_job_without_a_record_has_failed_after_ten_minutes(tmp_path):
    environment = commands(tmp_path / "bin", qstat=LEFT, qacct="exit 1")
    (tmp_path / ".snakemake").mkdir()
    assert status(tmp_path, environment) == "running"
    [mark] = (tmp_path / ".snakemake").iterdir()
    os.utime(mark, (time.time() - 700,) * 2)
    assert status(tmp_path, environment) == "failed"
    assert not mark.exists()


def status(folder, environment):
    done = subprocess.run(
        [shutil.which("sh"), str(STATUS), "7"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
