"""What a failed run shows last: the causes, each below the log of the job that it stopped."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

_LOGS = re.compile(r"^ *log: (.*) \(check log file\(s\) for error details\)$", re.MULTILINE)
_ENDED = re.compile(
    r"^used [\d.]+ s of CPU and \d+ MB$", re.MULTILINE
)  # pipeline.step_command.USED
_TRACEBACK = "Traceback (most recent call last)"
STOPPED = "Terminating processes on user request"  # Snakemake's words after Ctrl-C
_CONTINUE = "stopped: the same command runs the jobs that are left"
_SILENT = "the job ended without a message: it was stopped, or ran out of memory or time"


def show_failures(snakemake_logs: Iterable[Path]) -> None:
    """Print the causes of a failed run on standard error."""
    print("", *failures(snakemake_logs), sep="\n", file=sys.stderr)


def failures(snakemake_logs: Iterable[Path]) -> list[str]:
    """Return the lines on the jobs that these logs of Snakemake say have failed.

    A cause of several jobs is shown once. A job that succeeded when it was tried again has none.
    """
    text = _text(snakemake_logs)
    paths = [path for names in _LOGS.findall(text) for path in names.split(", ")]
    logs = defaultdict(list)
    for path in dict.fromkeys(paths):
        for cause in _causes(path, stopped=STOPPED in text):
            logs[cause].append(path)
    lines = []
    for cause, failed in logs.items():
        others = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        lines += [f"{failed[0]}{others}:", cause]
    return [*lines, _CONTINUE] if STOPPED in text else lines


def _causes(path: str, *, stopped: bool) -> list[str]:
    """Return why the job with this log failed: its errors, else its traceback.

    Of a run that the user ``stopped``, the errors alone.
    """
    text = _text([Path(path)] if Path(path).is_file() else [])
    if _ENDED.search(text):
        return []
    errors = [line for line in text.splitlines() if line.startswith("error: ")]
    _, marker, traceback = text.rpartition(_TRACEBACK)
    if errors or stopped:
        return errors
    return [f"{marker}{traceback}".rstrip() if marker else _SILENT]


def _text(paths: Iterable[Path]) -> str:
    return "\n".join(
        path.read_text(encoding="utf-8", errors="replace") for path in map(Path, paths)
    )
