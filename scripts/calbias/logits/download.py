"""Download a published logit file from the first mirror that has it.

Mirrors are tried in order. A broken transfer is resumed (HTTP Range) from the part that arrived,
which waits beside the output as ``.<name>.part``, in this run or the next. An answer that is a
git-LFS pointer, an HTML page or of another size is recognised by its first bytes, and pooch admits
the file to its final name only if its sha256 is right; nothing is parsed before.
"""

import csv
import itertools
import re
import sys
import time
import warnings
from pathlib import Path

import pooch
import requests
import urllib3
from tqdm import tqdm

from calbias.errors import InputError
from calbias.io.checksums import file_digest
from calbias.logits.manifest import stand_in, validate_missing

_WORTH_A_RETRY = (408, 425, 429, 500, 502, 503, 504)
_BLOCK = 2**18
_SECONDS_IN_A_LOG = 10  # between two reports of progress


class _Answer(Exception):
    """What a mirror answered instead of the file."""


class _Passing(_Answer):
    """An answer that may be better in a moment."""


def read_mirrors(path):
    """Return the URL templates, each with ``{file}``, of a mirrors CSV (column ``url``)."""
    validate_missing(path)
    with open(path, newline="", encoding="utf-8") as file:
        urls = [row.get("url") or "" for row in csv.DictReader(file)]
    return check_mirrors(path, urls)


def check_mirrors(where, urls):
    """Return the URL templates; InputError if there are none or one is no http(s) template."""
    for url in urls:
        if not re.match(r"https?://", url) or "{file}" not in url:
            raise InputError(f"{where}: mirror {url!r} is no http(s) URL with {{file}} in it")
    if not urls:
        raise InputError(f"{where}: no mirror; give at least one URL with {{file}} in it")
    return list(urls)


def download(published, mirrors, output, attempts=4, backoff=1.0, timeout=30.0):
    """Download a ``PublishedFile`` to ``output``, from URL templates with ``{file}``.

    Passing faults (no connection, a broken transfer, HTTP 408, 425, 429, 5xx) are retried up to
    ``attempts`` times per mirror, after ``backoff``, 2·``backoff``, 4·``backoff`` … seconds;
    ``timeout`` is that of a silent connection, in seconds. A file that is already right is left
    alone. Raises InputError, with what every mirror answered, when all have failed.
    """
    output = Path(output).absolute()
    if output.is_file() and file_digest(output) == published.sha256:
        return
    part = output.with_name(f".{output.name}.part")
    answers = []
    for mirror in mirrors:
        url = mirror.replace("{file}", published.file)
        try:
            _from_mirror(url, published, output, part, attempts, backoff, timeout)
            return
        except _Answer as answer:
            answers.append(f"{url} {answer}")
        except OSError as error:
            raise InputError(f"{output}: cannot be written: {error}; free it") from error
    kept = f"; {part.stat().st_size} bytes are kept in {part.name}" if part.exists() else ""
    raise InputError(
        f"{published.file} could not be downloaded: {'; '.join(answers)}{kept}. Place the file "
        f"({published.n_bytes} bytes, sha256 {published.sha256}) at {output} by hand, or set "
        "download: false for surrogate logits"
    )


def _from_mirror(url, published, output, part, attempts, backoff, timeout):
    output.parent.mkdir(parents=True, exist_ok=True)
    transfer = _Transfer(published, part, timeout)
    for attempt in range(1, attempts + 1):
        try:
            transfer.complete(url)
            _admit(part, url, published, output)
            return
        except ValueError:  # pooch found another sha256, and deleted what it looked at
            if not transfer.resumed:
                raise _Answer("sent a file of another sha256") from None
            answer = _Answer("had its transfer resumed from a part of another file")
        except _Passing as passing:
            answer = passing
        if attempt == attempts:
            raise _Answer(f"{answer} ({attempts} attempts)") from None
        wait = backoff * 2 ** (attempt - 1)
        warnings.warn(f"{url} {answer}; trying again in {wait:g} s", stacklevel=3)
        time.sleep(wait)


def _admit(part, url, published, output):
    """Have pooch check the sha256 and move the part into place; ValueError, and no part, if not."""
    pooch.get_logger().setLevel("WARNING")
    pooch.retrieve(
        url,
        f"sha256:{published.sha256}",
        output.name,
        output.parent,
        downloader=lambda _url, temporary, _pooch: part.replace(temporary),
    )


class _Transfer:
    """Fills the part from where it stands; ``resumed`` tells whether the last request did so."""

    def __init__(self, published, part, timeout):
        self.published, self.part, self.timeout = published, part, timeout
        self.resumed = False

    def complete(self, url):
        have = self.part.stat().st_size if self.part.exists() else 0
        self.resumed = 0 < have <= self.published.n_bytes
        if have == self.published.n_bytes:
            return
        headers = {"Accept-Encoding": "identity"}
        if self.resumed:
            headers["Range"] = f"bytes={have}-"
        try:
            with requests.get(url, headers=headers, stream=True, timeout=self.timeout) as response:
                self._receive(response, have)
        except requests.RequestException as error:
            raise _Passing(f"gave no answer ({type(error).__name__})") from None

    def _receive(self, response, have):
        """Append the body to the part; raise _Answer unless the file is then complete."""
        status, total = response.status_code, self.published.n_bytes
        if status == 416:
            self.part.unlink()
            raise _Passing("answered 416 (cannot resume there)")
        if status not in (200, 206):
            kind = _Passing if status in _WORTH_A_RETRY else _Answer
            raise kind(f"answered {status} ({response.reason})")
        if status == 200:
            self.resumed, have = False, 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            self.part.unlink()
            raise _Passing("resumed at another byte than asked")
        # Undecoded and as it comes: what arrived before a break is kept to the last byte.
        blocks = iter(lambda: response.raw.read1(_BLOCK, decode_content=False), b"")
        try:
            first = next(blocks, b"")
            if have == 0:
                self._validate_other_file(response, first)
            have = self._write(itertools.chain([first], blocks), have)
        except urllib3.exceptions.HTTPError:
            have = self.part.stat().st_size if self.part.exists() else 0
        if have > total:
            self.part.unlink()
            raise _Answer(f"sent more than {total} bytes")
        if have < total:
            raise _Passing(f"broke off at {have} of {total} bytes")

    def _write(self, blocks, have):
        total = self.published.n_bytes
        progress = {"total": total, "initial": have, "desc": self.published.file}
        progress["mininterval"] = 0.1 if sys.stderr.isatty() else _SECONDS_IN_A_LOG
        with (
            open(self.part, "ab" if have else "wb") as file,
            tqdm(unit="B", unit_scale=True, **progress) as bar,
        ):
            for block in blocks:
                have += len(block)
                file.write(block)
                bar.update(len(block))
                if have > total:
                    break
        return have

    def _validate_other_file(self, response, first):
        found = stand_in(first)
        if not found and response.headers.get("Content-Type", "").startswith("text/html"):
            found = "an HTML page"
        if found:
            raise _Answer(f"sent {found} instead of the file")
        length = response.headers.get("Content-Length")
        if length is not None and length.strip() != str(self.published.n_bytes):
            raise _Answer(f"sent {length} bytes, not {self.published.n_bytes}")
