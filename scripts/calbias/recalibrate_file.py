"""``calbias recalibrate``: a map from a file of predictions, and recalibrated scores of a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from calbias.auditing.audit import audit_data
from calbias.auditing.data import Options
from calbias.auditing.description import sentences
from calbias.auditing.outcome_columns import OutcomeColumns, read_outcomes
from calbias.auditing.subgroups.segments import with_codes
from calbias.defaults import COUNTS, LOGITS, ODDS, PERCENT, PROBABILITIES
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.errors import InputError
from calbias.io.files import is_stream, validate_file_exists
from calbias.io.outputs import CLASS, SCORE, output_paths, write_texts
from calbias.reading.cells import OF_CLASS, OF_ROW, is_value, numbers_of, texts_of
from calbias.reading.checks import checked_values
from calbias.reading.class_group import affixes
from calbias.reading.columns import DROP, Columns, listed, looked_up_column
from calbias.reading.forms import as_probabilities, as_scores, common_form, form_of
from calbias.reading.output_file import Fold, Place
from calbias.reading.scores import score_column
from calbias.reading.table import Table
from calbias.reading.table_files import TEXT, read_table_and_cells
from calbias.recalibration.methods import validate_method
from calbias.recalibrator import Recalibrator, fitted_to
from calbias.row_maps import RowMap, RowMaps, read_map, rows_of_option
from calbias.subgroup_maps import maps_by_subgroup

_ENOUGH = 10  # logits or odds that would not all be between 0 and 1
Say = Callable[[str], Any]


def recalibrate_file(
    path: Path | str,
    method: str,
    columns: Columns,
    top_label: bool,
    seed: int,
    output: str | None,
    force: bool,
    say: Say,
    progress: Say,
    by: Sequence[str] = (),
    codes: Sequence[str] = (),
    outcomes: OutcomeColumns | None = None,
) -> list[str]:
    """Write the map of a file; return a line for each map that says what it gains.

    With columns ``by`` there is a map of each subgroup that an audit finds apart, and one of the
    other rows. ``say`` gets the notes on how the file was read, and how the map is applied;
    ``outcomes`` are columns of follow-up, weights or a judge.
    """
    validate_method(method)
    (file,) = output_paths(path, output, force, (".json",), "_map")
    data = read_outcomes(path, by, columns, top_label, outcomes or OutcomeColumns())
    data = replace(data, by=with_codes(data.by or {}, codes) or None)
    for note in (*data.notes, *sentences(data.warnings or ())):
        say(note)
    if by:
        progress("subgroups")
        maps, lines = maps_by_subgroup(data, audit_data(data, Options(seed=seed)), method, seed)
    else:
        recalibrator = fitted_to(data, method, top_label, seed)
        rows = (columns.rows,) if isinstance(columns.rows, str) else columns.rows or ()
        maps, lines = RowMaps((RowMap(rows_of_option(rows), recalibrator),)), []
        lines = [recalibrator.sentence_]
    write_texts({file: maps.to_json() + "\n"}, progress)
    say(f"--apply {quote(str(file))} makes recalibrated scores of another file")
    return lines


def apply_file(
    path: Path | str,
    map_path: Path | str,
    columns: Columns,
    output: str | None,
    force: bool,
    write: Say,
    progress: Say,
) -> None:
    """Write a table with its recalibrated scores, in columns whose names start with ``calbias_``.

    ``write`` gets the text where there is no ``output``.
    """
    if output is not None:
        suffix = Path(output).suffix
        suffixes = [suffix if suffix in TEXT else ".csv"]
        (file,) = output_paths([path, map_path], output, force, suffixes)
    maps = read_map(map_path)
    if not is_stream(path) and not Path(path).is_dir():
        validate_file_exists(path)
    table, location, (header, *rows), delimiter = read_table_and_cells(path)
    added = _added(maps, table, location, columns, map_path)
    if taken := [name for name in added if name in table]:
        raise location.error(f"has a column {taken[0]} already; drop it")
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow([*header, *added])
    new = zip(*(column.tolist() for column in added.values()), strict=True)
    for row, values in zip(rows, new, strict=True):
        writer.writerow([*row, *("" if value != value else value for value in values)])
    if output is not None:
        write_texts({file: buffer.getvalue()}, progress)
    else:
        write(buffer.getvalue())


def _added(
    maps: RowMaps, table: Table, location: Place, columns: Columns, map_path: Path | str
) -> dict[str, np.ndarray]:
    """Return the columns that maps make of a table, each of the rows that it is for."""
    used = {name: looked_up_column(name, [*table], location.file) for name in maps.columns}
    cells = {name: texts_of(table, column) for name, column in used.items()}
    n = len(table[next(iter(table))])
    added = dict[str, np.ndarray]()
    for recalibrator, rows in maps.parts(cells, n, location.error):
        part = table.part(rows)
        part_location = location if rows.size == n else location.part_of(rows)
        for name, values in recalibrated_columns(
            recalibrator, part, part_location, columns, map_path
        ).items():
            added.setdefault(name, np.full(n, np.nan))[rows] = values
    if not added:
        raise location.error("no row with a score")
    return added


def recalibrated_columns(
    recalibrator: Recalibrator,
    table: Table,
    location: Place,
    columns: Columns,
    map_path: Path | str,
) -> dict[str, np.ndarray]:
    """Return the recalibrated scores, or probabilities of all classes, by column; NaN if missing.

    ``columns.missing`` are the values that stand for no score.
    """
    classes = recalibrator.columns_
    names = _columns_of_map(recalibrator, [*table], location, columns, map_path)
    n = len(table[names[0]])
    is_there = np.ones(n, bool)
    for name in names if columns.missing else ():
        texts = texts_of(table, name)
        is_there &= [not _is_missing(text, columns.missing) for text in texts]
    if not is_there.any():
        raise location.error("no row with a score")
    rows = np.flatnonzero(is_there)
    if rows.size < n:
        table, location = table.part(rows), location.part_of(rows)
    form = columns.values or recalibrator.read_as_
    values = numbers_of(table, names, location, OF_CLASS if classes else OF_ROW, form)
    if classes:
        values = _of_classes(recalibrator, checked_values(values, location), location, columns)
    else:
        if columns.values is None:
            _validate_remembered(form, values, names[0], location)
        values = as_scores(values, form, location.error)
        values, _ = scores_and_hits(values, np.zeros(len(values)), location.error)
    predicted = recalibrator.predict(values)
    result = np.full((n, *predicted.shape[1:]), np.nan)
    result[rows] = predicted
    if result.ndim == 1:
        return {SCORE: result}
    start, end = map(len, affixes(classes))
    words = [name[start : len(name) - end] for name in classes]
    return {f"{CLASS}{word}": result[:, k] for k, word in enumerate(words)}


def _columns_of_map(
    recalibrator: Recalibrator,
    names: list[str],
    location: Place,
    columns: Columns,
    map_path: Path | str,
) -> list[str]:
    """Return the column of scores, named or that of the fit, or the columns of the classes."""
    classes = recalibrator.columns_
    fitted = list(classes)
    if recalibrator.n_classes_ is None:
        if columns.score or recalibrator.score_ is None:
            name = columns.score or score_column(names, location)
            return [looked_up_column(name, names, location.file)]
        fitted = [recalibrator.score_]
    elif not classes:
        raise InputError(
            f"{map_path}: the map is of {recalibrator.n_classes_} classes without names: fit it on "
            "a table whose columns are the classes, or apply it in Python"
        )
    elif columns.score is not None:
        raise InputError(f"--score: the map is of the columns {', '.join(classes):.200}")
    existing = {name.casefold() for name in names}
    if missing := [name for name in fitted if name.casefold() not in existing]:
        remedy = f"name the column of the scores by --score, one of {listed(names)}"
        raise InputError(
            f"{location.file}: there is no column {missing[0]}, which the map was made from; "
            + (f"give the columns {listed(classes)}" if classes else remedy)
        )
    return [looked_up_column(name, names, location.file) for name in fitted]


def _validate_remembered(form: str | None, values: np.ndarray, name: str, location: Place) -> None:
    """Raise InputError where scores look like probabilities, and those of the fit were none."""
    is_unlikely = form == PERCENT or (form in (LOGITS, ODDS) and values.size >= _ENOUGH)
    if is_unlikely and np.all((values >= 0) & (values <= 1)):
        raise location.error(
            f"column {name} was read as {form} in the fit, and all of it is between 0 and 1; say "
            f"by --values what it is, probabilities or {form}"
        )


def _of_classes(
    recalibrator: Recalibrator, values: np.ndarray, location: Place, columns: Columns
) -> np.ndarray:
    """Return values (n, K) in the form of the map; those that can be two are what the fit read."""
    is_of_shares, remembered = recalibrator.values == PROBABILITIES, recalibrator.read_as_
    form = columns.values or form_of(values)
    if columns.values is None and is_of_shares:
        if remembered in (PERCENT, COUNTS, ODDS) and form != PROBABILITIES:
            form = remembered
        else:
            form = common_form([Fold(values, np.zeros(len(values), np.int64), location)])
    if is_of_shares:
        if form == LOGITS:
            raise location.error("the map is of probabilities, and the columns are logits")
        return as_probabilities(values, str(form), location)[0]
    if form == PROBABILITIES or columns.values not in (None, LOGITS):
        raise location.error(f"the map is of logits, and the columns are {form}")
    return values.astype(np.float32)


def _is_missing(text: str | None, missing: Iterable[str]) -> bool:
    if text is None:
        return DROP in missing
    return any(is_value(text, value) for value in missing if value != DROP)
