"""Download a published logit file from the first mirror that has it.

Mirrors are tried in order. A broken transfer is resumed (HTTP Range) from the part that arrived,
which waits next to the output as ``.<name>.part``, in this run or the next. An answer that is a
git-LFS pointer, an HTML page or of another size is recognised before it is saved. The part is moved
to the output only after its size and SHA-256 are verified, and nothing is parsed before.
"""

import itertools
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic, sleep

import requests

from calbias.errors import InputError, looked_up
from calbias.io.files import HEAD_BYTES, file_digest, placeholder
from pipeline.manifest import PublishedFile, read_manifest
from pipeline.tables import read_rows

_WORTH_A_RETRY = (408, 425, 429, 500, 502, 503, 504)
_BLOCK_BYTES = 2**16


class _Answer(Exception):
    """What a mirror answered instead of the file."""


class _Unwritable(Exception):
    """The part cannot be written."""


class _Temporary(_Answer):
    """An answer that may be better in a moment."""


def download_logits(
    *,
    manifest: Path,
    mirrors_file: Path,
    model: str,
    mirrors: list[str],
    output: Path,
) -> None:
    """Download the published logit file of a model, and verify its size and sha256.

    The mirrors are tried in order; a broken transfer is resumed. Nothing appears at OUTPUT before
    the whole file has been verified.

    manifest: the published files (CSV)
    mirrors_file: CSV with a column url
    model: the model's name
    mirrors: URLs with {file} in them, instead
    output: the file
    """
    urls = read_mirrors(mirrors_file, mirrors)
    published = looked_up(f"model of {manifest}", model, read_manifest(manifest))
    download(published, urls, output)


def read_mirrors(path: Path, given: Sequence[str] | None = None) -> list[str]:
    """Return the URL templates ``given``, else the ones of a mirrors CSV (column ``url``).

    InputError if there are none or one is no http(s) template with ``{file}``.
    """
    where = "--mirrors" if given else str(path)
    urls = [*given] if given else [row["url"] for _, row in read_rows(path, ["url"])]
    for url in urls:
        if not re.match(r"https?://", url) or "{file}" not in url:
            raise InputError(f"{where}: mirror {url!r} is no http(s) URL with {{file}} in it")
    if not urls:
        raise InputError(f"{where}: no mirror; give at least one URL with {{file}} in it")
    return urls


def download(
    published: PublishedFile,
    mirrors: Sequence[str],
    output: Path,
    attempts: int = 4,
    backoff: float = 1.0,
    timeout: float = 30.0,
    limit: float = 3600.0,
) -> None:
    """Download a ``PublishedFile`` to ``output``, from URL templates with ``{file}``.

    Temporary faults are retried up to ``attempts`` times per mirror, after ``backoff``,
    2·``backoff``, … seconds; ``timeout`` is the longest silence, in seconds, and ``limit`` the
    longest time for one mirror: then the next one goes on from what arrived. A file that is right
    is left alone. InputError, with the answer of every mirror, when all have failed.
    """
    output = Path(output).absolute()
    if output.is_file() and file_digest(output) == published.sha256:
        return
    part = output.with_name(f".{output.name}.part")
    answers = []
    for mirror in mirrors:
        url = mirror.replace("{file}", published.file)
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            _from_mirror(url, published, part, attempts, backoff, timeout, limit)
            part.replace(output)
            return
        except _Answer as answer:
            answers.append(f"{url} {answer}")
        except (OSError, _Unwritable) as error:
            raise InputError(f"{output}: cannot be written: {error}; make it writable") from error
    kept = f"; {part.stat().st_size} bytes are kept in {part.name}" if part.exists() else ""
    raise InputError(
        f"{published.file} could not be downloaded: {'; '.join(answers)}{kept}. Place the file "
        f"({published.n_bytes} bytes, sha256 {published.sha256}) at {output} by hand, or set "
        "download: false to go on without it"
    )


