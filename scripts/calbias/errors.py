"""The one exception for a user's mistake: a single line that names the place and the remedy.

Names, cells, server phrases and other exceptions come from outside. ``printable`` makes any text
safe to print, and ``reading`` makes any exception of another library a line on a file.
"""

import contextlib
import difflib
import importlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_MOST_NAMES = 40
_LONGEST, _LONGEST_WORD = 2000, 300


def printable(text: object) -> str:
    r"""Return a text on one line, without control characters, and cut where it is long.

    >>> printable("a\x1b[2J\nb\u202e")
    'a\\x1b[2J\\nb\\u202e'
    """
    line = "".join(map(_shown, str(text)))
    line = re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda word: f"{word[0][:_LONGEST_WORD]}…", line)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 500]} … {line[-480:]}"


def _shown(letter: str) -> str:
    if letter.isprintable():
        return letter
    is_space = letter == "\xa0"
    return " " if is_space else letter.encode("unicode_escape").decode("ascii")


class InputError(ValueError):
    """A file, table, option or config value that the user has to change.

    The message is one line: file, row or key, what is wrong, remedy. Command
    lines print it after ``error:`` and exit with status 2, without a traceback.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(message))


class Question(InputError):
    """A file that means several things: a line for each, with the options that choose it.

    The message has these lines after the first.
    """

    def __init__(self, message: object, lines: Iterable[str]) -> None:
        super().__init__(message)
        self.lines = tuple(map(printable, lines))

    def __str__(self) -> str:
        return "\n  ".join((super().__str__(), *self.lines))


@contextlib.contextmanager
def reading(path: object, kind: str, remedy: str) -> Iterator[None]:
    """Make whatever another library raises in the block an InputError: no readable ``kind``."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if "out of memory" in str(error):
            raise MemoryError(f"{path}: out of memory") from error
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].removesuffix(".")
        reason = f"{reason[:_LONGEST_WORD]}…" if len(reason) > _LONGEST_WORD else reason
        raise InputError(f"{path}: no readable {kind}: {reason}; {remedy}") from error


def looked_up(kind: str, name: str, existing: Mapping[str, T]) -> T:
    """Return ``existing[name]``; InputError with the nearest name for an unknown ``kind``."""
    if name not in existing:
        raise InputError(f"unknown {kind} {name!r}. {did_you_mean(name, sorted(existing))}")
    return existing[name]


def validate_defines(
    path: Path | str, defined: Collection[str], names: Iterable[str], form: str
) -> None:
    """Raise InputError unless a user's file defines one of ``names``; ``form`` shows how."""
    if not any(name in defined for name in names):
        raise InputError(f"{path}: define {form} in it")


def of_extra(purpose: str, module: str) -> Any:
    """Return a module of a package that an extra installs; InputError, with the remedy, without.

    The same for one that does not load, such as a build for another NumPy.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == package:
            raise InputError(f"{purpose} needs {package}: pip install {package}") from None
        reason: Exception = error
    except (ImportError, AttributeError, SystemError) as error:
        reason = error
    words = " ".join(str(reason).split())
    raise InputError(
        f"{purpose} needs {package}, which does not load here ({words:.120}): pip install "
        f"--upgrade {package} numpy"
    ) from None


def did_you_mean(name: object, existing: Collection[str]) -> str:
    """Return the end of a message on an unknown name: the nearest known one, else all of them."""
    nearest = difflib.get_close_matches(str(name), list(existing), n=1)
    more = ", …" if len(existing) > _MOST_NAMES else "."
    names = ", ".join(list(existing)[:_MOST_NAMES])
    return f"Did you mean {nearest[0]}?" if nearest else f"Known: {names}{more}"
