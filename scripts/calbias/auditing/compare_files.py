"""Two models on the same rows, from their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calbias.auditing.compare import compare
from calbias.auditing.description import sentences
from calbias.auditing.inputs import EVENT, Data, read_data
from calbias.auditing.results import Comparison
from calbias.auditing.subgroups.segments import with_codes
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.errors import InputError
from calbias.reading.columns import Columns, looked_up_column


def compare_files(
    first: Path | str,
    second: Path | str | None = None,
    *,
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
) -> Comparison:
    """Return the Comparison of two files as ``calbias audit`` reads them.

    Parameters
    ----------
    first, second : path
        Without ``second`` two columns of the first file are compared.
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
        A difference of the errors, a fraction: is the first no worse by more?
    progress : callable, optional
        Called with a short text before each step.

    Raises
    ------
    InputError
        Where one file holds an event and the other top-label scores, where the labels of an event
        or the clusters differ, where ids repeat or none is in both.
    """
    if len(score) > 2 or (second is None and len(score) < 2):
        raise InputError(
            "two models are compared: give two files, or one file with --score for each model"
        )
    if {str(first), str(second)} <= {"-", "/dev/stdin"}:
        raise InputError("one of two files can be standard input: name the other")
    files = first, first if second is None else second
    scores = [*score, *score] if score else [None] * 2
    columns_of_each = [replace(columns or Columns(), score=name) for name in scores[:2]]
    used: list[tuple[str, ...]] = [(*by,), ()]
    if second is None:  # the other model's score is used too
        used = [(*by, score[1]), (score[0],)]
    elif id:
        used = [(id, *by), (id,)]
    one, other = (
        read_data(file, names, columns=each, top_label=top_label)
        for file, names, each in zip(files, used, columns_of_each, strict=True)
    )
    read = [*zip(dict.fromkeys(files), (one, other), strict=False)]
    notes = [f"{file}: {note}" for file, data in read for note in data.notes]
    warnings = [f"{file}: {text}" for file, data in read for text in sentences(data.warnings or ())]
    one, other = _joined(one, other, id) if id and second is not None else _shared(one, other)
    hits = _hits(one, other, *files)
    first_name, second_name = names_of_files(*files) if second is not None else score
    comparison = compare(
        one.single.score, other.single.score, hits,
        clusters=one.clusters, by=with_codes(_subgroups(one, by), codes) or None,
        confidence_level=confidence_level, seed=seed, names=(first_name, second_name),
        progress=progress,
    )  # fmt: skip
    options = comparison.options._replace(within=within)
    return replace(comparison, options=options, notes=(*notes,), warnings=(*warnings,))


def _hits(one: Data, other: Data, first: Path | str, second: Path | str) -> Any:
    """Return the events of both, or the hits of each; InputError where rows are not the same."""
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
    return a if one.kind == EVENT else (a, b)


def names_of_files(first: Path | str, second: Path | str) -> tuple[str, str]:
    """Return the stems of two files or, where these are the same, the folders that differ."""
    names = ("standard input" if str(file) == "-" else str(file) for file in (first, second))
    parts = [Path(name.removesuffix(".gz")).with_suffix("").parts for name in names]
    for one, other in zip(*map(reversed, parts), strict=False):
        if one != other:
            return one, other
    return str(first), str(second)


def _subgroups(data: Data, by: Sequence[str]) -> dict[str, Any]:
    """Return the columns of subgroups, in the order in which they were named."""
    names = [looked_up_column(name, [*data.by], "--by") for name in by]
    return {name: data.by[name] for name in names}


def _joined(one: Data, other: Data, id: str) -> tuple[Data, Data]:
    """Return the rows of both with the same ids, in one order."""
    texts = [np.asarray(next(iter(data.by.values()))).astype(str) for data in (one, other)]
    for ids in texts:
        values, counts = np.unique(ids, return_counts=True)
        if (counts > 1).any():
            raise InputError(
                f"--id {id}: {values[np.argmax(counts)]} stands in several rows of a file; name a "
                "column without repeats"
            )
    shared, *positions = np.intersect1d(texts[0], texts[1], return_indices=True)
    if not shared.size:
        raise InputError(f"--id {id}: no value is in both files; name the column of the rows' ids")
    return one.part(positions[0]), other.part(positions[1])


def _shared(one: Data, other: Data) -> tuple[Data, Data]:
    """Return the rows that neither of two files of the same rows lacks."""
    rows = [data.place and data.place.rows for data in (one, other)]
    if rows[0] is None or rows[1] is None:
        return one, other
    shared, *positions = np.intersect1d(rows[0], rows[1], return_indices=True)
    if not shared.size:
        raise InputError("no row has a score and an outcome in both: join the files by --id")
    return one.part(positions[0]), other.part(positions[1])


def _in_words(kind: str) -> str:
    return "the probabilities of an event" if kind == EVENT else "top-label scores"
