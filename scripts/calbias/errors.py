"""The one exception for a user's mistake: a single line that names the place and the remedy."""

import difflib
import importlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_MOST_NAMES = 40


class InputError(ValueError):
    """A file, table, option or config value that the user has to change.

    The message is one line: file, row or key, what is wrong, remedy. Command
    lines print it after ``error:`` and exit with status 2, without a traceback.
    """


def looked_up(kind: str, name: str, known: Mapping[str, T]) -> T:
    """Return ``known[name]``; InputError with the nearest name where there is no such ``kind``."""
    if name not in known:
        raise InputError(f"unknown {kind} {name!r}. {did_you_mean(name, sorted(known))}")
    return known[name]


def validate_defines(
    path: Path | str, defined: Collection[str], names: Iterable[str], form: str
) -> None:
    """Raise InputError unless a user's file defines one of ``names``; ``form`` shows how."""
    if not any(name in defined for name in names):
        raise InputError(f"{path}: define {form} in it")


def of_extra(purpose: str, module: str) -> Any:
    """Return a module of a package that an extra installs; InputError, with the remedy, without."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise InputError(f"{purpose} needs {package}: pip install {package}") from None


def did_you_mean(name: object, known: Collection[str]) -> str:
    """Return the end of a message on an unknown name: the nearest known one, else all of them."""
    nearest = difflib.get_close_matches(str(name), list(known), n=1)
    more = ", …" if len(known) > _MOST_NAMES else "."
    names = ", ".join(list(known)[:_MOST_NAMES])
    return f"Did you mean {nearest[0]}?" if nearest else f"Known: {names}{more}"
