"""scripts/reproduce.py, which ``make reproduce`` calls, where things go wrong."""

import os
import signal
import sys

from checkout import TINY
from slow_estimator import with_slow_estimator
from test_faults import wait_for_job


def test_after_a_killed_run_and_interrupted(fresh):
    """It does not wait for itself; Ctrl-C lets Snakemake stop in order."""
    slow = with_slow_estimator(fresh)
    (slow / ".snakemake/locks").mkdir(parents=True)
    (slow / ".snakemake/locks/0.output.lock").touch()
    options = ("--configfile", TINY, "--config", "estimator_dir=mine", "estimators=[slow]")
    reproduce = [sys.executable, "scripts/reproduce.py", "--cores", "2", "--", *options]
    run = slow.start_command(reproduce)
    wait_for_job(slow, run)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(120) != 0
    said = (slow / "run.log").read_text("utf-8")
    assert "Traceback" not in said
    assert not list((slow / ".snakemake/locks").glob("*.lock"))