def _from_mirror(
    url: str,
    published: PublishedFile,
    part: Path,
    attempts: int,
    backoff: float,
    timeout: float,
    limit: float,
) -> None:
    """Fill the part with the verified file; raise _Answer after the last attempt, or the limit."""
    end = monotonic() + limit
    for attempt in range(1, attempts + 1):
        try:
            _transfer(url, published, part, timeout, end)
            return
        except _Temporary as answer:
            wait = backoff * 2 ** (attempt - 1)
            if attempt == attempts or monotonic() + wait > end:
                raise _Answer(f"{answer} ({attempt} attempts)") from None
            warnings.warn(f"{url} {answer}; trying again in {wait:g} s", stacklevel=3)
            sleep(wait)


def _transfer(url: str, published: PublishedFile, part: Path, timeout: float, end: float) -> None:
    """Complete the part by one request, from where it stands, and verify it."""
    total, have = published.n_bytes, _size(part)
    resumed = 0 < have <= total
    if have != total:
        headers = {"Accept-Encoding": "identity"}
        if resumed:
            headers["Range"] = f"bytes={have}-"
        try:
            with requests.get(url, headers=headers, stream=True, timeout=timeout) as response:
                resumed = _receive(response, published, part, have if resumed else 0, end)
        except (_Answer, _Unwritable):
            raise
        except Exception as error:  # whatever a network, or a malformed redirect, gives
            if _size(part) <= have:
                raise _Temporary(f"gave no answer ({type(error).__name__})") from None
        have = _size(part)
        if have < total:
            raise _Temporary(f"broke off at {have} of {total} bytes")
    if have == total and file_digest(part) == published.sha256:
        return
    part.unlink()
    if resumed:
        raise _Temporary("had its transfer resumed from a part of another file")
    wrong = "a file of another sha256" if have == total else f"more than {total} bytes"
    raise _Answer(f"sent {wrong}")


def _receive(
    response: requests.Response, published: PublishedFile, part: Path, have: int, end: float
) -> bool:
    """Append the body to the first ``have`` bytes of the part; return whether it continues them."""
    status = response.status_code
    if status == 416 or (
        status == 206 and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
    ):
        part.unlink(missing_ok=True)
        raise _Temporary(f"answered {status}, but not from byte {have} on")
    if status not in (200, 206):
        kind = _Temporary if status in _WORTH_A_RETRY else _Answer
        raise kind(f"answered {status} ({response.reason})")
    if status == 200:
        have = 0
    blocks = _blocks(response, end)
    first = b""
    while len(first) < HEAD_BYTES and (block := next(blocks, b"")):
        first += block
    if have == 0:
        _validate_answer(response, first, published)
    progress, size = _Progress(published), have
    try:
        file = open(part, "ab" if have else "wb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise _Unwritable(error) from error
    with file:
        for block in itertools.chain([first], blocks):
            try:
                file.write(block)
            except OSError as error:
                raise _Unwritable(error) from error
            size += len(block)
            progress.show(size)
            if size > published.n_bytes:
                break
    return have > 0


def _blocks(response: requests.Response, end: float) -> Iterator[bytes]:
    """Yield what arrives as it arrives, until the end of the time: a mirror may drip."""
    while block := response.raw.read1(_BLOCK_BYTES, decode_content=False):
        yield block
        if monotonic() > end:
            raise _Answer("was too slow; what arrived is kept")


def _validate_answer(response: requests.Response, first: bytes, published: PublishedFile) -> None:
    content = placeholder(first)
    if not content and response.headers.get("Content-Type", "").startswith("text/html"):
        content = "an HTML page"
    if content:
        raise _Answer(f"sent {content} instead of the file")
    length = response.headers.get("Content-Length")
    if length is not None and length.strip() != str(published.n_bytes):
        raise _Answer(f"sent {length} bytes, not {published.n_bytes}")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


class _Progress:
    """A line of progress on stderr: every second on a terminal, every ten in a log."""

    def __init__(self, published: PublishedFile) -> None:
        self.published, self.shown = published, monotonic()

    def show(self, have: int) -> None:
        terminal = sys.stderr.isatty()
        if monotonic() - self.shown < (1 if terminal else 10):
            return
        self.shown = monotonic()
        text = f"{self.published.file}: {have / 1e6:.0f} of {self.published.n_bytes / 1e6:.0f} MB"
        print(text, end="\r" if terminal else "\n", file=sys.stderr, flush=True)
