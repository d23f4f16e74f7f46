"""Read the numeric NumPy arrays of a pickle without the unpickler.

Arrays come as Python 2 and 3, protocols 0 to 5, NumPy 1 and 2 write them. A name is compared with
the handful that rebuild an array, and any other is refused by that name. Arrays are made last,
each from a stretch of the file as long as its shape says, so that a file of n bytes costs at most
about 5n of memory (an ImageNet file of 200 MB: 0.4 GB).
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from calbias.errors import InputError
from calbias.logits.pickle_machine import Damaged, Machine, Refused, text

_NUMERIC = re.compile(r"[<>=|]?(b1|[iu][1248]|f[248]|\?)")


class _Latin1(NamedTuple):
    """Bytes that Python 3 wrote as text, for protocols that had no bytes."""

    text: str


class _Dtype:
    def __init__(self, code, *_):
        self.code = text(code)
        if not _NUMERIC.fullmatch(self.code):
            raise Refused(f"an array of type {self.code!r}")

    def set_state(self, state):
        _version, order, *rest = state
        if any(part is not None for part in rest[:3]):
            raise Refused("a structured array")
        order = text(order)
        if order not in ("<", ">", "=", "|"):
            raise Damaged(f"byte order {order!r}")
        self.code = order + self.code.lstrip("<>=|")


class _Array:
    """What the pickle says of an array; ``make`` builds it."""

    def __init__(self, *_):
        self.state = None

    def set_state(self, state):
        *_version, shape, dtype, fortran, data = state
        self.state = shape, dtype, "F" if fortran else "C", data

    def make(self):
        if self.state is None:
            raise Damaged("an array without contents")
        shape, dtype, order, data = self.state
        if not isinstance(dtype, _Dtype) or isinstance(data, list):
            raise Refused("an array of objects")
        dtype = np.dtype(dtype.code)
        if isinstance(data, _Latin1):
            data = data.text.encode("latin-1")
        if len(shape) > 2 or not all(isinstance(n, int) and n >= 0 for n in shape):
            raise Damaged(f"an array of shape {shape}")
        if math.prod(shape) * dtype.itemsize != len(data):
            raise Damaged(f"an array of shape {shape} in {len(data)} bytes")
        # A copy: aligned, in the machine's byte order, and independent of the file's bytes.
        array = np.frombuffer(data, dtype).reshape(shape, order=order)
        return array.astype(dtype.newbyteorder("="), order="C")


def _from_buffer(data, dtype, shape, order):
    if order not in ("C", "F"):
        raise Damaged(f"an array in order {order!r}")
    array = _Array()
    array.set_state((shape, dtype, order == "F", data))
    return array


def _encode(text, encoding):
    if encoding != "latin1" or not isinstance(text, str):
        raise Damaged(f"bytes in encoding {encoding!r}")
    return _Latin1(text)


_NAMES = {"numpy ndarray": None, "numpy dtype": _Dtype, "_codecs encode": _encode}
for _core in ("numpy.core", "numpy._core"):
    _NAMES[f"{_core}.multiarray _reconstruct"] = _Array
    _NAMES[f"{_core}.numeric _frombuffer"] = _from_buffer


def read_pickle(path):
    """Return the two pairs (logits, labels) of a pickle, the validation fold first.

    The four are NumPy arrays of one or two dimensions, in their stored type and native byte order.
    Raises InputError when the pickle asks for anything but numeric arrays (naming what), is
    damaged or cut short, or holds something else than two pairs of arrays.
    """
    machine = Machine(Path(path).read_bytes(), _NAMES)
    try:
        found = machine.run()
        return _two_pairs(found)
    except Refused as refusal:
        raise InputError(
            f"{path}: the pickle asks for {refusal}; only numeric NumPy arrays are read from a "
            "pickle: save the logits as NPZ"
        ) from None
    except (Damaged, ValueError, TypeError, LookupError) as damage:
        raise InputError(
            f"{path}: no readable pickle of arrays, byte {machine.at}: {_reason(damage)}; "
            "download it again, or save your own outputs as NPZ"
        ) from None


def _two_pairs(found):
    pairs = found if isinstance(found, list | tuple) else ()
    if len(pairs) == 2 and all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        arrays = [part for pair in pairs for part in pair]
        if all(isinstance(part, _Array) for part in arrays):
            made = [array.make() for array in arrays]
            return (made[0], made[1]), (made[2], made[3])
    raise Damaged("expected ((validation_logits, labels), (test_logits, labels))")


def _reason(error):
    """Return an exception as one line; a bare key or index says nothing without its kind."""
    kind = type(error).__name__
    text = str(error).splitlines()[0] if str(error) else ""
    return text if isinstance(error, Damaged) else f"{kind} {text}".strip()
