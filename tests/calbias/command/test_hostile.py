"""Hostile and damaged files, full and closed streams: one line, a documented status, no flood."""

import base64
import contextlib
import gzip
import hashlib
import json
import os
import pickle
import re
import resource
import signal
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from functools import partial

import numpy as np
import pandas as pd
import pytest

from calbias import InputError, Monitor, Sketch
from calbias.auditing.inputs import read_data
from calbias.command import main
from calbias.errors import printable, reading
from calbias.estimation.check_in_process import failures_apart
from calbias.io.limits import FREE_BYTES, RATIO
from calbias.io.python_files import SCRIPTS, literal
from pipeline.pickles import read_pickle

TABLE = "score,hit\n" + "".join(f"{k / 80},{k % 3 > 0:d}\n" for k in range(80))
EVIL = "a\x1b[2J\x07\u202eb\u2028warning: \x9bc\nerror: d\r\t\ud800"


CALBIAS = f"{sys.executable} -m calbias"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SCRIPTS)}


def shell(line, folder, **environment):
    """Run a line of bash, in which calbias is CALBIAS, in a folder."""
    environment = ENVIRONMENT | environment
    return subprocess.run(["bash", "-c", line], capture_output=True, env=environment, cwd=folder)


def test_text_from_outside_is_printable_on_one_line_and_cut():
    assert printable(EVIL).isprintable()
    assert printable("ünï ℓ \xa0x") == "ünï ℓ  x"
    assert len(printable("x" * 10**6)) < 400
    assert len(printable("x " * 10**5)) <= 2100
    assert printable("x " * 10**5 + "remedy").endswith("remedy")
    assert str(InputError(EVIL)).isprintable()
    cut = r"no readable NPZ file: a a .*…; download it$"
    with (
        pytest.raises(InputError, match=cut) as raised,
        reading("m.npz", "NPZ file", "download it"),
    ):
        raise ValueError("a " * 10**4)
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("place", ["column", "by", "cell", "file", "option", "json", "array"])
def test_no_name_reaches_the_terminal_as_it_is(tmp_path, capsys, place):
    evil = EVIL.replace("\ud800", "")
    frame = pd.DataFrame({"score": np.arange(80) / 80, "hit": np.arange(80) % 2})
    more = []
    if place == "array":
        path = tmp_path / "m.npz"
        np.savez(path, **{evil: np.arange(3)})
    elif place == "json":
        path = tmp_path / "m.jsonl"
        lines = [json.dumps({"score": k / 80, "hit": k % 2, EVIL: EVIL}) for k in range(80)]
        path.write_text("\n".join(lines))
        more = ["--by", EVIL.encode("utf-8", "replace").decode()]
    else:
        if place in ("column", "by"):
            frame[evil] = np.repeat([evil, "b"], 40)
        if place == "cell":
            frame["hit"] = [*frame["hit"][:-1], evil]
        path = tmp_path / f"{evil if place == 'file' else 'm'}.csv"
        more = {"by": ["--by", evil], "option": ["--score", evil]}.get(place, [])
        frame.to_csv(path, index=False)
    with contextlib.suppress(SystemExit):
        main(["audit", str(path), "--output", str(tmp_path / "out"), *more])
    printed = capsys.readouterr()
    assert all(line.isprintable() for line in (printed.out + printed.err).split("\n"))
    assert not any(
        line.startswith(("warning: \\x9b", "error: d")) for line in printed.err.split("\n")
    )
    for page in tmp_path.glob("out.*"):
        page.read_text("utf-8")


