"""Files that no job makes: their bytes decide whether a job runs again, whatever their times say.

``mv``, ``cp -p``, ``rsync -a``, an archive and a backup keep an old time, and Snakemake compares
the bytes of newer files alone.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calbias.io.files import file_digest
from pipeline.kept_digests import kept

EXPECTED: dict[str, str] = {}
"""Digests of files that a job downloads, by their paths: what they have once they are there."""


def counts_by_bytes(path: str, flags: Mapping[str, Any]) -> bool:
    """Return whether the bytes of an input with these flags of Snakemake are a param of its job.

    They are of a ``local`` file, and of any other that is not in a folder ``results`` of the
    working folder; not of an ``ancient`` one, which says that something else of it counts.
    """
    parts = Path(path).parts
    is_made = "results" in parts[:-1] and ".." not in parts and not os.path.isabs(path)
    return not flags.get("ancient") and (bool(flags.get("local")) or not is_made)


_DIGESTS: dict[str, str] = {}


def digest(path: str) -> str:
    """Return the SHA-256 of a file's bytes, looked at once, and read once for each state of it."""
    if path not in _DIGESTS:
        try:
            state = os.stat(path)
        except OSError:
            return EXPECTED.get(path, "absent")
        numbers = state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino
        key = " ".join(map(str, (os.path.abspath(path), *numbers)))
        _DIGESTS[path] = kept(key, lambda: file_digest(path))
    return _DIGESTS[path]


def digests() -> dict[str, str]:
    """Return {path: digest} of all files that this process looked at."""
    return dict(_DIGESTS)
