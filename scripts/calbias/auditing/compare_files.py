"""Two models or more on the same rows, from their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calbias.auditing.compare import compare
from calbias.auditing.comparison.board import Board, pair_level
from calbias.auditing.comparison.comparison_result import CompareOptions
from calbias.auditing.data import EVENT, Data
from calbias.auditing.description import sentences
from calbias.auditing.inputs import read_data
from calbias.auditing.results import Comparison
from calbias.auditing.subgroups.segments import with_codes
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.errors import InputError
from calbias.reading.columns import Columns, looked_up_column


def compare_files(
    *files: Path | str,
    score: Sequence[str] = (),
    columns: Columns | None = None,
    id: str | None = None,
    by: Sequence[str] = (),
    codes: Sequence[str] = (),
    top_label: bool = False,
    confidence_level: float = CONFIDENCE_LEVEL,
    seed: int = 0,
    within: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison | Board:
    """Return the Comparison of two models as ``calbias audit`` reads them, or the Board of more.

    Parameters
    ----------
    files : path
        One for each model, or one file with a column of scores for each.
    score : sequence of str
        The column of the scores, or one column for each model.
    columns : Columns, optional
        The other columns that the user names.
    id : str, optional
        The column that joins the rows of the files; by default they have the same order. Rows of
        one file alone are left out.
    by, codes : sequence of str
        Columns of the first file that name subgroups, and those whose numbers are not cut.
    within : float, optional
        Of two models a difference of the errors, a fraction: is the first no worse by more?
    progress : callable, optional
        Called with a short text before each step.

    Raises
    ------
    InputError
        Where one file holds an event and the other top-label scores, where the labels of an event
        or the clusters differ, where ids repeat or none is in both.
    """
    models = _read(files, score, columns or Columns(), id, by, top_label)
    first, k = models.data[0], len(models.data)
    if k > 2 and within is not None:
        raise InputError("--within asks about two models: name two of them")
    segments = with_codes(_subgroups(first, by), codes) or None

    def compared(one: int, other: int, level: float) -> Comparison:
        hits = [models.data[each].single.hit for each in (one, other)]
        return compare(
            models.data[one].single.score, models.data[other].single.score,
            hits[0] if first.kind == EVENT else (hits[0], hits[1]),
            clusters=first.clusters, by=segments, confidence_level=level, seed=seed,
            names=(models.names[one], models.names[other]), progress=progress,
        )  # fmt: skip

    if k == 2:
        pair = compared(0, 1, confidence_level)
        options = pair.options._replace(within=within)
        return replace(
            pair, options=options, notes=models.notes, warnings=(*models.warnings, *pair.warnings)
        )
    level = pair_level(confidence_level, k)
    pairs = tuple(compared(*each, level) for each in combinations(range(k), 2))
    options = CompareOptions(confidence_level, seed)
    return Board(pairs, options, models.notes, (*models.warnings, *pairs[0].warnings))


class _Models(NamedTuple):
    """Models on the same rows: their names, their data, and notes and warnings of the readers."""

    names: list[str]
    data: list[Data]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def _read(
    files: Sequence[Path | str], score: Sequence[str], columns: Columns, id: str | None,
    by: Sequence[str], top_label: bool,
) -> _Models:  # fmt: skip
    """Return the models of files, or of columns of one file."""
    is_one_file = len(files) == 1
    k = len(score) if is_one_file else len(files)
    if k < 2 or (not is_one_file and len(score) not in (0, 1, k)):
        raise InputError(
            "models are compared: give a file for each, and one --score for all or one for each; "
            "or one file with --score for each model"
        )
    if sum(str(file) in ("-", "/dev/stdin") for file in files) > 1:
        raise InputError("one of the files can be standard input: name the others")
    paths = [*files] * (k if is_one_file else 1)
    scores: list[str | None] = [*score] if len(score) == k else [*score, None][:1] * k
    data = []
    for number, (file, name) in enumerate(zip(paths, scores, strict=True)):
        others = [each for each in score if each != name] if is_one_file else []
        ids = [id] if id and not is_one_file else []
        used = [*ids, *(by if number == 0 else ()), *others]
        data.append(
            read_data(file, used, columns=replace(columns, score=name), top_label=top_label)
        )
    read = [*zip(dict.fromkeys(paths), data, strict=False)]
    notes = tuple(f"{file}: {note}" for file, each in read for note in each.notes)
    warnings = tuple(
        f"{file}: {text}" for file, each in read for text in sentences(each.warnings or ())
    )
    data = _joined(data, id) if id and not is_one_file else _shared(data)
    for file, each in zip(paths[1:], data[1:], strict=True):
        _validate_same(data[0], each, paths[0], file)
    names = [*score] if is_one_file else names_of_files(*files)
    return _Models(names, data, notes, warnings)


def _validate_same(one: Data, other: Data, first: Path | str, second: Path | str) -> None:
    """Raise InputError where the rows of two files are not the same."""
    if one.kind != other.kind:
        raise InputError(
            f"{first} holds {_in_words(one.kind)} and {second} {_in_words(other.kind)}: give "
            "both in one form, or with --top-label where two classes have their probabilities"
        )
    a, b = one.single.hit, other.single.hit
    if a.size != b.size:
        raise InputError(
            f"{a.size} rows in {first} and {b.size} in {second}: give the same rows, or join them "
            "with --id"
        )
    if one.kind == EVENT and (a != b).any():
        row = int(np.argmax(a != b))
        raise InputError(
            f"{second}: row {row} (counted from 0) has label {b[row]}, and {a[row]} in {first}: "
            "give the same rows in the same order, or join them with --id"
        )
    clusters = [data.clusters for data in (one, other) if data.clusters is not None]
    if len(clusters) == 2 and not np.array_equal(clusters[0], clusters[1]):
        raise InputError(f"{second}: the clusters differ from {first}: give the same rows")


def names_of_files(*files: Path | str) -> list[str]:
    """Return the stems of files or, where two are the same, the folders that differ."""
    names = ("standard input" if str(file) == "-" else str(file) for file in files)
    parts = [Path(name.removesuffix(".gz")).with_suffix("").parts for name in names]
    for words in zip(*map(reversed, parts), strict=False):
        if len({*words}) == len(words):
            return [*words]
    return [str(file) for file in files]


def _subgroups(data: Data, by: Sequence[str]) -> dict[str, Any]:
    """Return the columns of subgroups, in the order in which they were named."""
    names = [looked_up_column(name, [*data.by], "--by") for name in by]
    return {name: data.by[name] for name in names}


def _joined(data: Sequence[Data], id: str) -> list[Data]:
    """Return the rows of all with the same ids, in one order."""
    texts = [np.asarray(next(iter(each.by.values()))).astype(str) for each in data]
    for ids in texts:
        values, counts = np.unique(ids, return_counts=True)
        if (counts > 1).any():
            raise InputError(
                f"--id {id}: {values[np.argmax(counts)]} stands in several rows of a file; name a "
                "column without repeats"
            )
    shared = reduce(np.intersect1d, texts)
    if not shared.size:
        raise InputError(f"--id {id}: no value is in all files; name the column of the rows' ids")
    return [_at(each, ids, shared) for each, ids in zip(data, texts, strict=True)]


def _shared(data: Sequence[Data]) -> list[Data]:
    """Return the rows that none of the files of the same rows lacks."""
    rows = [
        each.place.rows for each in data if each.place is not None and each.place.rows is not None
    ]
    if len(rows) < len(data):
        return [*data]
    shared = reduce(np.intersect1d, rows)
    if not shared.size:
        raise InputError("no row has a score and an outcome in all: join the files by --id")
    return [_at(each, chosen, shared) for each, chosen in zip(data, rows, strict=True)]


def _at(data: Data, values: np.ndarray, shared: np.ndarray) -> Data:
    """Return the rows of which the values (n,), each once, are shared, in the order of these."""
    order = np.argsort(values)
    return data.part(order[np.searchsorted(values[order], shared)])


def _in_words(kind: str) -> str:
    return "the probabilities of an event" if kind == EVENT else "top-label scores"
