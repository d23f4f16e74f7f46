"""Read dicts, lists, numbers and texts of a pickle; what else it holds is left out, and not run.

Every class and function that the pickle names is replaced by ``_Nothing``, which takes whatever it
is given and does nothing: no code of the file's choice runs, and a table of pandas in it is not
read. ``pickles.scan`` bounds the memory before.
"""

import pickle
from pathlib import Path
from typing import Any

from calbias.errors import InputError
from calbias.io.files import validate_file_exists, validate_no_placeholder
from pipeline.pickles import scan

_MORE = """
    EMPTY_DICT DICT SETITEM SETITEMS FLOAT BINFLOAT LONG4 STRING EMPTY_SET ADDITEMS FROZENSET
    NEWOBJ NEWOBJ_EX POP POP_MARK DUP
"""
_MOST_INSTRUCTIONS = 1_000_000


class _Nothing:
    """Stands for any class, function and object that is no plain value."""

    def __new__(cls, *_: Any, **__: Any) -> "_Nothing":
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def _ignore(self, *_: Any) -> "_Nothing":
        return self

    __call__ = __setstate__ = __setitem__ = append = extend = add = update = _ignore


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _Nothing


def read_plain_pickle(path: Path) -> Any:
    """Return the plain values of a pickle; InputError if it is damaged."""
    validate_file_exists(path)
    validate_no_placeholder(path)
    try:
        scan(path, _MORE, _MOST_INSTRUCTIONS)
        with open(path, "rb") as file:
            return _Unpickler(file, encoding="latin1").load()
    except OSError:
        raise
    except Exception as error:  # an unpickler can raise nearly anything on damaged bytes
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{path}: no readable pickle of plain values: {reason}; delete it and download it again"
        ) from None
