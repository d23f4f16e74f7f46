"""Where an audit's page and numbers are written, and which files they may replace.

The page and the JSON carry ``GENERATOR``. A file of the same name without it is somebody's work: it
is not replaced unless that is asked for.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from calbias.errors import InputError

GENERATOR = "calbias audit"
"""In the page: ``<meta name="generator" content="calbias audit">``; in the JSON: the value of the
key ``generator``, one of the first."""
_HEAD_BYTES = 4096


def output_paths(
    path: Path | str, output: Path | str | None = None, force: bool = False
) -> tuple[Path, Path]:
    """Return the paths (page, JSON) of the audit of a file, ready to be written.

    ``output`` is the stem of both, with or without .html or .json; by default it is the path
    without its suffixes, with ``_audit`` where one of the two is the file itself, and
    ``standard_input`` for ``-``. InputError where a file of the name is
    the audited one, cannot be written, or, without ``force``, was not written by an audit.
    """
    stem = _stem(path) if output is None else Path(output)
    if output is None and Path(path).suffix in (".json", ".html"):
        stem = stem.with_name(f"{stem.name}_audit")
    if output is not None and stem.suffix in (".html", ".json"):
        stem = stem.with_suffix("")
    if not stem.name:
        raise InputError(f"--output {output}: no name of a file; give a stem such as results/mine")
    paths = Path(f"{stem}.html"), Path(f"{stem}.json")
    for file in paths:
        _validate_free(file, path, force)
    _validate_writable(stem.parent)
    return paths


def validate_output(output: Path | str, inputs: Sequence[Path | str], start: str) -> None:
    """Raise InputError where one file of results cannot be written, or would replace other work.

    A file that is there is replaced only if its text begins with ``start``, as results do.
    """
    file = Path(output)
    if not file.name:
        raise InputError(f"--output {output}: no name of a file; give one such as results/mine")
    for path in inputs:
        _validate_free(file, path, force=True)
    if file.exists() and not _head_of(file).startswith(start.encode()) and _head_of(file):
        raise InputError(
            f"{file}: exists and was not written by calbias; choose another name with --output"
        )
    _validate_writable(file.parent)


def _stem(path: Path | str) -> Path:
    if str(path) == "-":
        return Path("standard_input")
    path = Path(path) if Path(path).name else Path(path).absolute()  # "." has no name
    name = path.name.removesuffix(".gz") if path.name != ".gz" else path.name
    return path.with_name(name).with_suffix("")


def _validate_free(file: Path, audited: Path | str, force: bool) -> None:
    if file.is_dir():
        raise InputError(f"{file}: a folder has this name; choose another with --output")
    if not file.exists():
        return
    if os.path.exists(audited) and file.samefile(audited):
        raise InputError(f"{file}: is the file to audit; choose another name with --output")
    head = _head_of(file)
    if not force and head and GENERATOR.encode() not in head:
        raise InputError(
            f"{file}: exists and was not written by calbias; choose another name with --output, or "
            "replace it with --force"
        )


def _head_of(file: Path) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(_HEAD_BYTES)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}; choose another name with --output") from None


def _validate_writable(folder: Path) -> None:
    """Make the folder and a file in it, which is removed."""
    trial = folder / f".{os.getpid()}-calbias"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise InputError(
            f"{folder}: no file can be written there ({error.strerror}); choose another folder "
            "with --output"
        ) from None
