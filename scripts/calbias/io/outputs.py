"""Files that are written: their names, which ones may be replaced, and all or none of them.

Each file that calbias writes says so in a place of its own: a page in the first ``meta`` of its
head, JSON in its first key, the table of ``plan`` in its last column, a recalibrated table in its
last columns. A file of the same name that does not is somebody's work: it is not replaced unless
that is asked for.
"""

import contextlib
import csv
import io
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from calbias.errors import InputError
from calbias.io.files import is_stream

GENERATOR = "calbias {}"
"""What a page, JSON and a planned table call the command that wrote them."""
ADDED, SCORE, CLASS = "calbias_", "calbias_score", "calbias_p_"
"""The columns that ``recalibrate --apply`` adds: one of scores, or one of each class."""
PAGE = (".html", ".json")
"""What an audit, a comparison and a watched file have: a page, and its numbers."""
_OF_PAGE = re.compile(
    rb'\A<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*'
    rb'<meta name="generator" content="calbias [a-z]+">'
)
_OF_JSON = re.compile(rb'\A\{\s*"generator": "calbias [a-z]+(?: --state)?"')
_HEAD_BYTES = 1 << 20
_DELIMITERS = ",;\t|"


def output_paths(
    read: Path | str | Sequence[Path | str],
    output: Path | str | None = None,
    force: bool = False,
    suffixes: Sequence[str] = PAGE,
    ending: str = "",
) -> tuple[Path, ...]:
    """Return the files that a command writes, one a suffix, ready to be written.

    ``output`` is their stem, with or without a suffix of theirs; by default it is the first file
    that is read, without its suffixes, and the ``ending``, with ``_audit`` where it would be
    replaced, and ``standard_input`` for ``-``. InputError where a file of the name is one that is
    read, cannot be written, or, without ``force``, was not written by calbias.
    """
    inputs = [read] if isinstance(read, str | Path) else [*read]
    if output is None:
        stem = _stem(inputs[0])
        is_read = not ending and Path(inputs[0]).suffix in suffixes
        stem = stem.with_name(f"{stem.name}{'_audit' if is_read else ending}")
    else:
        _validate_name(output, "--output", "results/mine")
        stem = Path(output)
        stem = stem.with_suffix("") if stem.suffix in suffixes else stem
    paths = tuple(Path(f"{stem}{suffix}") for suffix in suffixes)
    for file in paths:
        _validate_free(file, inputs, force)
    _validate_writable(stem.parent)
    return paths


def validate_state(state: Path | str, read: Path | str, others: Sequence[Path]) -> None:
    """Raise InputError where a file that is read and written again would replace other work.

    ``others`` are written too.
    """
    _validate_name(state, "--state", "watch.json")
    for other in others:
        if os.path.realpath(other) == os.path.realpath(state):
            raise InputError(
                f"{state}: --state and the page or its numbers have this name; choose another one "
                "with --state"
            )
    _validate_free(Path(state), [read], option="--state")
    _validate_writable(Path(state).parent, "--state")


def _stem(path: Path | str) -> Path:
    if is_stream(path):
        return Path("standard_input")
    path = Path(path) if Path(path).name else Path(path).absolute()  # "." has no name
    name = path.name.removesuffix(".gz") if path.name != ".gz" else path.name
    return path.with_name(name).with_suffix("")


def _validate_name(path: Path | str, option: str, example: str) -> None:
    text = str(path)
    is_device = is_stream(text) or text.startswith("/dev/")
    if "\0" in text or is_device or Path(text).name in ("", ".."):
        raise InputError(f"{option} {text}: no name of a file; give one such as {example}")


def _validate_free(
    file: Path, read: Sequence[Path | str], force: bool = False, option: str = "--output"
) -> None:
    remedy = f"choose another name with {option}"
    try:
        if file.is_dir():
            raise InputError(f"{file}: a folder has this name; {remedy}")
        if not file.exists():
            return
        if not file.is_file():
            raise InputError(f"{file}: no regular file; {remedy}")
        if any(os.path.exists(path) and file.samefile(path) for path in read):
            raise InputError(f"{file}: is a file that is read; {remedy}")
        with open(file, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:  # also of a name that is too long
        raise InputError(f"{file}: {error.strerror}; {remedy}") from None
    if not force and head and not is_of_calbias(head):
        or_force = ", or replace it with --force" if option == "--output" else ""
        raise InputError(f"{file}: exists and was not written by calbias; {remedy}{or_force}")


def is_of_calbias(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a page, JSON or a table of calbias."""
    if _OF_PAGE.match(head) or _OF_JSON.match(head):
        return True
    text = head.decode("utf-8-sig", "replace")
    with contextlib.suppress(csv.Error):
        for delimiter in _DELIMITERS:
            rows = [*islice(csv.reader(io.StringIO(text), delimiter=delimiter), 2)]
            if len(rows) == 2 and len(rows[0]) == len(rows[1]) > 1 and _is_table(*rows):
                return True
    return False


def _is_table(names: list[str], cells: list[str]) -> bool:
    """Return whether a header and the first row end as those of a table of calbias."""
    if names[-1] == "generator":
        return cells[-1] in (GENERATOR.format("plan"), GENERATOR.format("compare"))
    added = [name for name in names if name.startswith(ADDED)]
    is_last = names[-len(added) :] == added
    is_added = added == [SCORE] or (len(added) > 1 and all(n.startswith(CLASS) for n in added))
    return is_last and is_added and all(map(_is_probability, cells[-len(added) :]))


def _is_probability(cell: str) -> bool:
    with contextlib.suppress(ValueError):
        return not cell or 0.0 <= float(cell) <= 1.0
    return False


def _validate_writable(folder: Path, option: str = "--output") -> None:
    """Make the folder, and a file in it that has no name or is removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InputError(
            f"{folder}: no file can be written there ({error.strerror}); choose another folder "
            f"with {option}"
        ) from None


@contextlib.contextmanager
def written_whole(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; move it into place only if the block succeeds.

    Nobody can have made a link of its name before.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # keeps the suffix: writers look at it; a name may be as long as the system allows
    end = path.name.encode("utf-8", "surrogateescape")[-150:].decode("utf-8", "ignore")
    temporary = path.with_name(f".{os.getpid()}-{secrets.token_hex(4)}-{end}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        # a full disk names no file; errors of a download are OSErrors without a number
        if error.errno is not None and error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_texts(
    texts: Mapping[Path, str], progress: Callable[[str], object] = lambda text: None
) -> None:
    """Write texts whole, in UTF-8, in this order; none where one of them cannot be written."""
    progress(f"writing {' and '.join(map(str, texts))}")
    with contextlib.ExitStack() as moved:  # the last entered is moved first
        for path, text in reversed([*texts.items()]):
            temporary = moved.enter_context(written_whole(path))
            temporary.write_text(text, encoding="utf-8", errors="replace")
