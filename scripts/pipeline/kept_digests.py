"""Digests of files that are kept for the next start, by a key that tells a file's state."""

import contextlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from pipeline.write_results import written_whole

STORE = Path(".snakemake/calbias_digests.json")


def kept(key: str, make: Callable[[], str]) -> str:
    """Return the digest under a key; made, and kept, where there is none."""
    if key not in _known():
        _known()[key] = make()
    return _known()[key]


def save() -> None:
    """Keep the digests for the next start, where the folder can be written."""
    with contextlib.suppress(OSError):
        if STORE.parent.is_dir() and _known() != _stored():
            with written_whole(STORE) as temporary:
                temporary.write_text(json.dumps(_known()), encoding="utf-8")


@cache
def _known() -> dict[str, str]:
    return _stored()


def _stored() -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError):
        stored = json.loads(STORE.read_text(encoding="utf-8"))
        if isinstance(stored, dict):
            return stored
    return {}
