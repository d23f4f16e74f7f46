"""Results are moved into place whole, with a checksum, while the run that asked for them lives.

A job of a run that was killed must not write: a later run may have another configuration. Snakemake
holds its locks as long as a run lives.
"""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from calbias.errors import InputError
from calbias.io import outputs
from calbias.io.files import file_digest
from pipeline.versions import lines_of, present

LOCKS = Path(".snakemake/locks")
_locks_at_start: set[tuple[str, int]] = set()
_inputs: list[Path] = []
_made_by: list[str] = []
MADE_BY = "# made by "  # begins a line of a record: a step and its options that are no paths


def remember_run() -> None:
    """Note the run that started this job."""
    _locks_at_start.update(_locks())


def remember_inputs(paths: Iterable[Path]) -> None:
    """Note the files that this job reads: their versions are those of its results too."""
    _inputs[:] = paths


def remember_step(line: str, joins: bool) -> None:
    """Note this job's step and options; of one that ``joins`` parts, what made them counts too."""
    parts = [each for path in _inputs for each in made_by(record_of(path))] if joins else []
    _made_by[:] = dict.fromkeys([line, *parts])


def made_by(record: Path) -> list[str]:
    """Return the steps and options that made a result, by its record."""
    text = record.read_text(encoding="utf-8") if record.is_file() else ""
    return [line.removeprefix(MADE_BY) for line in text.splitlines() if line.startswith(MADE_BY)]


def _locks() -> set[tuple[str, int]]:
    """Return the locks of the Snakemake run in this folder, by name and time."""
    with contextlib.suppress(OSError):
        return {(path.name, path.stat().st_mtime_ns) for path in LOCKS.glob("*.lock")}
    return set()


@contextlib.contextmanager
def written_whole(
    path: Path | str, checksum: bool = False, extends: bool = False
) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; move it into place only if the block succeeds.

    With ``checksum`` the SHA-256 is recorded, for ``validate_unchanged``, and the versions that the
    file was made with; with ``extends`` also those recorded before. InputError in a job whose
    Snakemake run has been unlocked.
    """
    with outputs.written_whole(path) as temporary:
        yield temporary
        if _locks_at_start - _locks():  # Snakemake was unlocked since this job started
            raise InputError(f"{path}: not written: the run that started this job was killed")
        if checksum:
            sources = [*map(record_of, _inputs), *([record_of(path)] if extends else [])]
            versions = dict.fromkeys([present(), *lines_of(sources)])
            lines = [f"{file_digest(temporary)}  {Path(path).name}", *(f"# {x}" for x in versions)]
            lines += [f"{MADE_BY}{line}" for line in _made_by]
            record_of(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_text(path: Path | str, text: str) -> None:
    """Write a text whole, in UTF-8."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def record_of(path: Path | str) -> Path:
    """Return where the checksum of a result is recorded when it is made."""
    path = Path(path)
    return path.with_name(f".{path.name}.sha256")
