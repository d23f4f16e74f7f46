"""Downloads from a real HTTP server that misbehaves on request; the manifest, and stand-ins."""

import hashlib
import itertools
import re
import warnings

import pytest
from checkout import ROOT
from mirror import CONTENT, serving, urls
from refusals import refuses_texts

from calbias.errors import InputError
from calbias.io.files import placeholder
from pipeline.manifest import PublishedFile, read_manifest
from pipeline.steps.download_logits import download, read_mirrors

FILE = PublishedFile("m", "m.p", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as server:
        yield server


def fetch(server, output, *behaviours, attempts=3):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        download(FILE, urls(server, *behaviours), output, attempts, backoff=0.001, timeout=5)


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def output(tmp_path):
    return tmp_path / "logits" / "m.p"


@pytest.mark.parametrize(
    ("behaviours", "requests"),
    [
        ("right", ["right"]),
        ("unsized", ["unsized"]),
        ("missing right", ["missing", "right"]),
        ("pointer page right missing", ["pointer", "page", "right"]),
        ("wrong right", ["wrong", "right"]),
        ("short right", ["short", "right"]),
        ("long_unsized right", ["long_unsized", "right"]),
        ("fails_once", ["fails_once"] * 2),
        ("busy right", ["busy"] * 3 + ["right"]),
        ("lost right", ["lost"] * 3 + ["right"]),
        # a broken transfer is resumed from what arrived
        ("breaks_once", ["breaks_once", 400_000]),
        ("breaks_twice", ["breaks_twice", 400_000, 800_000]),
        ("always_breaks right", ["always_breaks", 100_000, 200_000, ("right", 300_000)]),
        ("breaks_and_ignores_ranges", ["breaks_and_ignores_ranges", 400_000]),
        ("breaks_then_416", ["breaks_then_416", 400_000, "breaks_then_416"]),
        ("resumes_elsewhere", ["resumes_elsewhere", 400_000, "resumes_elsewhere"]),
        ("unsized_and_short", ["unsized_and_short", 500000]),
    ],
)
def test_the_first_mirror_that_has_the_file_gives_it(server, output, behaviours, requests):
    behaviours = behaviours.split()
    fetch(server, output, *behaviours)
    assert output.read_bytes() == CONTENT
    assert left_in(output.parent) == ["m.p"]
    for (name, asked), expected in zip(server.log, requests, strict=True):
        if isinstance(expected, str):
            assert (name, asked) == (expected, None)
        else:
            mirror, start = expected if isinstance(expected, tuple) else (behaviours[0], expected)
            assert (name, asked) == (mirror, f"bytes={start}-")


def test_the_next_run_resumes_what_this_one_left(server, output):
    with pytest.raises(InputError, match=r"broke off .* 200000 bytes are kept in \.m\.p\.part"):
        fetch(server, output, "always_breaks", attempts=2)
    assert left_in(output.parent) == [".m.p.part"]
    fetch(server, output, "right")
    assert server.log[-1] == ("right", "bytes=200000-")
    assert output.read_bytes() == CONTENT
    assert left_in(output.parent) == ["m.p"]


@pytest.mark.parametrize("n_bytes", [100, len(CONTENT), len(CONTENT) + 5])
def test_a_part_of_another_file_is_thrown_away(server, output, n_bytes):
    output.parent.mkdir()
    output.with_name(".m.p.part").write_bytes(b"?" * n_bytes)
    fetch(server, output, "right")
    assert output.read_bytes() == CONTENT
    assert server.log[-1] == ("right", None)


@pytest.mark.parametrize(
    ("behaviour", "answer"),
    [
        ("wrong", "sent a file of another sha256"),
        ("pointer", "sent a git-LFS pointer instead of the file"),
        ("page", "sent an HTML page instead of the file"),
        ("short", "sent 1048575 bytes, not 1048576"),
        ("long_unsized", "sent more than 1048576 bytes"),
        ("missing", r"answered 404 \(Not Found\)"),
        ("busy", r"answered 503 \(Service Unavailable\) \(3 attempts\)"),
    ],
)
def test_when_all_mirrors_fail_each_answer_is_told_and_nothing_is_left(
    server, output, behaviour, answer
):
    first, second = (
        re.escape(url.format(file="m.p")) for url in urls(server, behaviour, "missing")
    )
    tried = rf"m\.p could not be downloaded: {first} {answer}.*{second} answered 404.*"
    by_hand = rf"sha256 {FILE.sha256}\) at {output} by hand"
    with pytest.raises(InputError, match=tried + by_hand):
        fetch(server, output, behaviour, "missing")
    assert left_in(output.parent) == []


def test_no_server(server, output):
    mirrors = urls(server, "right")
    server.shutdown()
    server.server_close()
    answer = r"gave no answer \(ConnectionError\) \(2 attempts\)"
    with pytest.warns(UserWarning, match="trying again"), pytest.raises(InputError, match=answer):
        download(FILE, mirrors, output, attempts=2, backoff=0.001)
    assert left_in(output.parent) == []


def test_a_mirror_that_drips_is_given_up_and_what_it_sent_is_kept(server, output, monkeypatch):
    """It sends a kilobyte at a time; a clock of the test's own goes on at each look at it alone."""
    looks = itertools.count()
    clock = "pipeline.steps.download_logits.monotonic"
    monkeypatch.setattr(clock, lambda: next(looks) / 40 if len(server.log) < 2 else 0)
    mirrors = urls(server, "drips", "right")
    download(FILE, mirrors, output, attempts=2, backoff=0.001, timeout=5, limit=1)
    assert output.read_bytes() == CONTENT
    [(_, first), (name, asked)] = server.log
    assert (first, name) == (None, "right")
    assert int(asked.removeprefix("bytes=").removesuffix("-")) >= 1000


def test_waits_double(server, output, monkeypatch):
    waits = []
    monkeypatch.setattr("pipeline.steps.download_logits.sleep", waits.append)
    with pytest.warns(UserWarning, match="503"), pytest.raises(InputError, match="4 attempts"):
        download(FILE, urls(server, "busy"), output, attempts=4, backoff=1.5)
    assert waits == [1.5, 3, 6]


def test_a_right_file_is_left_alone_and_a_wrong_one_replaced(server, output):
    output.parent.mkdir()
    output.write_bytes(CONTENT)
    fetch(server, output, "right")
    assert server.log == []
    output.write_bytes(b"wrong")
    with pytest.raises(InputError):
        fetch(server, output, "missing")
    assert output.read_bytes() == b"wrong"
    fetch(server, output, "right")
    assert output.read_bytes() == CONTENT


def test_output_that_cannot_be_written(server, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match=r"file/m\.p: cannot be written: "):
        fetch(server, tmp_path / "file" / "m.p", "right")


def test_mirrors_of_the_project():
    mirrors = read_mirrors(ROOT / "resources" / "logits_mirrors.csv")
    assert [mirror.format(file="x.p").rsplit("/", 1)[1] for mirror in mirrors] == ["x.p"] * 3


test_mirrors_are_checked = refuses_texts(
    read_mirrors,
    "mirrors.csv",
    ("url\nftp://a/{file}\n", "mirror 'ftp://a/{file}' is no http"),
    ("url\nhttps://a/b\n", "mirror 'https://a/b' is no http"),
    ("url\n", "no mirror; give at least one URL"),
)


MANIFEST = ROOT / "resources" / "published" / "nn_calibration_logits_manifest.csv"


def test_published_manifest():
    manifest = read_manifest(MANIFEST)
    assert manifest["resnet152_imgnet"].n_bytes == 200400343
    assert all(len(entry.sha256) == 64 for entry in manifest.values())


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"version https://git-lfs.github.com/spec/v1\n", "a git-LFS pointer"),
        (b"<!DOCTYPE html><html>", "an HTML page"),
        (b"\xef\xbb\xbf\r\n <HTML lang=en>", "an HTML page"),
        (b"<?xml version='1.0'?><Error><Code>AccessDenied", "an HTML page"),
        (b"\x80\x03]q\x00(", None),
        (b"label,a,b\n", None),
        (b"version,a,b\n", None),
        (b"", None),
    ],
)
def test_stand_ins(head, found):
    assert placeholder(head) == found


test_other_tables_are_no_manifest = refuses_texts(
    read_manifest,
    "manifest.csv",
    ("model,file,sha256,bytes,n_classes,n_validation,n_test\nm,f,0,many,10,1,1\n", "line 2: inv"),
)
