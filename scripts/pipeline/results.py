"""Results are moved into place whole, with a checksum, while the run that asked for them lives.

A job of a run that was killed must not write: a later run may have another configuration. Snakemake
holds its locks as long as a run lives.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from calbias.errors import InputError
from calbias.io import command_line
from calbias.io.files import file_digest

LOCKS = Path(".snakemake/locks")
_locks_at_start: set[tuple[str, int]] = set()


def remember_run() -> None:
    """Note the run that started this job."""
    _locks_at_start.update(_locks())


def _locks() -> set[tuple[str, int]]:
    """Return the locks of the Snakemake run in this folder, by name and time."""
    with contextlib.suppress(OSError):
        return {(path.name, path.stat().st_mtime_ns) for path in LOCKS.glob("*.lock")}
    return set()


@contextlib.contextmanager
def written_whole(path: Path | str, checksum: bool = False) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; move it into place only if the block succeeds.

    With ``checksum`` the SHA-256 is recorded, for ``validate_unchanged``. InputError in a job whose
    Snakemake run has been unlocked.
    """
    with command_line.written_whole(path) as temporary:
        yield temporary
        if _locks_at_start - _locks():  # Snakemake was unlocked since this job started
            raise InputError(f"{path}: not written: the run that started this job was killed")
        if checksum:
            line = f"{file_digest(temporary)}  {Path(path).name}\n"
            record_of(path).write_text(line, encoding="utf-8")


def write_text(path: Path | str, text: str) -> None:
    """Write a text whole, in UTF-8."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def record_of(path: Path | str) -> Path:
    """Return where the checksum of a result is recorded when it is made."""
    path = Path(path)
    return path.with_name(f".{path.name}.sha256")
