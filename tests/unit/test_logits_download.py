"""Downloads from a real HTTP server on the loopback address that misbehaves on request."""

import hashlib
import http.server
import re
import threading
import warnings
from pathlib import Path

import pytest

from calbias.errors import InputError
from calbias.logits.download import download, read_mirrors, validated_mirrors
from calbias.logits.manifest import PublishedFile

REPOSITORY = Path(__file__).parents[2]
CONTENT = bytes(range(256)) * 4096  # 1 MiB
FILE = PublishedFile("m", "m.p", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), 10, 1, 1)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1048576\n"
PAGE = b"<!DOCTYPE html><html><body>over quota</body></html>"


# Whole blocks of 65 536 bytes are kept of a broken transfer.


class Mirror(http.server.BaseHTTPRequestHandler):
    """Answers ``/behaviour/file``: the n-th request to a behaviour gets its n-th answer."""

    protocol_version = "HTTP/1.1"
    ranges = True

    def do_GET(self):
        behaviour = self.path.split("/")[1]
        log = self.server.log
        log.append((behaviour, self.headers.get("Range")))
        nth = sum(name == behaviour for name, _ in log)
        getattr(self, behaviour)(nth)

    def answer(self, body, status=200, stop_after=None, **headers):
        self.send_response(status)
        headers.setdefault("Content_Length", len(body))
        for name, value in headers.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body[:stop_after])
        self.close_connection = True

    def whole_or_rest(self, content=CONTENT, stop_after=None):
        asked = self.headers.get("Range")
        if asked is None:
            return self.answer(content, stop_after=stop_after)
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        return self.answer(content[start:], 206, stop_after, Content_Range=span)

    def right(self, nth):
        self.whole_or_rest()

    def unsized(self, nth):
        self.answer(CONTENT, Content_Length=None)

    def breaks_once(self, nth):
        self.whole_or_rest(stop_after=400_000 if nth == 1 else None)

    def breaks_twice(self, nth):
        self.whole_or_rest(stop_after=400_000 if nth <= 2 else None)

    def always_breaks(self, nth):
        self.whole_or_rest(stop_after=100_000)

    def breaks_and_ignores_ranges(self, nth):
        self.answer(CONTENT, stop_after=400_000 if nth == 1 else None)

    def breaks_then_416(self, nth):
        if nth == 1:
            self.answer(CONTENT, stop_after=400_000)
        elif self.headers.get("Range"):
            self.answer(b"", 416)
        else:
            self.answer(CONTENT)

    def resumes_elsewhere(self, nth):
        if self.headers.get("Range"):
            self.answer(CONTENT[5:], 206, Content_Range=f"bytes 5-{len(CONTENT) - 1}/1048576")
        else:
            self.answer(CONTENT, stop_after=400_000 if nth == 1 else None)

    def unsized_and_short(self, nth):
        self.answer(CONTENT[:500_000] if nth == 1 else CONTENT, Content_Length=None)

    def wrong(self, nth):
        self.whole_or_rest(CONTENT[::-1])

    def pointer(self, nth):
        self.answer(POINTER)

    def page(self, nth):
        self.answer(PAGE, Content_Type="text/html")

    def short(self, nth):
        self.answer(CONTENT[:-1])

    def long_unsized(self, nth):
        self.answer(CONTENT * 2, Content_Length=None)

    def missing(self, nth):
        self.answer(PAGE, 404)

    def fails_once(self, nth):
        self.answer(b"", 500) if nth == 1 else self.whole_or_rest()

    def busy(self, nth):
        self.answer(b"", 503)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    server.log = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def urls(server, *behaviours):
    return [f"http://127.0.0.1:{server.server_port}/{name}/{{file}}" for name in behaviours]


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
        (["right"], ["right"]),
        (["unsized"], ["unsized"]),
        (["missing", "right"], ["missing", "right"]),
        (["pointer", "page", "right", "missing"], ["pointer", "page", "right"]),
        (["wrong", "right"], ["wrong", "right"]),
        (["short", "right"], ["short", "right"]),
        (["long_unsized", "right"], ["long_unsized", "right"]),
        (["fails_once"], ["fails_once"] * 2),
        (["busy", "right"], ["busy"] * 3 + ["right"]),
    ],
)
def test_first_mirror_that_has_the_file_gives_it(server, output, behaviours, requests):
    fetch(server, output, *behaviours)
    assert output.read_bytes() == CONTENT
    assert [name for name, _ in server.log] == requests
    assert left_in(output.parent) == ["m.p"]


