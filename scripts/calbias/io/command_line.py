"""What every command line in ``scripts/`` shares: one-line errors and files moved into place."""

import contextlib
import errno
import fcntl
import functools
import os
import sys
import warnings
from pathlib import Path

from calbias.errors import InputError

# What is wrong with the machine, not with the program: full, over quota, read-only, not allowed.
MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}
JOBS = Path(".snakemake/jobs")  # locked, shared, by every command that runs in this folder


def command(main):
    """Decorate a ``main(argv=None)``: what goes wrong for the user becomes one line on stderr.

    The status is 2 for a mistake in the input, 1 where the machine lacks memory, room or access.
    """

    @functools.wraps(main)
    def wrapper(argv=None):
        warnings.showwarning = _one_line_warning
        try:
            with _counted_among_the_jobs():
                main(argv)
        except InputError as error:
            _stop(error, status=2)
        except MemoryError as error:
            _stop(f"{str(error) or 'out of memory'}: run fewer jobs at once, or give this one more")
        except OSError as error:
            if error.errno not in MACHINE:
                raise
            place = f"{error.filename}: " if error.filename else ""
            _stop(f"{place}{os.strerror(error.errno)}: make room or give access, then run again")

    return wrapper


def _stop(message, status=1):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(status)


@contextlib.contextmanager
def _counted_among_the_jobs():
    """Share the lock by which a new run knows that jobs of a killed one are still at work."""
    with contextlib.ExitStack() as stack:
        if JOBS.parent.is_dir():
            with contextlib.suppress(OSError):
                fcntl.flock(stack.enter_context(open(JOBS, "a")), fcntl.LOCK_SH)
        yield


def _one_line_warning(message, category, filename, lineno, file=None, line=None):
    print(f"warning: {message}", file=file or sys.stderr)


def named_paths(assignments, option):
    """Return {name: path} of the texts ``NAME=PATH`` that an option was given."""
    for text in assignments:
        name, _, path = text.partition("=")
        if not (name and path):
            raise InputError(f"{option} {text}: write it as NAME=PATH")
    return dict(text.partition("=")[::2] for text in assignments)


@contextlib.contextmanager
def written_whole(path):
    """Yield a temporary path beside ``path``; move it into place only if the block succeeds.

    A killed job leaves either the old file or the new one, never half of one.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(
        f".{os.getpid()}-{path.name}"
    )  # keeps the suffix: writers look at it
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
