"""The pickle reader: every way arrays are written, every way a pickle is hostile or broken."""

import contextlib
import os
import pickle
import resource
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from checkout import GENUINE
from command import python
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from calbias.errors import InputError
from pipeline.pickles import read_pickle


def two_pairs():
    rng = np.random.default_rng(0)
    return (
        (rng.normal(size=(5, 3)).astype(np.float32), np.arange(5) % 3),
        (np.asfortranarray(rng.normal(size=(7, 3)), dtype=">f8"), np.eye(3, dtype=bool)[[0] * 7]),
    )


def written(tmp_path, content, protocol=4):
    path = tmp_path / "logits.p"
    is_bytes = isinstance(content, bytes)
    path.write_bytes(content if is_bytes else pickle.dumps(content, protocol))
    return path


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("outer", [tuple, list])
def test_arrays_come_out_as_they_went_in(tmp_path, protocol, outer):
    content = two_pairs()
    read = read_pickle(written(tmp_path, outer(outer(pair) for pair in content), protocol))
    for array, original in zip(sum(read, ()), sum(content, ()), strict=True):
        assert np.array_equal(array, original)
        assert array.dtype == original.dtype.newbyteorder("=")
        assert array.flags.aligned


def test_a_text_that_is_used_again_makes_no_more_bytes_than_the_file_has(tmp_path):
    text = b"X" + struct.pack("<I", 3000) + b"a" * 3000
    again = (
        b"c_codecs\nencode\nq\x00(" + text + b"X\x06\x00\x00\x00latin1tq\x01" + b"h\x00h\x01R" * 3
    )
    with pytest.raises(InputError, match="more bytes than the file has"):
        read_pickle(written(tmp_path, b"\x80\x02" + again + b"."))


def as_binary(data):
    return b"T" + struct.pack("<i", len(data)) + data


def python_2(data, shape, code, order):
    """An array as NumPy under Python 2 pickles it, in protocol 1."""
    dimensions = b"".join(b"I%d\n" % n for n in shape)
    return (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\nt" + as_binary(b"b") + b"tR"
        b"(I1\n(" + dimensions + b"tcnumpy\ndtype\n(" + as_binary(code) + b"I0\nI1\ntR(I3\n"
        + as_binary(order) + b"NNNI-1\nI-1\nI0\ntbI00\n" + as_binary(data) + b"tb"
    )  # fmt: skip


def test_python_2_strings(tmp_path):
    logits = np.array([[1.5, -2.5], [np.pi, 1e-30]], "<f4")
    labels = np.array([[1], [0]], "u1")
    arrays = python_2(logits.tobytes(), (2, 2), b"f4", b"<"), python_2(b"\1\0", (2, 1), b"u1", b"|")
    pair = b"(" + b"".join(arrays) + b"t"
    for read in read_pickle(written(tmp_path, b"(" + pair + pair + b"t.")):
        assert np.array_equal(read[0], logits)
        assert np.array_equal(read[1], labels)


def test_genuine_file_reads_as_the_plain_unpickler_reads_it():
    expected = pickle.loads(GENUINE.read_bytes())
    for array, original in zip(sum(read_pickle(GENUINE), ()), sum(expected, ()), strict=True):
        assert array.dtype == original.dtype
        assert np.array_equal(array, original)


class Hostile:
    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


@pytest.mark.parametrize("protocol", range(6))
def test_a_name_is_refused_by_that_name_and_not_called(tmp_path, protocol):
    canary = tmp_path / "canary"
    content = (two_pairs()[0], Hostile(os.mkdir, str(canary)))
    with pytest.raises(InputError, match=r"logits\.p: the pickle asks for posix\.mkdir; only num"):
        read_pickle(written(tmp_path, content, protocol))
    assert not canary.exists()


test_anything_but_numeric_arrays_is_refused = refuses(
    lambda content, tmp_path: read_pickle(written(tmp_path, [[content] * 2] * 2)),
    (np.array([None, 1]), "asks for an array of type 'O8'"),
    (np.array(["a"]), "asks for an array of type 'U1'"),
    (np.zeros(2, "c8"), "asks for an array of type 'c8'"),
    (np.zeros(2, "f4,f4"), "instruction EMPTY_DICT has no place"),
    (np.zeros(2, "M8[s]"), "asks for an array of type 'M8'"),
    (np.float64(1), "asks for numpy._core.multiarray.scalar"),
    (np.ma.zeros(3), "asks for numpy.ma"),
    (Hostile(eval, "1"), "asks for builtins.eval"),
    (np.zeros((2, 2, 2)), "an array whose shape is none of a matrix"),
    ([1, 2], "expected .*validation_logits, labels"),
    ({"content": {"a": 1}}, "has no place in a pickle of arrays"),
    (1.5, "has no place in a pickle of arrays"),
    ("text", "expected "),
)