@pytest.mark.parametrize(
    ("behaviours", "log"),
    [
        (["breaks_once"], [("breaks_once", None), ("breaks_once", "bytes=393216-")]),
        (
            ["breaks_twice"],
            [(0, None), (0, "bytes=393216-"), (0, "bytes=786432-")],
        ),
        (
            ["always_breaks", "right"],
            [(0, None), (0, "bytes=65536-"), (0, "bytes=131072-"), ("right", "bytes=196608-")],
        ),
        (["breaks_and_ignores_ranges"], [(0, None), (0, "bytes=393216-")]),
        (["breaks_then_416"], [(0, None), (0, "bytes=393216-"), (0, None)]),
        (["resumes_elsewhere"], [(0, None), (0, "bytes=393216-"), (0, None)]),
        (["unsized_and_short"], [(0, None), (0, "bytes=500000-")]),
    ],
)
def test_a_broken_transfer_is_resumed(server, output, behaviours, log):
    fetch(server, output, *behaviours)
    assert output.read_bytes() == CONTENT
    assert server.log == [(name or behaviours[0], asked) for name, asked in log]
    assert left_in(output.parent) == ["m.p"]


def test_the_next_run_resumes_what_this_one_left(server, output):
    with pytest.raises(InputError, match=r"broke off .* 131072 bytes are kept in \.m\.p\.part"):
        fetch(server, output, "always_breaks", attempts=2)
    assert left_in(output.parent) == [".m.p.part"]
    fetch(server, output, "right")
    assert server.log[-1] == ("right", "bytes=131072-")
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
    with pytest.raises(InputError) as caught:
        fetch(server, output, behaviour, "missing")
    text = str(caught.value)
    assert "\n" not in text
    port = server.server_port
    expected = f"m.p could not be downloaded: http://127.0.0.1:{port}/{behaviour}/m.p "
    assert text.startswith(expected)
    assert re.search(answer, text)
    assert f"http://127.0.0.1:{port}/missing/m.p answered 404" in text
    assert text.endswith(
        f"Place the file (1048576 bytes, sha256 {FILE.sha256}) at {output} by hand, or set "
        "download: false for surrogate logits"
    )
    assert left_in(output.parent) == []


def test_no_server(server, output):
    mirrors = urls(server, "right")
    server.shutdown()
    server.server_close()
    with (
        pytest.warns(UserWarning, match="trying again in 0.001 s"),
        pytest.raises(
            InputError,
            match=r"gave no answer \(ConnectionError\) \(2 attempts\)\. Place",
        ),
    ):
        download(FILE, mirrors, output, attempts=2, backoff=0.001)
    assert left_in(output.parent) == []


def test_waits_double(server, output, monkeypatch):
    waits = []
    monkeypatch.setattr("calbias.logits.download.time.sleep", waits.append)
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
    mirrors = read_mirrors(REPOSITORY / "resources" / "logits_mirrors.csv")
    assert [mirror.format(file="x.p").rsplit("/", 1)[1] for mirror in mirrors] == ["x.p"] * 3
    assert mirrors[0].startswith("https://media.githubusercontent.com/media/markus93/NN_calibra")
    assert mirrors[-1] == "https://storage.googleapis.com/caltrain_data/{file}"


def test_mirrors_are_checked(tmp_path):
    path = tmp_path / "mirrors.csv"
    for text, message in (
        ("url\nftp://a/{file}\n", "mirror 'ftp://a/{file}' is no http"),
        ("url\nhttps://a/b\n", "mirror 'https://a/b' is no http"),
        ("link\nhttps://a/{file}\n", "no column url"),
        ("url\n", "no mirror; give at least one URL"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_mirrors(path)
    assert validated_mirrors("x", ["http://a/{file}"]) == ["http://a/{file}"]
