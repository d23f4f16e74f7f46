"""What a run shows: the jobs that run now, how many are done, about how long the others take.

On a terminal the display stays in place. Elsewhere a line is printed for every twentieth of the
jobs. Snakemake's own lines are in the file that its last line names.
"""

import logging
import math
import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from snakemake.logging import logger

from pipeline.failures import STOPPED
from pipeline.progress import Job, Work

_HIDDEN_LINES = (  # beginnings of lines that are not an event
    *("RuleException:\nCalledProcessError", "WorkflowError:\nAt least one job"),
    *("Building DAG", "Using shell", "Conda environments: ignored", "Group jobs: inactive"),
    *("Select jobs", "Removing output", "Exiting because", "Downloading resources", "Adding "),
)
_ASKED = ("dryrun", "verbose", "printshellcmds", "debug_dag", "show_failed_logs", "quiet")
_STEPS = 20  # lines of a run without a terminal
_LOG_AFTER = 3.0  # seconds after which a job shows the last line of its log


def install(settings: Any) -> None:
    """Let a Screen replace Snakemake's lines, unless the user asks for more or for fewer of them.

    ``settings`` are Snakemake's output settings, as its logger plug-ins get them. Where such a
    plug-in writes to the screen nothing is changed.
    """
    if any(getattr(settings, name) for name in _ASKED):
        return
    for handler in logger.handlers[:]:
        stream = getattr(handler, "stream", None)
        if stream in (sys.stdout, sys.stderr) and stream is not None:
            logger.removeHandler(handler)
            logger.addHandler(Screen(stream))


class Screen(logging.Handler):
    """Show Snakemake's events on ``stream``: in place on a terminal, else a few lines."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._lock = self.lock or threading.RLock()
        self._stream, self._clock = stream, clock
        self._terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._work, self._since = Work(), clock()
        self._shown = self._step = 0  # lines that stand on the terminal; twentieths printed
        self._warned: set[str] = set()
        self._stopped = False
        self._ended = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        """Take one of Snakemake's events, or a line."""
        try:
            self._draw(self._lines(record))
        except Exception:  # as every handler of logging does
            self.handleError(record)

    def close(self) -> None:
        """Remove the display: the run has ended, or was stopped."""
        with self._lock:
            self._end([])
        super().close()

    def _lines(self, record: logging.LogRecord) -> list[str]:
        """Return what is printed to stay, after the event is counted."""
        event, now = str(getattr(record, "event", None) or ""), self._clock()
        fields = record.__dict__
        match event:
            case "run_info":
                self._start(fields["stats"], now)
            case "job_info":
                job = Job(fields["rule_name"], _name(fields), [*fields["log"]], now)
                self._work.running[fields["jobid"]] = job
            case "job_finished":
                finished = self._work.finish(fields["job_id"], now)
                return self._warnings(finished) if finished else []
            case "group_info":
                self._work.queued = True
            case "job_error":
                failed = self._work.running.pop(fields["jobid"], None)
                if self._stopped:  # by the user, and no failure
                    return []
                return [f"failed: {failed.name if failed else fields['rule_name']}"]
            case "group_error":
                return [f"failed: group {fields['groupid']}", *fields["aux_logs"]]
        text = record.getMessage() if event in ("", "error") and record.msg else ""
        self._stopped |= text.startswith(STOPPED)
        return [] if text.startswith(_HIDDEN_LINES) else text.splitlines()

    def _start(self, stats: Mapping[str, int], now: float) -> None:
        """Begin to show the jobs that are counted by their rules."""
        counts = Counter({rule: number for rule, number in stats.items() if rule != "total"})
        self._work, self._since = Work(total=counts.total(), left=counts), now
        if self._terminal:
            threading.Thread(target=self._tick, daemon=True).start()

    def _warnings(self, job: Job) -> list[str]:
        """Return the warnings in a finished job's logs that no other job's had."""
        lines = [line for path in job.logs for line in _text(path).splitlines()]
        warnings = dict.fromkeys(line for line in lines if line.startswith("warning: "))
        new = [line for line in warnings if line not in self._warned]
        self._warned |= {*new}
        return [f"{line} ({job.name})" for line in new]

    def _tick(self) -> None:
        """Draw twice a second until the run ends."""
        while not self._ended.wait(0.5):
            with self._lock:
                if not self._ended.is_set():
                    self._draw([])

    def _draw(self, lines: Iterable[str]) -> None:
        """Print lines that stay, and below them the display, or a line now and then."""
        work, now = self._work, self._clock()
        if work.total and work.done >= work.total:
            self._end(lines)
        elif self._terminal and work.total:
            size = shutil.get_terminal_size()
            block = [self._progress(now), *self._jobs(now, max(size.lines - 3, 1))]
            self._write(lines, [line[: size.columns - 1] for line in block])
        else:
            step = _STEPS * work.done // max(work.total, 1)
            self._write([*lines, *([self._progress(now)] if step > self._step else [])], [])
            self._step = step

    def _end(self, lines: Iterable[str]) -> None:
        """Remove the display; say what is done, once."""
        work = self._work
        first = work.total and not self._ended.is_set()
        spent = _clock(self._clock() - self._since)
        closing = [f"{work.done} of {work.total} jobs done in {spent}."] if first else []
        self._ended.set()
        self._write([*lines, *closing], [])

    def _write(self, lines: Iterable[str], block: list[str]) -> None:
        """Replace the display by lines that stay and a new display."""
        away = f"\x1b[{self._shown}F\x1b[J" if self._shown else ""
        shown = ("".join(filter(str.isprintable, line)) for line in (*lines, *block))
        text = away + "".join(f"{line}\n" for line in shown)
        if text:
            self._stream.write(text)
            self._stream.flush()
        self._shown = len(block)

    def _progress(self, now: float) -> str:
        """Return the line on all jobs."""
        work, elapsed = self._work, now - self._since
        left = work.seconds_left(elapsed, now)
        words = "" if math.isnan(left) else f", about {_about(left)} to go"
        filled = 20 * work.done // max(work.total, 1)
        bar = f"[{'#' * filled:20}] " if self._terminal else ""
        return f"{bar}{work.done} of {work.total} jobs, {_clock(elapsed)}{words}"

    def _jobs(self, now: float, limit: int) -> list[str]:
        """Return a line for each job that runs, the last line of its log where it takes long."""
        jobs = [*self._work.running.values()]
        lines = []
        for job in jobs[:limit]:
            seconds = now - job.started
            text = "".join(map(_text, job.logs)) if seconds > _LOG_AFTER else ""
            last = (text.splitlines() or [""])[-1]
            lines.append(f"  {_clock(seconds)} {job.name}  {last}".rstrip())
        return lines + ([f"  and {len(jobs) - limit} more"] if len(jobs) > limit else [])


def _name(fields: Mapping[str, Any]) -> str:
    """Return rule and wildcards of a job."""
    return " ".join([fields["rule_name"], *map(str, fields["wildcards"].values())])


def _clock(seconds: float) -> str:
    """Return minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _about(seconds: float) -> str:
    """Return minutes, or tens of seconds of less than two minutes."""
    return f"{seconds / 60:.0f} min" if seconds >= 115 else f"{10 * math.ceil(seconds / 10)} s"


def _text(path: str) -> str:
    """Return a log's text; empty where there is none yet."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
