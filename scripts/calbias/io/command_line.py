"""What every command line shares: one-line errors, and files moved into place."""

import atexit
import contextlib
import errno
import functools
import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

from calbias.errors import InputError

# What is wrong with the machine, not with the program: full, over quota, read-only, not allowed.
MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO}
atexit.register(gc.freeze)  # so that the last collection is not of all that was imported: 0.1 s


def command(main: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``main(argv=None)``: what goes wrong becomes one line on stderr.

    The status is 2 for a mistake in the input, 1 where the machine lacks memory, room or access.
    """

    @functools.wraps(main)
    def wrapper(argv: Sequence[str] | None = None) -> Any:
        warnings.showwarning = _one_line_warning
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        try:
            try:
                main(argv)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:  # who reads, such as head, has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except InputError as error:
            _stop(str(error), status=2)
        except MemoryError as error:
            _stop(f"{str(error) or 'out of memory'}: run fewer jobs at once, or give this one more")
        except OSError as error:
            if error.errno not in MACHINE:
                raise
            place = f"{error.filename}: " if error.filename else ""
            _stop(f"{place}{os.strerror(error.errno)}: make room or give access, then run again")

    return wrapper


def _stop(message: str, status: int = 1) -> NoReturn:
    sys.stderr.write(f"error: {message}\n")  # in one piece: jobs that run side by side share it
    sys.exit(status)


def _one_line_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"warning: {message}", file=file or sys.stderr)


@contextlib.contextmanager
def written_whole(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; move it into place only if the block succeeds."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # keeps the suffix: writers look at it
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write a text whole, in UTF-8."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
