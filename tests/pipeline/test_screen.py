"""The screen of a run: a few lines, or a display in place; a failed run's causes last."""

import io
import logging
import re
import sys
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline.failures import failures
from pipeline.screen import Screen, install

OUTPUT = dict.fromkeys(
    ("dryrun", "verbose", "printshellcmds", "debug_dag", "show_failed_logs", "quiet"), False
)


class Run:
    """A run's events, at times that the test decides; what is on the screen afterwards."""

    def __init__(self, terminal=False):
        self.stream, self.now = io.StringIO(), 0.0
        self.stream.isatty = lambda: terminal
        self.screen = Screen(self.stream, clock=lambda: self.now)
        self.event("WORKFLOW_STARTED")

    def event(self, name, text=None, level=logging.INFO, **fields):
        record = logging.LogRecord("x", level, "", 0, text, None, None)
        record.__dict__ |= {**fields, "event": name and LogEvent[name]}
        self.screen.handle(record)

    def start(self, number, rule="draw", log=(), **wildcards):
        fields = {"jobid": number, "rule_name": rule, "log": log, "wildcards": wildcards}
        self.event("JOB_INFO", **fields)

    def finish(self, number, seconds=0.0):
        self.now += seconds
        self.event("JOB_FINISHED", job_id=number)

    def lines(self):
        """Return the lines that stand, after those that the terminal was asked to remove."""
        lines = []
        for away, line in re.findall(
            r"(?:\x1b\[(\d+)F\x1b\[J)?([^\n\x1b]*\n?)", self.stream.getvalue()
        ):
            lines = lines[: len(lines) - int(away or 0)] + ([line[:-1]] if line else [])
        return lines


def test_without_a_terminal_a_line_for_every_twentieth_of_the_jobs():
    run = Run()
    run.event("RUN_INFO", stats={"draw": 1000, "total": 1000})
    for number in range(1000):
        run.start(number)
        run.event("SHELLCMD", "Shell command: x")
        run.finish(number, 0.125)
        run.event("PROGRESS", done=number + 1, total=1000)
    run.event(None, "Adding figure.png (3 KB).")
    run.screen.close()
    assert len(run.lines()) == 20
    assert run.lines()[9] == "500 of 1000 jobs, 1:02, about 70 s to go"
    assert run.lines()[-1] == "1000 of 1000 jobs done in 2:05."


def test_on_a_terminal_the_display_stays_in_place(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "x.log").write_text("n = 100\n" + "n = 200" * 10 + "\n")
    run = Run(terminal=True)
    run.event("RUN_INFO", stats={"draw": 1, "fit": 3, "total": 4})
    run.start(1, "fit", model="a")
    run.start(2, "fit", [str(tmp_path / "x.log")], model="b")
    run.finish(1, 10)
    run.start(3, "fit", model="c")
    assert run.lines() == [
        "[#####               ] 1 of 4 jobs, 0:1",  # cut at 40 columns
        "  0:10 fit b  n = 200n = 200n = 200n = ",
        "  0:00 fit c",
    ]
    run.event(None, "Trying to restart job 7.")
    assert run.lines()[0] == "Trying to restart job 7."
    assert len(run.lines()) == 4
    run.screen.close()
    assert run.lines() == ["Trying to restart job 7.", "1 of 4 jobs done in 0:10."]


def test_time_left_by_rule():
    """One of two fits done in 10 s, the other runs for 10 s; three draws of 2 s, two of them left.

    Work left: 10 - 10 of the fit, 2 x 2 of the draws, 6 of a rule unseen (mean of 10 and 2). Spent:
    10 + 10 + 2 in 12 s.
    """
    run = Run()
    run.event("RUN_INFO", stats={"fit": 2, "draw": 3, "join": 1, "total": 6})
    run.start(1, "fit")
    run.finish(1, 10)
    run.now = 0
    run.start(2, "fit")
    run.now = 8
    run.start(3, "draw")
    run.finish(3, 2)
    run.now = 12
    work = run.screen._work
    work.running[2].started = 2
    assert work.seconds_left(12, 12) == pytest.approx((0 + 4 + 6) / (22 / 12))


