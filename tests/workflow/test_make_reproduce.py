"""scripts/reproduce.py, which ``make reproduce`` calls, where things go wrong."""

import os
import signal
import sys

from checkout import TINY
from slow_estimator import RUN, with_slow_estimator
from test_faults import wait_for_job


def test_after_a_killed_run_and_interrupted(finished):
    """It does not wait for itself; Ctrl-C lets Snakemake stop in order."""
    slow = with_slow_estimator(finished)
    (slow / ".snakemake/locks").mkdir(parents=True, exist_ok=True)
    (slow / ".snakemake/locks/0.output.lock").touch()
    reproduce = [sys.executable, "scripts/reproduce.py", "--cores", "2", "--"]
    reproduce += ["--configfile", TINY, *RUN]
    run = slow.start_command(reproduce)
    wait_for_job(slow, run)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(120) != 0
    said = (slow / "run.log").read_text("utf-8")
    assert "Traceback" not in said
    assert not list((slow / ".snakemake/locks").glob("*.lock"))