def bomb(path, kind):
    n = 4 * FREE_BYTES
    if kind == "gzip":
        path.write_bytes(gzip.compress(b"score,hit\n" + b"0.5,1\n" * (n // 6)))
    elif kind == "npz":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in ("scores", "hits"):
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    header = {"descr": "<f8", "fortran_order": False, "shape": (n // 8,)}
                    np.lib.format.write_array_header_1_0(file, header)
                    for _ in range(n // 2**20):
                        file.write(bytes(2**20))
    elif kind == "parquet":
        pd.DataFrame({"score": np.full(n // 8, 0.5), "hit": 1}).to_parquet(path)
    else:
        path.write_text("".join(f'{{"k{k}":1}}\n' for k in range(6000)))


BOMBS = {"gzip": "m.csv.gz", "npz": "m.npz", "parquet": "m.parquet", "json": "m.jsonl"}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_few_bytes_become_no_gigabytes(tmp_path, kind):
    path = tmp_path / BOMBS[kind]
    bomb(path, kind)
    assert path.stat().st_size * RATIO < 2 * FREE_BYTES
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=r"unpack to 100 times its size|different names"):
        read_data(path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 3 * FREE_BYTES


def test_a_text_that_many_rows_share_is_held_once(tmp_path):
    n = 20_000
    long = pd.Series(pd.Categorical(["x" * 100_000] * n))
    pd.DataFrame({"score": np.arange(n) / n, "hit": 1, "long": long}).to_parquet(tmp_path / "m.pq")
    assert read_data(tmp_path / "m.pq", ["long"]).by["long"].nbytes == 8 * n


DAMAGED = {
    "deep.jsonl": "[" * 10**6,
    "deep2.jsonl": '{"score": 0.5, "hit": 1, "x": ' + "[" * 10**5 + "]" * 10**5 + "}\n",
    "digits.jsonl": '{"score": ' + "9" * 10**5 + ', "hit": 1}\n',
    "inf.csv": "score,hit\ninf,1\n1e999,0\n",
    "nul.csv": "score,hit\n0.5,\x00\n",
    "quote.csv": 'score,hit\n"0.5,1\n',
    "wide.csv": ",".join("abcdefgh") + "\n" + "1," * 10**5 + "\n",
    "field.csv": "score,hit\n" + "1" * 10**6 + ",1\n",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_text_is_one_line(tmp_path, capsys, name):
    (tmp_path / name).write_text(DAMAGED[name])
    with pytest.raises(SystemExit) as stop:
        main(["audit", str(tmp_path / name), "--quiet"])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert len(error) < 2500


@pytest.mark.parametrize(("offset", "byte"), [(6, 1), (8, 77), (60, 0)])
def test_damaged_members_of_npz_are_one_line(tmp_path, offset, byte):
    """Encrypted, packed by an unknown method, and of other bytes."""
    path = tmp_path / "m.npz"
    np.savez(path, scores=np.linspace(0, 1, 9), hits=np.ones(9))
    data = bytearray(path.read_bytes())
    data[offset] = byte
    data[data.index(b"PK\x01\x02") + offset + 2] = byte
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"m\.npz: no readable NPZ file: "):
        read_data(path)


def test_a_type_that_holds_itself_is_named_by_its_kind(tmp_path):
    """The tuple holds tuples of itself, 200 levels deep: its repr would never end."""
    levels = b"\x8c\x01a\x94" + b"".join(b"h%ch%c\x86\x94" % (k, k) for k in range(60))
    body = b"\x80\x04\x8c\x05numpy\x8c\x05dtype\x93" + levels + b"\x85R."
    (tmp_path / "m.p").write_bytes(body)
    start = time.process_time()
    with pytest.raises(InputError):
        read_pickle(tmp_path / "m.p")
    assert time.process_time() - start < 5  # for ever, were it written out
    (tmp_path / "m.p").write_bytes(pickle.dumps([]))


def forged_sketch(cells=(19, 20), rows=(2, 3), hits=(1, 1), high=(0, 0), low=(0, 0), n_cells=57600):
    body = struct.pack("<8sHHIQ", b"calbias\0", 1, 0, n_cells, len(cells))
    body += np.array(cells, "<u4").tobytes()
    body += np.array([rows, hits, high, low], "<i8").tobytes()
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize(
    "change",
    [
        {"rows": (-2, 3)},
        {"hits": (5, 1)},
        {"hits": (-1, 1)},
        {"rows": (2**62, 2**62), "hits": (1, 1)},
        {"rows": (2**63 - 1, 2), "hits": (1, 1)},
        {"cells": (19, 19)},
        {"cells": (20, 19)},
        {"cells": (19, 10**9)},
        {"rows": (0, 3), "hits": (0, 1)},
        {"low": (-1, 0)},
        {"low": (1 << 40, 0)},
        {"high": (1 << 62, 0)},
        {"n_cells": 7},
        {"n_cells": 2**31},
    ],
)
def test_a_sketch_of_others_is_validated_whatever_its_checksum(change):
    with pytest.raises(InputError):
        Sketch.from_bytes(forged_sketch(**change))


def test_a_sketch_with_other_bytes_than_its_own_is_refused():
    sketch = Sketch()
    sketch.add([0.3, 0.8], [0, 1])
    data = sketch.to_bytes()
    assert Sketch.from_bytes(data) == sketch
    body = data[:-32] + bytes(4)
    with pytest.raises(InputError):
        Sketch.from_bytes(body + hashlib.sha256(body).digest())


def monitor_state(**changes):
    """Return a state with changes, and the checksum that belongs to them."""
    monitor = Monitor(0.2)
    generator = np.random.default_rng(0)
    monitor.update(generator.random(900), generator.random(900) < 0.9)
    assert monitor.alarm
    for name, change in changes.items():
        setattr(monitor, name, change(getattr(monitor, name)))
    return monitor.to_json()


def first_set(value):
    def change(values):
        values = values.copy()
        values.flat[0] = value
        return values

    return change


IMPOSSIBLE = [
    {"n": lambda n: -1},
    {"n": lambda n: 3},
    {"n": lambda n: 9.5},
    {"n": lambda n: 10**30},
    {"n": lambda n: "9"},
    {"alarm": lambda alarm: None},
    {"alarm": lambda alarm: 10**6},
    {"since": lambda since: since._replace(low=10**6)},
    {"since": lambda since: since._replace(row=1.5)},
    {"level": lambda level: 7.0},
    {"level": lambda level: None},
    {"_factors": lambda n: 10**9},
    {"_step": lambda n: 0},
    {"_cluster": lambda name: 7},
    {"_sums": first_set(np.nan)},
    {"_sums": first_set(-1.0)},
    {"_sums": lambda values: values[:-1]},
    {"_open": first_set(np.inf)},
    {"_ends": lambda values: values + 1},
    {"_blocks": first_set(-1)},
    {"_blocks": lambda blocks: blocks + 2**62},
    {"_blocks": lambda blocks: np.repeat(blocks, 10**4, axis=0)},
    {"_track": lambda track: np.array([[5.0, 1.0], [4.0, 1.0]])},
    {"_track": lambda track: np.array([[5.0, np.nan]])},
]


@pytest.mark.parametrize("changes", IMPOSSIBLE)
def test_a_monitors_state_of_others_is_validated_whatever_its_checksum(changes):
    assert Monitor.from_json(monitor_state()).n == 900
    with pytest.raises(InputError):
        Monitor.from_json(monitor_state(**changes))


def test_a_monitors_state_unpacks_to_a_megabyte_at_most(monkeypatch):
    packed = base64.b64encode(zlib.compress(bytes(FREE_BYTES), 9)).decode()
    monkeypatch.setattr("calbias.monitoring.monitor.packed", lambda values: packed)
    with pytest.raises(InputError, match="unpacks to more than"):
        Monitor.from_json(monitor_state())


_FORK = """
import os, time
if os.fork() == 0:
    {}
    open(__file__ + ".pid", "w").write(str(os.getpid()))
    time.sleep(99)
def estimate(*a): return 0.0
"""
FILES = {
    "leaves": ("import os\ndef estimate(*a):\n    os._exit(0)\n", r"ended Python \(exit status 0"),
    "hangs": ("def estimate(*a):\n    while True: pass\n", "did not end within 8 s"),
    "loads": ("import time\ntime.sleep(99)\ndef estimate(*a): return 0.0\n", "did not end within"),
    "prints": ("def estimate(*a):\n    print('hello')\n    return 0.0\n", "it prints 'hello"),
    "floods": ("def estimate(*a):\n    while True: print('x' * 999)\n", "it prints without end"),
    "thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n"
        "def estimate(*a): return 0.0\n",
        "leaves a thread or a process running",
    ),
    "forks": (_FORK.format(""), "leaves a thread or a process running"),
    "hides": (_FORK.format("os.setsid()"), "leaves a thread or a process running"),
    "loops": (
        "def estimate(scores, *a):\n    while len(scores) > 500: pass\n    return 0.0\n",
        r"did not end within 8 s \(loops, 1000 rows\)",
    ),
    "crawls": (
        "import time\ndef estimate(scores, *a):\n    time.sleep(len(scores) / 1000)\n"
        "    return 0.0\n",
        r"time: 1 s for 1000 rows, more than 0.5 s for 10000 rows",
    ),
    "raises": ("def estimate(*a): raise SystemExit(0)\n", "SystemExit"),
    "good": ("def estimate(scores, hits, n_bins, norm): return 0.0\n", None),
}


@pytest.mark.parametrize("name", FILES)
def test_an_estimator_that_leaves_hangs_or_prints_fails_its_check(tmp_path, name):
    text, fault = FILES[name]
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    is_endless = name in ("hangs", "loads", "loops")
    seconds = 0.5 if name == "crawls" else 20
    lines = failures_apart(path, seconds=seconds, limit=8 if is_endless else 60)
    left = tmp_path / f"{name}.py.pid"
    if left.exists():  # what it started was ended
        assert not os.path.exists(f"/proc/{left.read_text()}")
    if fault is None:
        assert not lines
    else:
        assert re.search(fault, " ".join(lines)), lines


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "cp1252"])
def test_constants_are_read_in_the_encoding_that_python_reads(tmp_path, encoding):
    cookie = "" if encoding == "utf-8-sig" else f"# -*- coding: {encoding} -*-\n"
    path = tmp_path / "mine.py"
    path.write_bytes((cookie + '# café\nVARIANTS = {"a": {}}\nNORMS = (2,)\n').encode(encoding))
    assert literal(path, "NORMS") == (2,)
    path.write_text("VARIANTS = {[1]}\n")
    with pytest.raises(InputError, match="VARIANTS must be written out"):
        literal(path, "VARIANTS")


def test_every_status_is_documented(tmp_path):
    """Full, closed and interrupted streams, an ASCII locale, and a name of the longest length."""
    long = f"{'x' * 240}.csv"
    for name in ("m.csv", long):
        (tmp_path / name).write_text(TABLE)
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for words, statuses, environment in (
        ("audit m.csv >/dev/full 2>/dev/full", [1], {}),
        ("--help >/dev/full", [1], {}),
        ("audit m.csv >&-", [0, 1], {}),
        ("audit - <&-", [2], {}),
        ("audit --help", [0], ascii_only),
        ("audit m.csv --norm 2", [0], ascii_only),
        (f"audit {long}", [0, 1], {}),
        ("audit <(cat m.csv)", [0], {}),
    ):
        run = shell(f"{CALBIAS} {words}", tmp_path, **environment)
        assert run.returncode in statuses, (words, run.stderr)
        assert b"Traceback" not in run.stderr
        assert ("<&-" in words) == (b"standard input is closed" in run.stderr)
    assert (tmp_path / "standard_input.html").exists()


def test_ctrl_c_is_one_line_with_status_1(tmp_path):
    os.mkfifo(tmp_path / "wait")
    words, pipe = [*CALBIAS.split(), "audit", "wait"], subprocess.PIPE
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a background run ignores it
    process = subprocess.Popen(
        words, stdout=pipe, stderr=pipe, env=ENVIRONMENT, cwd=tmp_path, preexec_fn=heard
    )
    assert process.stderr.readline().startswith(b"reading")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert error.startswith(b"error: stopped by the keyboard")
    assert error.count(b"\n") == 1


def test_an_unforeseen_error_names_the_file_and_how_to_report_it(tmp_path, monkeypatch, capsys):
    path = tmp_path / "m.csv"
    path.write_text(TABLE)
    monkeypatch.setattr("calbias.file_audit.read_outcomes", lambda *a, **k: {}[EVIL])
    with pytest.raises(SystemExit) as stop:
        main(["audit", str(path), "--quiet"])
    assert stop.value.code == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {path}: KeyError: ")
    assert error.count("\n") == 1
    monkeypatch.setenv("CALBIAS_TRACEBACK", "1")
    with pytest.raises(SystemExit):
        main(["audit", str(path), "--quiet"])
    assert "Traceback" in capsys.readouterr().err
