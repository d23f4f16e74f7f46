"""Mirrors: of a folder, and of one file on the loopback address that misbehaves on request."""

import contextlib
import http.server
import threading
import time
from contextlib import contextmanager
from functools import partial

CONTENT = bytes(range(256)) * 4096  # 1 MiB
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1048576\n"
PAGE = b"<!DOCTYPE html><html><body>over quota</body></html>"
BROKEN = {"stop": 400_000}
ANSWERS = {  # the n-th request to /behaviour/file gets the n-th answer, later ones the last
    "right": [{}],
    "unsized": [{"sized": False}],
    "breaks_once": [BROKEN, {}],
    "breaks_twice": [BROKEN, BROKEN, {}],
    "always_breaks": [{"stop": 100_000}],
    "breaks_and_ignores_ranges": [BROKEN, {"ranges": False}],
    "breaks_then_416": [BROKEN, {"body": b"", "status": 416}, {}],
    "resumes_elsewhere": [BROKEN, {"span": "bytes 5-1048575/1048576"}, {}],
    "unsized_and_short": [
        {"body": CONTENT[:500_000], "sized": False},
        {"sized": False, "ranges": False},
    ],
    "wrong": [{"body": CONTENT[::-1]}],
    "pointer": [{"body": POINTER}],
    "page": [{"body": PAGE, "kind": "text/html"}],
    "short": [{"body": CONTENT[:-1]}],
    "long_unsized": [{"body": CONTENT * 2, "sized": False}],
    "missing": [{"body": PAGE, "status": 404}],
    "fails_once": [{"body": b"", "status": 500}, {}],
    "busy": [{"body": b"", "status": 503}],
    "lost": [{"body": b"", "status": 302, "location": "http://[malformed"}],
    "drips": [{"pause": 0.02}],
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        behaviour, asked = self.path.split("/")[1], self.headers.get("Range")
        nth = sum(name == behaviour for name, _ in self.server.log)
        self.server.log.append((behaviour, asked))
        answers = ANSWERS[behaviour]
        self.answer(asked, **answers[min(nth, len(answers) - 1)])

    def answer(
        self,
        asked,
        body=CONTENT,
        status=200,
        stop=None,
        ranges=True,
        sized=True,
        span=None,
        kind=None,
        location=None,
        pause=0,
    ):
        """Send the body, or what was asked of it, and break off after ``stop`` bytes."""
        if asked and ranges and status == 200:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            span = span or f"bytes {start}-{len(body) - 1}/{len(body)}"
            body, status = body[start:], 206
        self.send_response(status)
        headers = {"Content-Length": len(body) if sized else None, "Connection": "close"}
        headers |= {"Content-Range": span, "Content-Type": kind, "Location": location}
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for k in range(0, len(body[:stop]), 1000 if pause else len(body) + 1):
                self.wfile.write(body[:stop][k : k + (1000 if pause else len(body) + 1)])
                time.sleep(pause)
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    """Yield the server; its ``log`` lists (behaviour, Range) of the requests."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.log = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def serving_folder(folder):
    """Yield the address of a server of the files in a folder."""
    handler = partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def urls(server, *behaviours):
    """Return the URL templates of a server's behaviours."""
    return [f"http://127.0.0.1:{server.server_port}/{name}/{{file}}" for name in behaviours]
