"""The reading of a table: facts of its columns, and what tells readings apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calbias.reading.cells import (
    OF_CLASS,
    is_value,
    number_in,
    numbers_of,
)
from calbias.reading.class_groups import sums_to_1
from calbias.reading.columns import Columns, looked_up_column
from calbias.reading.facts import Facts
from calbias.reading.folds_of_readings import fold_of, judged_by
from calbias.reading.forms import forms_of
from calbias.reading.harness_logs import LOG, QUESTION
from calbias.reading.judged_rows import named_rows, never, part_of, rows_without_gaps
from calbias.reading.long_form import validate_is_wide
from calbias.reading.output_file import Place, are_folds, is_word
from calbias.reading.question import JudgedRows, chosen, of_rows
from calbias.reading.reading import CLASSES, Header, Reading
from calbias.reading.table import Table
from calbias.reading.words import FOLD, PARTS, RESULTS, plain

_ROLES = ("score", "hit", "label", "prediction")
_MOST_FOLDS = 12


def named_columns(
    table: Table, columns: Columns, by: Sequence[str], location: Place
) -> tuple[Columns, tuple[str, ...], tuple[str, ...], bool]:
    """Return the columns that the user names as a table has them, and whether a log repeats."""
    names = [*table]
    by, ids = (
        tuple(dict.fromkeys(looked_up_column(name, names, location.file) for name in each))
        for each in (by, columns.cluster)
    )
    is_log = location.part == LOG
    has_several = is_log and np.unique(table[QUESTION]).size < table.n_rows
    roles: dict[str, Any] = {
        role: looked_up_column(name, names, location.file)
        for role in _ROLES
        if (name := getattr(columns, role))
    }
    if is_log:
        roles = {"score": "score", "hit": "hit"}
    if repeated := [name for name in (*roles.values(), *by, *ids) if name in table.repeated]:
        raise location.error(f"two columns are called {repeated[0]}; rename one, or drop it")
    return replace(columns, **roles), by, ids or ((QUESTION,) if has_several else ()), has_several


def reading_of(
    table: Table, columns: Columns, apart: Sequence[str], location: Place
) -> tuple[Reading, str | None]:
    """Return the reading of a table, and its column of folds; Question where there are several."""
    facts_by_name = dict[str, Facts]()

    def facts(name: str) -> Facts:
        if name not in facts_by_name:
            facts_by_name[name] = table.facts(name)
        return facts_by_name[name]

    def sums(names: Sequence[str], is_tight: bool) -> bool:
        return sums_to_1(_matrix(table, names, location), is_tight)

    def forms(names: Sequence[str]) -> list[str]:
        values = _matrix(table, names, location)
        return forms_of(values[~np.isnan(values).any(axis=1)])

    free = [name for name in table if name not in table.repeated]
    fold = None if columns.rows else next(filter(lambda n: _is_fold(n, facts(n)),
                                          [n for n in free if plain(n) in FOLD]), None)  # fmt: skip
    aside = frozenset((*apart, *([fold] if fold else ()))) - {getattr(columns, r) for r in _ROLES}
    used = {getattr(columns, role) for role in _ROLES}
    words = {"score", "hit", "label", "prediction"}
    aside = frozenset(name for name in aside if plain(name) not in words or name in used)
    header = Header(
        (*free,), facts, sums, forms, location.file, aside,
        lambda name: numbers_of(table, [name], location, OF_CLASS), table.repeated,
    )  # fmt: skip

    def judge(reading: Reading, rows: tuple[str, ...] = ()) -> JudgedRows:
        part, part_location = table.head(), location
        if rows:
            kept_rows, _ = named_rows(part, rows, part.n_rows, location)
            part, part_location = part_of(part, location, kept_rows)
        if missing := (*columns.missing, *reading.missing):
            kept, _ = rows_without_gaps(part, reading, missing)
            part, part_location = part_of(part, location, np.flatnonzero(kept))
        return judged_by(fold_of(part, reading, part_location), reading)

    validate_is_wide(table, header, (*apart, *used), location)
    reading = chosen(header, columns, location, judge)
    may_be_folds = [n for n in free if n not in (*apart, *used, *reading.names)]
    if not fold and not columns.rows:
        for name in [n for n in may_be_folds if _may_be_fold(n, facts(n))]:
            rows = [f"{name}={value}" for value in facts(name).values or ()]
            raise of_rows(reading, rows, lambda each: judge(reading, (each,)), location)
    values = facts(str(reading.outcome)).values if columns.event and reading.outcome else None
    if values and reading.score and not any(is_value(each, columns.event or "") for each in values):
        raise never(table, str(reading.outcome), columns.event or "", location)
    if reading.kind == CLASSES and table.repeated:
        raise location.error(f"two columns are called {table.repeated[0]}; rename one, or drop it")
    return reading, fold


def _is_fold(name: str, facts: Facts) -> bool:
    return bool(facts.values) and not facts.has_gaps and are_folds(facts.values or ())


def _may_be_fold(name: str, facts: Facts) -> bool:
    """Return whether a column may say which rows are of the test: is_test, or folds in words."""
    values = facts.values or ()
    if not 1 < len(values) <= _MOST_FOLDS:
        return False
    fold = plain(name).removeprefix("is_").removeprefix("in_").removesuffix("_set")
    if plain(name) in (*FOLD, "usage"):
        return facts.labels <= PARTS or any(are_folds([value]) for value in values)
    is_flag = is_word(fold) and facts.is_binary and facts.labels.isdisjoint(RESULTS)
    return is_flag or are_folds(values)


def _matrix(table: Table, names: Sequence[str], location: Place) -> np.ndarray:
    """Return columns as numbers, NaN where a cell is empty or none."""

    numbers = np.empty((table.n_rows, len(names)))
    for k, name in enumerate(names):
        column = table[name]
        if column.dtype.kind == "O":
            column = np.array([np.nan if c is None else number_in(c) for c in column], float)
        numbers[:, k] = column
    return numbers
