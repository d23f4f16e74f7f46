"""Fit a map for each subgroup that differs, and one for the other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calbias.auditing.data import Data
from calbias.auditing.results import Audit
from calbias.auditing.subgroups.segments import segments_of
from calbias.errors import InputError
from calbias.recalibrator import fitted_to
from calbias.row_maps import Condition, RowMap, RowMaps, is_missing, number_of


def maps_by_subgroup(data: Data, audit: Audit, method: str, seed: int) -> tuple[RowMaps, list[str]]:
    """Return a map of each subgroup that differs, one of the other rows, and their gains in words.

    ``audit`` is of the data, with its columns ``by``. InputError where rows are too few.
    """
    by, n = data.by or {}, data.scored.n
    data = replace(data, by=None)
    segments = segments_of(by, n)
    subgroups = audit.subgroups
    names = [] if subgroups is None else [*subgroups.apart["segment"]]
    maps, sentences, free = list[RowMap](), list[str](), np.ones(n, bool)
    for name in names:
        inside = segments.members[[segments.words.index(name)]].toarray()[0] > 0
        inside = inside[segments.cell]
        rows = np.flatnonzero(inside & free)
        free &= ~inside
        fitted = fitted_to(data.part(rows), method, False, seed)
        maps.append(RowMap(_conditions(by, name, inside, segments.cut), fitted))
        sentences.append(f"where {name}: {fitted.sentence_}")
    if free.any():
        others = data if free.all() else data.part(np.flatnonzero(free))
        fitted = fitted_to(others, method, False, seed)
        maps.append(RowMap((), fitted))
        sentences.append(f"{'other' if names else 'all'} rows: {fitted.sentence_}")
    return RowMaps(tuple(maps)), sentences


def _conditions(
    by: Mapping[str, Any], name: str, inside: NDArray[np.bool_], cut: Sequence[str]
) -> tuple[Condition, ...]:
    """Return the conditions of a segment with these words and rows (n,); ``cut`` are ranges."""
    columns = [column for column in by if f"{column} " in f"{name} "]
    for some in [[column] for column in columns] + [columns]:
        cells = {column: np.asarray(by[column]) for column in some}
        conditions = [_condition(column, cells[column], inside, column in cut) for column in some]
        held = [each.holds(by[each.column]) for each in conditions]
        if (np.logical_and.reduce(held) == inside).all():
            return tuple(conditions)
    raise InputError(
        f"no value or range of its columns gives the subgroup {name!r:.60}: rename the columns"
    )


def _condition(column: str, cells: NDArray, inside: NDArray[np.bool_], is_cut: bool) -> Condition:
    """Return what holds for the cells of a column inside: numbers that were cut are in a range."""
    texts = {None if is_missing(cell) else str(cell).strip() for cell in cells[inside].tolist()}
    if texts == {None} or (len(texts) == 1 and not is_cut):
        return Condition(column, texts.pop())
    numbers = np.array([number_of(None if is_missing(x) else str(x)) for x in cells.tolist()])
    low, high = np.nanmin(numbers[inside]), np.nanmax(numbers[inside])
    below, above = numbers[numbers < low], numbers[numbers > high]
    return Condition(
        column,
        above=float(below.max()) if below.size else None,
        at_most=float(high) if above.size else None,
    )
