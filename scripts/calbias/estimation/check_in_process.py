"""An estimator's file checked in a process of its own: it may leave, hang, crash or print."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from calbias.errors import InputError, printable
from calbias.estimation.checking import failures
from calbias.io.python_files import SCRIPTS

LIMIT = 120.0
"""Seconds that all checks of a file may take."""
_MOST_PRINTED, _ENDING = 100_000, 5.0  # bytes; seconds


def failures_apart(path: Path, seconds: float, limit: float = LIMIT) -> list[str]:
    """Return a line for each check that a file fails, also where it ends or stops the process."""
    with tempfile.TemporaryDirectory() as folder:
        answer, printed = Path(folder, "answer"), Path(folder, "printed")
        python_path = os.pathsep.join(filter(None, [str(SCRIPTS), os.environ.get("PYTHONPATH")]))
        with open(printed, "wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(path), repr(seconds), str(answer)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": python_path},
                start_new_session=True,
            )
            try:
                fault = _waited(process, answer, printed, limit)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        lines: list[str] = json.loads(answer.read_text("utf-8")) if answer.exists() else []
        if text := printed.read_bytes()[:80].decode("utf-8", "replace").strip():
            lines.append(f"{path}: it prints {text!r}: return the estimate, and print nothing")
        return [*lines, f"{path}: {fault}"] if fault else lines


def _waited(process: subprocess.Popen, answer: Path, printed: Path, limit: float) -> str:
    """Return what is wrong with how the process ended, or nothing."""
    start = time.monotonic()
    ending = start + limit
    while process.poll() is None and time.monotonic() < ending:
        if printed.stat().st_size > _MOST_PRINTED:
            return "it prints without end"
        if answer.exists():
            ending = min(ending, answer.stat().st_mtime - time.time() + time.monotonic() + _ENDING)
        time.sleep(0.02)
    if process.poll() is None:
        if answer.exists():
            return "it leaves a thread or a process running: end it before the estimate returns"
        return f"the checks did not end within {limit:g} s: does a loop never end?"
    if answer.exists():
        return ""
    status = process.returncode
    how = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
    return f"it ended Python ({how}) before the checks were done: return the estimate instead"


def _check() -> None:
    """Write the lines of the failed checks of argv's file as JSON."""
    path, seconds, answer = sys.argv[1:]
    warnings.simplefilter("ignore")
    try:
        lines = failures(Path(path), float(seconds))
    except InputError as error:
        lines = [printable(error)]
    temporary = Path(f"{answer}.new")
    temporary.write_text(json.dumps(lines), encoding="utf-8")
    temporary.replace(answer)


if __name__ == "__main__":
    _check()