FIRST, SECOND = two_pairs()


@pytest.mark.parametrize(
    "content", [(FIRST,), (FIRST, SECOND) * 2, (FIRST, SECOND * 2), FIRST, None, 3]
)
def test_other_structures_are_refused(tmp_path, content):
    with pytest.raises(InputError, match=r"expected \(\(validation_logits, labels\)"):
        read_pickle(written(tmp_path, content))


GIB = 2**30
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tC\x01btR"
FLOAT = b"cnumpy\ndtype\n(X\x02\x00\x00\x00f4K\x00K\x01tR"
HOSTILE_BYTES = {
    "empty file": b"",
    "no pickle": b"hello, I am a text file\nof two lines\n",
    "BINBYTES of 4 GiB": b"\x80\x03B\xff\xff\xff\xffabc",
    "BINBYTES8 of 8 EiB": b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7fabc",
    "BINUNICODE8 of 8 EiB": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7fabc",
    "BYTEARRAY8 of 8 EiB": b"\x80\x05\x96" + b"\xff" * 7 + b"\x7fabc",
    "negative string": b"T\xff\xff\xff\xffabc.",
    "LONG4 of 2 GiB": b"\x80\x02\x8b\xff\xff\xff\x7fabc",
    "memo index of 4 G": b"\x80\x02]r\xff\xff\xff\xff.",
    "shape of 10^12": ARRAY + b"(K\x01(L1000000000000L\nK\x0att" + b"." ,
    "array longer than its bytes": ARRAY
    + b"(K\x01(J\x00\x00\x00\x40K\x0at" + FLOAT + b"\x89C\x04abcdtb.",
    "reconstructed shape": b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n"
    b"(L1000000000000L\ntC\x01btR.",
    "bytes as a name of 10^9": b"\x80\x04J\x00\xca\x9a;J\x00\xca\x9a;\x93.",
    "an endless stream": b"(" * 200_000,
    "lists in lists": b"]" * 200_000 + b".",
    "append to a tuple": b")Na.",
    "call of a None": b"N)R.",
    "state of a list": b"]Nb.",
    "empty stack": b"\x87.",
    "unknown memo": b"h\x05.",
    "byte order that is none": ARRAY + b"(K\x01(K\x01t" + FLOAT
    + b"(K\x03X\x03\x00\x00\x00f4,NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89C\x08abcdefghtb.",
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="the memory limit needs Linux")
@pytest.mark.parametrize("name", HOSTILE_BYTES)
def test_hostile_and_broken_bytes_are_one_line_errors(tmp_path, name):
    path = written(tmp_path, HOSTILE_BYTES[name])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + GIB // 4, hard))  # MemoryError beyond
    try:
        with pytest.raises(InputError, match="download it again, or save your own"):
            read_pickle(path)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@given(st.data())
def test_no_byte_can_be_changed_into_anything_but_an_error_or_an_array(tmp_path_factory, data):
    whole = bytearray(pickle.dumps(two_pairs(), data.draw(st.integers(0, 5))))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "mutated.p"
    path.write_bytes(whole)
    with contextlib.suppress(InputError):
        assert all(array.dtype.kind in "fiub" for pair in read_pickle(path) for array in pair)


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
@pytest.mark.parametrize("protocol", [2, 3])
def test_memory_stays_within_a_few_times_the_file(tmp_path, protocol):
    """A tenth of an ImageNet file, 20 MB: whole, 200 MB then stay below 1 GiB."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(2500, 1000)).astype(np.float32)
    path = written(tmp_path, ((logits, logits.argmax(1)), (logits + 1, logits.argmax(1))), protocol)
    program = (
        "import resource, sys, numpy\n"
        "from pipeline.pickles import read_pickle\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "before = peak(); read_pickle(sys.argv[1]); print(peak() - before)"
    )
    assert int(python(program, path)) < 2.5 * path.stat().st_size
