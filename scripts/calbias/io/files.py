"""Files before they are parsed: are they there, their checksums, the lines of a CSV table."""

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from calbias.errors import InputError

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_DELIMITER = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
HEAD_BYTES = 512
"""How much of a file ``placeholder`` needs to see."""


def validate_file_exists(path: Path | str) -> None:
    """Raise InputError unless ``path`` is a file."""
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
        found = placeholder(file.read(HEAD_BYTES))
    if found:
        raise InputError(f"{path}: is {found}, not the file itself; download the file again")


def file_digest(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal; OSError if it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_digest(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of several files' digests, in hexadecimal: their order counts."""
    return hashlib.sha256("".join(map(file_digest, paths)).encode()).hexdigest()


def csv_rows(
    path: Path | str, data: bytes | None = None, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of a CSV file's header and rows; InputError names the line.

    ``data`` are the bytes of the file where they were read before.
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
                        f"{path}, line {line}: {len(cells)} cells, but {len(header)} columns; "
                        f"separate cells by {_DELIMITERS[delimiter]}, write decimals with points "
                        f"and quote a cell that contains {_DELIMITER[delimiter]}"
                    )
                if cells:
                    yield line, cells
                line = reader.line_num + 1
    except UnicodeDecodeError:
        raise InputError(f"{path}: not in UTF-8; save it as UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}: not a CSV table ({error}); {remedy(path)}") from None
    if not header:
        raise InputError(f"{path}: the file is empty; {remedy(path)}")


def remedy(path: Path | str) -> str:
    """Return what to do about a damaged table, in words."""
    return (
        f"write it again; if {Path(path).name} is a result of the pipeline, delete it and run "
        "snakemake again"
    )
