"""Whether the results can be written, and believed: permissions, a wrong clock, a failed run."""

import contextlib
import os
import stat
import time
from pathlib import Path

_LONG_AGO = time.mktime((1980, 1, 1, 0, 0, 0, 0, 0, 0))


def outdate(dag, persistence):
    """Make sure that what a failed run left undone is made by the next, whatever it is asked for.

    Snakemake records a failed job as if it had succeeded, and deletes its outputs. A later run
    that asks only for what is made from them would find those there, unchanged, and do nothing.
    Call it after a failed run, with Snakemake's DAG and its persistence.
    """
    for job in dag.needrun_jobs():
        for file in job.output:
            persistence.cleanup_metadata(file)
            if os.path.exists(file):
                os.utime(file, (_LONG_AGO, _LONG_AGO))


def date_back(folder, tolerance=120):
    """Date the files of ``folder`` that are from the future back to 1980; return how many.

    After a clock was set back, outputs look newer than any edit. Dated back they look older than
    everything, and Snakemake compares the contents of their inputs instead. Their order in time is
    kept. ``tolerance`` is in seconds: a file server's clock may be ahead of this machine's.
    """
    now = time.time()
    future = {}
    try:
        for path in Path(folder).rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # another run's temporary file
                status = path.stat()
                if stat.S_ISREG(status.st_mode) and status.st_mtime > now + tolerance:
                    future[path] = status.st_mtime
        shift = max(future.values(), default=0) - _LONG_AGO
        for path, then in future.items():
            os.utime(path, (now, then - shift))
    except OSError:
        return 0
    return len(future)


def cannot_be_written(folder):
    """Return the first of ``folder`` and the folders in it that cannot be written, or None.

    Where Snakemake may not delete an output it ends with a traceback.
    """
    for path, _, _ in os.walk(folder):
        if os.path.isdir(path) and not os.access(path, os.W_OK | os.X_OK):
            return path
    return None
