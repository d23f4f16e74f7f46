"""The Slurm profile on a real Slurm: the bytes of a local run, groups, retries, a killed run."""

import os
import re
import subprocess
import time

import pytest
from checkout import SMOKE
from slow_estimator import RUN, SLOW_SHARD, with_slow_estimator

pytestmark = pytest.mark.slurm

PROFILE = ("--workflow-profile", "workflow/profiles/slurm", "--jobs", "50")
# seconds: this cluster answers at once
SOON = ("--slurm-init-seconds-before-status-checks", "2", "--seconds-between-status-checks", "2")
SCENARIOS = "results/scenarios/realistic.parquet"
FLAKY = '''"""Runs out of memory at its first attempt."""

from pathlib import Path

BINS = "none"


def estimate(scores, hits, n_bins, norm):
    """Return 0, but not at first."""
    if not Path("second_attempt").exists():
        Path("second_attempt").touch()
        raise MemoryError
    return 0.0
'''


def test_a_retry_asks_for_more_memory(fresh, undisturbed, slurm):
    """What its first job makes has the bytes of a local run."""
    (fresh / "mine").mkdir()
    (fresh / "mine/flaky.py").write_text(FLAKY)
    config = ("estimator_dir=mine", "estimators=[flaky]")
    target = "results/replicates/realistic/flaky/0-of-1.parquet"
    arguments = ("--config", *config, "--", target)
    fresh.run(*PROFILE, *SOON, *arguments, environment=slurm)
    said = fresh.log()
    assert (fresh / target).exists()
    assert (fresh / SCENARIOS).read_bytes() == (undisturbed / SCENARIOS).read_bytes()
    assert re.search(r"Trying to restart job", said)
    asked = [int(mb) for mb in re.findall(r"mem_mb=(\d+)", said)]
    minutes = [int(n) for n in re.findall(r"runtime=(\d+)", said)]
    assert {30, 60} <= set(minutes)
    assert {600, 1200} <= set(asked)


def test_shards_share_queue_entries(fresh, slurm):
    """Told by a dry run: 40 shards in groups of 8 are five entries."""
    target = "results/bias/realistic.parquet"
    config = ("shards=40", "replicates=40", "estimators=[ece_bin_ew]")
    said = fresh.run(*PROFILE, "--dry-run", "--config", *config, "--", target, environment=slurm)
    assert len(re.findall(r"rule simulate_replicates:", said)) == 40
    assert len(re.findall(r"roup job simulate", said)) == 5


def test_queued_jobs_of_a_killed_run(fresh, slurm):
    """They are cancelled by the run's ID, as workflow/profiles/README.md says."""
    slow = with_slow_estimator(fresh)
    [node] = answer(slurm, "sinfo", "--noheader", "--format=%n")
    node = ("scontrol", "update", f"nodename={node}")
    answer(slurm, *node, "state=drain", "reason=test")  # nothing starts: as on a busy cluster
    try:
        run = slow.start(*PROFILE, *SOON, *RUN[:-1], SLOW_SHARD, environment=slurm)
        queue(slurm, 1)
        os.killpg(run.pid, 9)
        run.wait()
        run_id = re.search(r"SLURM run ID: (\S+)", (slow / "run.log").read_text("utf-8"))[1]
        answer(slurm, "scancel", f"--name={run_id}")
        assert queue(slurm, 0) == []
    finally:
        answer(slurm, *node, "state=resume")


@pytest.mark.nightly
def test_the_bytes_of_a_local_run_and_few_queue_entries(fresh, smoke, slurm):
    """Last: what it compares with is made meanwhile. A figure's job runs where Snakemake does."""
    said = fresh.run(*PROFILE, *SOON, config=SMOKE, environment=slurm)
    folders = ("bias", "fits", "measures", "recalibration", "replicates", "tables", "figures")
    made, expected = fresh.bytes(*folders), smoke.bytes(*folders)
    assert {*made} == {*expected}
    assert [name for name in made if made[name] != expected[name]] == []
    assert len(re.findall(r"has been submitted with SLURM jobid", said)) <= 11


def queue(slurm, number, seconds=120):
    """Return the ids of this user's jobs in Slurm, once there are that many."""
    for _ in range(seconds * 5):
        ids = answer(slurm, "squeue", "--me", "--noheader", "--format=%i")
        if len(ids) == number:
            return ids
        time.sleep(0.2)
    raise AssertionError(f"not {number} jobs in {seconds} s: {ids}")


def answer(slurm, *command):
    """Return the words that a command of Slurm prints."""
    done = subprocess.run(
        command, env={**os.environ, **slurm}, check=True, capture_output=True, text=True
    )
    return done.stdout.split()
