"""An estimator's file checked in a process of its own: it may leave, hang, crash or print."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from calbias.errors import InputError, printable
from calbias.estimation.checking import failures, notes
from calbias.io.python_files import SCRIPTS

LIMIT = 120.0
"""Seconds that all checks of a file may take."""
_MOST_PRINTED, _ENDING = 100_000, 5.0  # bytes; seconds
_SUBREAPER, _ROUNDS = 36, 20  # PR_SET_CHILD_SUBREAPER; generations of processes
_LEFT = "it leaves a thread or a process running: end it before the estimate returns"


def failures_apart(
    path: Path, seconds: float, limit: float = LIMIT, note: Callable[[str], object] | None = None
) -> list[str]:
    """Return a line for each check that a file fails, also where it ends or stops the process.

    ``note`` hears what the author of a file that passes should know.
    """
    if not (limit > 0 and seconds > 0):
        raise InputError(f"--limit {limit:g} and --seconds {seconds:g}: give times above 0")
    adopted = _adopting()
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
                is_left = _ended(process, adopted)
            fault = fault or (_LEFT if is_left else "")
        answered = json.loads(answer.read_text("utf-8")) if answer.exists() else {}
        lines: list[str] = answered.get("failures", [])
        if note:
            for text in answered.get("notes", []):
                note(text)
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
            return _LEFT
        doing = Path(f"{answer}.doing")
        where = f" ({doing.read_text('utf-8')})" if doing.exists() else ""
        return f"the checks did not end within {limit:g} s{where}: does a loop never end?"
    if answer.exists():
        return ""
    status = process.returncode
    how = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
    return f"it ended Python ({how}) before the checks were done: return the estimate instead"


def _adopting() -> set[int]:
    """Let processes whose parent ends become children of this one, on Linux; return its children.

    So a process that leaves its group is found too.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    return _children()


def _children() -> set[int]:
    """Return the ids of this process's children, none where the system does not list them."""
    lists = Path("/proc/self/task").glob("*/children")
    with contextlib.suppress(OSError):
        return {int(word) for each in lists for word in each.read_text().split()}
    return set()


def _ended(process: subprocess.Popen, before: set[int]) -> bool:
    """End the process and all that it started; return whether something outlived it."""
    is_alone = process.poll() is not None
    # looked at before any is killed: a killed one looks like one that ended by itself
    left = {child for child in _children() - before if not _has_ended(child)}
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(_ROUNDS):
        children = _children() - before
        left |= {child for child in children if not _has_ended(child)}
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)
        if not children:
            break
    return is_alone and bool(left)


def _has_ended(child: int) -> bool:
    """Return whether a child has ended and waits to be collected."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def _check() -> None:
    """Write the lines of the failed checks of argv's file as JSON."""
    path, seconds, answer = sys.argv[1:]
    warnings.simplefilter("ignore")
    try:
        doing = Path(f"{answer}.doing")
        lines = failures(Path(path), float(seconds), lambda text: doing.write_text(text, "utf-8"))
        more = [] if lines else notes(Path(path))
    except InputError as error:
        lines, more = [printable(error)], []
    temporary = Path(f"{answer}.new")
    temporary.write_text(json.dumps({"failures": lines, "notes": more}), encoding="utf-8")
    temporary.replace(answer)


if __name__ == "__main__":
    _check()