def test_time_to_go_of_a_queue_is_that_of_the_jobs_that_are_done():
    """29 of 113 jobs in 314 s, 30 that wait or run: those left take as long a job."""
    run = Run()
    run.event("RUN_INFO", stats={"draw": 113, "total": 113})
    run.event("GROUP_INFO", "group job x (jobs in lexicogr. order):", groupid="x")
    for number in range(29):
        run.start(number)
        run.finish(number, 1)
    for number in range(29, 59):
        run.start(number)
    assert run.screen._work.seconds_left(314, 314) == pytest.approx(314 * 84 / 29)


def test_jobs_that_the_user_stops_have_not_failed():
    run = Run()
    run.event("RUN_INFO", stats={"draw": 2, "total": 2})
    run.start(1)
    run.event(None, "Terminating processes on user request, this might take some time.")
    run.event("JOB_ERROR", level=logging.ERROR, jobid=1, rule_name="draw", log=[])
    run.screen.close()
    assert [line for line in run.lines() if line.startswith("failed")] == []


def test_failures_and_new_warnings_stand_above_the_display(tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    (tmp_path / "x.log").write_text("warning: \x1b[2Jrounded\nused 1.00 s of CPU and 90 MB\n")
    run = Run(terminal=True)
    run.event("RUN_INFO", stats={"fit": 3, "total": 3})
    for number in (1, 2, 3):
        run.start(number, "fit", [str(tmp_path / "x.log")], model="a")
    run.finish(1)
    run.finish(2)
    run.event("JOB_ERROR", level=logging.ERROR, jobid=3, rule_name="fit", log=[])
    command = "RuleException:\nCalledProcessError in file x, line 1:\nCommand 'y' returned 2."
    run.event("ERROR", command, logging.ERROR)
    failed = "WorkflowError:\nAt least one job did not complete successfully."
    run.event("ERROR", failed, logging.ERROR)
    run.event(None, "Exiting because a job execution failed.", logging.ERROR)
    run.event("ERROR", "MissingOutputException: x", logging.ERROR)
    run.screen.close()
    assert run.lines() == [
        *("warning: [2Jrounded (fit a)", "failed: fit a", "MissingOutputException: x"),
        "2 of 3 jobs done in 0:00.",
    ]


def test_nothing_to_be_done_and_what_is_no_run():
    run = Run()
    run.event(None, "Nothing to be done (all requested files are present and up to date).")
    run.screen.close()
    assert [line[:18] for line in run.lines()] == ["Nothing to be done"]


@pytest.mark.parametrize("asked", [{}, *({name: True} for name in OUTPUT)])
def test_what_the_user_asks_for_is_left_as_it_is(asked):
    logger = logging.getLogger("snakemake.logging")
    before, other = logger.handlers, logging.StreamHandler(io.StringIO())
    logger.handlers = [logging.StreamHandler(sys.stderr), other]
    try:
        install(SimpleNamespace(**{**OUTPUT, **asked}))
        assert [type(each) for each in logger.handlers] == [
            *([logging.StreamHandler] * 2 if asked else [logging.StreamHandler, Screen])
        ]
    finally:
        logger.handlers = before


def test_causes_of_a_failed_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    traceback = "Traceback (most recent call last):\n  x\nTypeError: y"
    logs = {
        "a.log": "warning: x\nerror: a.csv: bad\n",
        "b.log": "error: a.csv: bad\nerror: b.csv: worse\n",
        "c.log": "error: of a job that did not fail\n",
        "d.log": f"n = 100\n{traceback}\n",
        "e.log": "n = 100\n",
        "again.log": "used 1.00 s of CPU and 90 MB\n",
    }
    for name, text in logs.items():
        (tmp_path / name).write_text(text)
    said = "".join(
        f"Error in rule x:\n    log: {names} (check log file(s) for error details)\n"
        for names in ("a.log", "a.log", "b.log, missing.log", "d.log", "e.log", "again.log")
    )
    log = tmp_path / "run.log"
    log.write_text(said + "    log: c.log\n")
    silent = "the job ended without a message: it was stopped, or ran out of memory or time"
    assert failures([log]) == [
        *("a.log, and 1 more:", "error: a.csv: bad", "b.log:", "error: b.csv: worse"),
        *("missing.log, and 1 more:", silent, "d.log:", traceback),
    ]
    log.write_text(said + "Terminating processes on user request, this might take some time.\n")
    assert failures([log])[:4] == failures([log])[:-1]
    assert failures([log])[-1].startswith("stopped: ")
