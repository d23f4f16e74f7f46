"""Read the numeric NumPy arrays of a pickle without running any code in it.

The published files are pickles. Two steps make one safe to read:

1. ``pickletools.genops`` lists the instructions without executing them. Only those that lists,
   tuples, numbers, strings and arrays are written with are accepted, at most ``MAX_INSTRUCTIONS``
   of them, each with a length that the file really has. Memory is then bounded by the file's size.
2. ``pickle.Unpickler`` builds the arrays. Its ``find_class`` knows the handful of names that
   rebuild an array, each replaced by a class of this module, and refuses any other by its name.

Arrays are read as Python 3 (protocols 0 to 5), Python 2 (binary protocols), NumPy 1 and 2 write
them.
"""

import math
import mmap
import pickle
import pickletools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from calbias.errors import InputError
from calbias.io.files import validate_file_exists, validate_no_placeholder
from calbias.reading.output_file import FOLDS, Fold, OutputFile, Place
from calbias.reading.read_logits import read_raw

SUFFIXES = (".p", ".pkl", ".pickle")

MAX_INSTRUCTIONS = 10_000
_INSTRUCTIONS = """
    PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 BINSTRING
    SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 UNICODE BINUNICODE SHORT_BINUNICODE
    BINUNICODE8 EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 PUT BINPUT
    LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET GLOBAL STACK_GLOBAL REDUCE BUILD
"""
_NUMERIC = re.compile(r"[<>=|]?(b1|[iu][1248]|f[248]|\?)")


class _Damaged(Exception):
    """The bytes are no pickle of arrays."""


class _Refused(Exception):
    """The pickle asks for something that is not a numeric array; the message names it."""


def read_file(path: Path) -> OutputFile:
    """Return the ``OutputFile`` of a model's file: a pickle of published form, or a user's file."""
    if path.suffix.lower() not in SUFFIXES:
        return read_raw(path)
    validate_file_exists(path)
    validate_no_placeholder(path)
    return OutputFile({
        fold: Fold(values, labels, Place(path, f"fold {fold}"))
        for fold, (values, labels) in zip(FOLDS, read_pickle(path), strict=True)
    })  # fmt: skip


def read_pickle(path: Path | str) -> Any:
    """Return the two pairs (logits, labels) of a pickle, the validation fold first.

    InputError when it asks for anything but numeric arrays (naming it), is damaged, or holds
    something else than two pairs of arrays.
    """
    try:
        _scan(path)
        with open(path, "rb") as file:
            return _two_pairs(_Unpickler(file, Path(path).stat().st_size).load())
    except _Refused as refusal:
        raise InputError(
            f"{path}: the pickle asks for {refusal}; only numeric NumPy arrays are read from a "
            "pickle: save the logits as NPZ"
        ) from None
    except OSError:
        raise
    except Exception as error:  # an unpickler can raise nearly anything on damaged bytes
        reason = str(error).partition("\n")[0]
        kind = "" if isinstance(error, _Damaged) else f"{type(error).__name__} "
        raise InputError(
            f"{path}: no readable pickle of arrays: {kind}{reason}; download it again, or save "
            "your own outputs as NPZ"
        ) from None


