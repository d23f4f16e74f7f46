"""The published logit files: which they are, and whether a file is one of them.

A file is checked in this order before anything of it is parsed: it exists; it is not a git-LFS
pointer or an HTML page; it has the size and the SHA-256 of the manifest.
"""

import json
from pathlib import Path
from typing import NamedTuple

from calbias.errors import InputError
from calbias.io.files import file_digest, validate_file_exists, validate_no_placeholder
from pipeline.tables import read_rows

MANIFEST_COLUMNS = ("model", "file", "sha256", "bytes")
_REMEDY = "download it again, or give your own outputs another file name"
_RESTORE = "restore it (git checkout), or give your own file another name"


class PublishedFile(NamedTuple):
    """A row of a manifest, and what to do where a file is not as it says."""

    model: str
    file: str
    sha256: str
    n_bytes: int
    remedy: str = _REMEDY


def read_manifest(path: Path | str) -> dict[str, PublishedFile]:
    """Return ``{model: PublishedFile}`` of a manifest CSV; InputError if it is not one."""
    published = {}
    for line, row in read_rows(path, MANIFEST_COLUMNS):
        try:
            published[row["model"]] = PublishedFile(
                row["model"], row["file"], row["sha256"].lower(), int(row["bytes"])
            )
        except ValueError as error:
            raise InputError(f"{path}, line {line}: {error}; restore the manifest") from error
    return published


def read_shipped_manifest(path: str | Path) -> dict[str, PublishedFile]:
    """Return ``{path below its folder: PublishedFile}`` of the JSON manifest of shipped files."""
    validate_file_exists(path)
    try:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
        return {
            row["file"]: PublishedFile(
                row["name"], row["file"], row["sha256"], row["bytes"], _RESTORE
            )
            for row in entries
        }
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path}: {error!r}; restore the manifest") from error


def verify_shipped(path: str | Path, manifest: str | Path) -> None:
    """Raise InputError if ``path`` is in the JSON ``manifest`` and not the file listed there.

    A file that the manifest does not list is the user's own and passes.
    """
    file, folder = Path(path).resolve(), Path(manifest).resolve().parent
    if file.is_relative_to(folder):
        listed = read_shipped_manifest(manifest)
        name = file.relative_to(folder).as_posix()
        if name in listed:
            verify(path, listed[name])


def verify_size(path: Path | str, published: PublishedFile) -> None:
    """Raise InputError unless ``path`` is a file of the ``PublishedFile``'s size."""
    validate_file_exists(path)
    validate_no_placeholder(path)
    n_bytes = Path(path).stat().st_size
    if n_bytes != published.n_bytes:
        raise InputError(
            f"{path}: has {n_bytes} bytes, the published {published.model} has "
            f"{published.n_bytes}; {published.remedy}"
        )


def verify(path: Path | str, published: PublishedFile) -> None:
    """Raise InputError unless ``path`` is, byte for byte, the ``PublishedFile``."""
    verify_size(path, published)
    sha256 = file_digest(path)
    if sha256 != published.sha256:
        raise InputError(
            f"{path}: sha256 is {sha256[:12]}…, and of the published {published.model} is "
            f"{published.sha256[:12]}…; {published.remedy}"
        )
