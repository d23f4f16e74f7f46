"""Which rows of a table are judged: those that options name, without gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from shlex import quote

import numpy as np

from calbias.errors import InputError
from calbias.reading.cells import (
    as_number,
    has_value,
    rows_where,
    texts_of,
)
from calbias.reading.columns import DROP, listed, looked_up_column
from calbias.reading.output_file import Place
from calbias.reading.reading import Reading
from calbias.reading.table import Table
from calbias.reading.words import NOTHING


def named_rows(
    table: Mapping[str, np.ndarray], rows: Sequence[str], n: int, location: Place
) -> tuple[np.ndarray, list[str]]:
    """Return the rows, of n, of which each COLUMN is its VALUE, and a note."""
    kept = np.ones(n, bool)
    for each in rows:
        name, _, value = each.partition("=")
        name = looked_up_column(name, [*table], location.file)
        rows_of = rows_where(table, name, partial(has_value, value=value))
        if not rows_of.any():
            raise never(table, name, value, location)
        kept &= rows_of
    if not kept.any() and rows:
        raise location.error(f"no row is {' and '.join(rows)}: give one of them")
    notes = [f"--rows {' and '.join(rows)}: {kept.sum()} of {n} rows are judged"] if rows else []
    return np.flatnonzero(kept), notes


def rows_without_gaps(
    table: Mapping[str, np.ndarray], reading: Reading, missing: Sequence[str]
) -> tuple[np.ndarray, Counter[str]]:
    """Return which rows have a score and an outcome, (n,), and counts of the others by reason."""
    outcomes = [name for name in (reading.outcome, reading.prediction, *reading.one_hot) if name]
    values = [value for value in missing if value != DROP]
    counts, gone = Counter[str](), np.zeros(len(table[reading.names[0]]), bool)
    for name in reading.names:
        is_status = reading.is_status and name == reading.outcome
        words = () if reading.prediction or reading.group or is_status else NOTHING
        codes: dict[str, Callable[[str | None], bool]] = {
            f" without {name}": partial(_is_nothing, words=words)
        }
        for value in values:
            if name in outcomes or as_number(value) is None:  # a number may be a score
                codes[f" with {name} {value}"] = partial(has_value, value=value)
        for reason, is_wanted in codes.items():
            is_gap = rows_where(table, name, is_wanted)
            counts[reason] += int(is_gap.sum())
            gone |= is_gap
    return ~gone, counts


def _is_nothing(text: str | None, words: Collection[str]) -> bool:
    return text is None or text.casefold() in words


def of_gaps(
    kept: np.ndarray,
    counts: Counter[str],
    missing: Sequence[str],
    reading: Reading,
    location: Place,
) -> str:
    """Return the note on rows that are left out; InputError where none is left."""
    if not kept.any():
        raise location.error(
            f"no row has both a score and an outcome: columns {listed(reading.names)}"
        )
    options = " ".join(f"--missing {quote(value)}" for value in missing)
    reasons = ", ".join(f"{count}{reason}" for reason, count in counts.items() if count)
    note = f"{options}: {(~kept).sum()} of {kept.size} rows left out"
    return f"{note}: {reasons}" if reasons else note


def part_of(table: Table, location: Place, rows: np.ndarray) -> tuple[Table, Place]:
    """Return these rows of a table, and their place."""
    if len(rows) == table.n_rows:
        return table, location
    return table.part(rows), location.part_of(rows)


def never(table: Mapping[str, np.ndarray], label: str, event: str, location: Place) -> InputError:
    """Return the error of a value that a column never has."""
    values = [*dict.fromkeys(filter(None, texts_of(table, label)))]
    return location.error(f"column {label} is never {event!r:.60}: its values are {listed(values)}")