def _scan(path: Path | str) -> None:
    """Raise _Damaged or ValueError unless every instruction is one that arrays need."""
    if not Path(path).stat().st_size:
        raise _Damaged("the file is empty")
    allowed = {*_INSTRUCTIONS.split()}
    with (
        open(path, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,  # reads stop at its end
    ):
        operations: Iterable[tuple[Any, Any, Any]] = pickletools.genops(data)  # type: ignore[arg-type]
        for count, (code, argument, position) in enumerate(operations):
            if code.name not in allowed:
                raise _Damaged(f"instruction {code.name} has no place in a pickle of arrays")
            if count == MAX_INSTRUCTIONS:
                raise _Damaged(f"more than {MAX_INSTRUCTIONS} instructions")
            if code.name in ("PUT", "LONG_BINPUT") and not 0 <= argument < MAX_INSTRUCTIONS:
                raise _Damaged(f"memo number {argument}")
            if code.name == "FRAME" and argument > len(data) - position:
                raise _Damaged(f"a frame of {argument} bytes")


class _Unpickler(pickle.Unpickler):
    """Makes at most ``n_bytes`` of bytes from texts: a text in the memo can be used again."""

    def __init__(self, file: Any, n_bytes: int) -> None:
        super().__init__(file, encoding="latin1")
        self._left = n_bytes

    def find_class(self, module: str, name: str) -> Any:
        try:
            if (module, name) == ("_codecs", "encode"):
                return self._encoded
            return _NAMES[f"{module}.{name}"]
        except KeyError:
            raise _Refused(ascii(f"{module}.{name}")[1:-1][:100]) from None

    def _encoded(self, text: str, encoding: str) -> bytes:
        """Return the bytes that Python 3 wrote as text, for protocols that had no bytes."""
        if encoding != "latin1" or not isinstance(text, str):
            raise _Damaged("bytes in another encoding than latin1")
        self._left -= len(text)
        if self._left < 0:
            raise _Damaged("more bytes than the file has")
        return text.encode("latin1")


class _Dtype:
    """What the pickle says of a dtype; ``code`` is one that NumPy knows as numeric."""

    def __init__(self, code: str, *_: Any) -> None:
        if not isinstance(code, str) or not _NUMERIC.fullmatch(code):
            known = f"{code[:20]!r}" if isinstance(code, str) else type(code).__name__
            raise _Refused(f"an array of type {known}")
        self.code = code

    def __setstate__(self, state: Any) -> None:
        _version, order, *remaining = state
        if any(part is not None for part in remaining[:3]):
            raise _Refused("a structured array")
        if order not in ("<", ">", "=", "|"):
            raise _Damaged("a byte order that is none")
        self.code = order + self.code.lstrip("<>=|")


class _Array:
    """What the pickle says of an array; ``array`` builds it."""

    def __init__(self, *_: Any) -> None:
        self.state: tuple[Any, Any, Any, Any] | None = None

    def __setstate__(self, state: Any) -> None:
        *_version, shape, dtype, fortran, data = state
        self.state = shape, dtype, "F" if fortran else "C", data

    def array(self) -> np.ndarray:
        if self.state is None:
            raise _Damaged("an array without contents")
        shape, dtype, order, data = self.state
        if not isinstance(dtype, _Dtype) or isinstance(data, list):
            raise _Refused("an array of objects")
        if isinstance(data, str):  # a byte string of Python 2
            data = data.encode("latin1")
        if len(shape) > 2 or not all(isinstance(n, int) and n >= 0 for n in shape):
            raise _Damaged("an array whose shape is none of a matrix")
        dtype = np.dtype(dtype.code)
        if math.prod(shape) * dtype.itemsize != len(data):
            raise _Damaged(f"an array of shape {shape} in {len(data)} bytes")
        array = np.frombuffer(data, dtype).reshape(shape, order=order)
        return np.require(array, dtype.newbyteorder("="), ["C", "A"])


def _from_buffer(data: bytes, dtype: Any, shape: Any, order: Any) -> _Array:
    if order not in ("C", "F"):
        raise _Damaged("an array in an order that is none")
    array = _Array()
    array.__setstate__((shape, dtype, order == "F", data))
    return array


_NAMES: dict[str, Any] = {"numpy.ndarray": None, "numpy.dtype": _Dtype}
for _core in ("numpy.core", "numpy._core"):
    _NAMES[f"{_core}.multiarray._reconstruct"] = _Array
    _NAMES[f"{_core}.numeric._frombuffer"] = _from_buffer


def _two_pairs(value: Any) -> Any:
    pairs = value if isinstance(value, list | tuple) else ()
    if (
        len(pairs) == 2
        and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
        and all(isinstance(part, _Array) for pair in pairs for part in pair)
    ):
        return tuple((logits.array(), labels.array()) for logits, labels in pairs)
    raise _Damaged("expected ((validation_logits, labels), (test_logits, labels))")
