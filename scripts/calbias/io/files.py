"""Files before they are parsed: what is there, and lines of text tables."""

import contextlib
import csv
import hashlib
import io
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from calbias.errors import InputError

csv.field_size_limit(2**31 - 1)  # a cell may be as long as the file
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
HEAD_BYTES = 512
"""How much of a file ``placeholder`` needs to see."""


def is_stream(path: Path | str) -> bool:
    """Return whether a path is standard input or a pipe, which is read once and has no suffix."""
    text = str(path)
    if text in ("-", "/dev/stdin") or text.startswith(("/dev/fd/", "/proc/self/fd/")):
        return True
    with contextlib.suppress(OSError, ValueError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


def validate_file_exists(path: Path | str) -> None:
    """Raise InputError unless ``path`` is a file."""
    if is_stream(path):
        return
    if not os.path.isfile(path):  # False also for a name that is too long, and a circle of links
        what = "no such file"
        if os.path.isdir(path):
            what = "a folder, not a file"
        elif os.path.islink(path):
            what = f"a link to {os.readlink(path)}, which leads to no file"
        raise InputError(f"{path}: {what}; check the path")


def placeholder(head: bytes) -> str | None:
    """Return which placeholder a file is by its first bytes (a server's excuse), or None."""
    start = head[:HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"version https://git-lfs"):
        return "a git-LFS pointer"
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml", b"<!--")):
        return "an HTML page"
    return None


def validate_no_placeholder(path: Path | str) -> None:
    """Raise InputError if ``path`` holds a git-LFS pointer or an HTML page instead of data."""
    with open(path, "rb") as file:
        content = placeholder(file.read(HEAD_BYTES))
    if content:
        raise InputError(f"{path}: is {content}, not the file itself; download the file again")


def file_digest(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal; OSError if it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_digest(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of several files' digests, in hexadecimal: their order counts."""
    return hashlib.sha256("".join(map(file_digest, paths)).encode()).hexdigest()


def csv_rows(
    path: Path | str,
    data: bytes | None = None,
    delimiter: str = ",",
    remedy: str = "write it again",
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of a CSV file's header and rows; InputError names the line.

    ``data`` are the bytes of the file where they were read before; ``remedy`` is what to do about a
    damaged one.
    """
    header, line = None, 1
    source = open(path, "rb") if data is None else io.BytesIO(data)  # noqa: SIM115
    try:
        with io.TextIOWrapper(source, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True, delimiter=delimiter)
            for cells in reader:
                header = header or cells
                if cells and len(cells) != len(header):
                    raise InputError(
                        f"{path}, line {line}: {len(cells)} cell{'s' * (len(cells) > 1)}, but "
                        f"{len(header)} columns; separate cells by {_DELIMITERS[delimiter]}, quote "
                        "a cell that contains one, and write decimals with points"
                    )
                if cells:
                    yield line, cells
                line = reader.line_num + 1
    except UnicodeDecodeError:
        raise not_utf8(path, Path(path).read_bytes() if data is None else data) from None
    except csv.Error as error:
        raise InputError(f"{path}: not a CSV table ({error}); {remedy}") from None
    if not header:
        raise InputError(f"{path}: the file is empty; {remedy}")


def not_utf8(path: Path | str, data: bytes) -> InputError:
    """Return the InputError of bytes that are no UTF-8, with the line of the first."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return InputError(f"{path}: in UTF-16, not in UTF-8; save it as UTF-8")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start : error.start + 1].decode("latin-1")
        return InputError(
            f"{path}, line {line}: not in UTF-8 (in Latin-1 it would be {byte!r}); save the file "
            "as UTF-8"
        )
    return InputError(f"{path}: not in UTF-8; save it as UTF-8")


def remedy(path: Path | str) -> str:
    """Return what to do about a damaged table, in words."""
    return (
        f"write it again; if {Path(path).name} is a result of the pipeline, delete it and run "
        "snakemake again"
    )
