"""What every command line shares: an error is one line, streams take every character."""

import atexit
import contextlib
import functools
import gc
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO

from calbias.errors import InputError, printable

TRACEBACK = "CALBIAS_TRACEBACK"
"""The environment variable with which an unforeseen error shows its traceback too."""
atexit.register(gc.freeze)  # so that the last collection is not of all that was imported: 0.1 s


def command(main: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``main(argv=None)``: what goes wrong becomes one line on stderr.

    The status is 2 for a mistake in the input, and 1 for any other failure.
    """

    @functools.wraps(main)
    def wrapper(argv: Sequence[str] | None = None) -> Any:
        warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}", sys.stderr)
        _open_streams()
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        try:
            try:
                main(argv)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:  # who reads, such as head, has enough
            _leave()
        except InputError as error:
            _leave(str(error), 2)
        except KeyboardInterrupt:
            _leave("stopped by the keyboard; files are complete or were not written")
        except MemoryError as error:
            _leave(
                f"{str(error) or 'out of memory'}: run fewer jobs at once, or give this one more"
            )
        except OSError as error:
            location = f"{error.filename}: " if error.filename else ""
            reason = error.strerror or " ".join(map(str, error.args))
            _leave(f"{location}{reason}: check the path, the room and the access, then run again")
        except Exception as error:
            if os.environ.get(TRACEBACK):
                traceback.print_exc()
            words = sys.argv[1:] if argv is None else argv
            location = next((f"{word}: " for word in words if os.path.exists(word)), "")
            _leave(
                f"{location}{type(error).__name__}: {error}; calbias did not foresee this: please "
                f"report it with what {TRACEBACK}=1 shows"
            )

    return wrapper


def say(text: object, stream: TextIO | None = None) -> None:
    """Print a line of a text that may hold something from outside; on stdout by default."""
    print(printable(text), file=stream or sys.stdout, flush=True)


def _open_streams() -> None:
    """Let every stream take every character, and be there."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _leave(message: str = "", status: int = 1) -> NoReturn:
    """Exit with a line; what stdout could not take is dropped, so that it fails no second time."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        if message:  # in one piece: jobs that run side by side share it
            lines = "\n".join(map(printable, message.split("\n") if status == 2 else [message]))
            sys.stderr.write(f"error: {lines}\n")
            sys.stderr.flush()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status)
