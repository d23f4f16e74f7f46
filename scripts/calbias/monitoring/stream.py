"""A file of predictions as a stream: its rows in the order in which a monitor counts them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calbias.auditing.inputs import read_data
from calbias.errors import InputError
from calbias.io.files import validate_file_exists
from calbias.reading.columns import Columns, looked_up_column
from calbias.reading.judged_rows import named_rows
from calbias.reading.output_file import Place
from calbias.reading.table_files import SUFFIXES, read_table, table_suffix


class Stream(NamedTuple):
    """A file's rows in the order of their times, or of the times at which their clusters begin.

    Arrays are as long as the scores; without clusters None. ``latest`` is the latest time of a row
    and of those before it, ``begins`` the first time of all. ``waiting`` are the times of rows that
    were left out for want of an outcome or a score.
    """

    scores: NDArray
    hits: NDArray
    times: NDArray
    latest: NDArray
    clusters: NDArray | None
    waiting: NDArray
    begins: Any
    kind: str
    notes: Sequence[str]
    by: dict[str, NDArray]

    def part(self, rows: NDArray) -> Stream:
        """Return these rows, in their order."""
        clusters = None if self.clusters is None else self.clusters[rows]
        arrays = (self.scores[rows], self.hits[rows], self.times[rows], self.latest[rows], clusters)
        return Stream(*arrays, self.waiting[:0], self.begins, self.kind, (), {})


def read_stream(
    path: Path | str, time: str, columns: Columns, top_label: bool, by: Sequence[str] = ()
) -> Stream:
    """Return the Stream of a file, with the columns ``by`` of subgroups.

    InputError where its rows have no order or are repeated.
    """
    if table_suffix(path) not in SUFFIXES and not Path(path).is_dir():
        raise InputError(f"{path}: give a file with a column of times: CSV, JSON lines or Parquet")
    if not Path(path).is_dir():
        validate_file_exists(path)
    table, location = read_table(path)
    times_of = [name for name in table if name.casefold() == time.casefold()]
    data = read_data(path, (*by, *times_of), columns=columns, top_label=top_label)
    time = looked_up_column(time, [*table], path)
    rows = np.arange(table.n_rows)
    if data.place and data.place.rows is not None:
        rows = data.place.rows
    chosen = named_rows(table, columns.rows, table.n_rows, location)[0] if columns.rows else None
    left_out = _left_out(table.n_rows, rows, chosen)
    waiting = table[time][left_out] if columns.missing else table[time][:0]
    location = location._replace(rows=rows)
    table = table.part(rows)
    times, order = _in_time(table[time], time, location)
    repeated = pd.DataFrame(dict(table)).duplicated()
    if repeated.any():
        raise location.error(
            "repeats an earlier row in every column, and would count twice: drop it, or add a "
            "column of ids if both are genuine",
            int(repeated.argmax()),
        )
    if data.validation is not None:
        raise location.error("rows of two folds: give a file of one fold")
    clusters, rank = data.clusters, np.arange(order.size)
    if clusters is not None:
        # by their begins: those that end early, since their outcome came, must not come first
        first = np.full(clusters.max() + 1, order.size)
        np.minimum.at(first, clusters[order], rank)
        rank = np.argsort(first[clusters[order]], kind="stable")
        clusters = clusters[order[rank]]
    begins, latest = times[order[0]], times[order[np.maximum.accumulate(rank)]]
    order, names = order[rank], [looked_up_column(name, [*data.by], "--by") for name in by]
    return Stream(
        data.single.score[order], data.single.hit[order], times[order], latest, clusters, waiting,
        begins, data.kind, data.notes, {name: np.asarray(data.by[name])[order] for name in names},
    )  # fmt: skip


def _left_out(n: int, rows: NDArray, chosen: NDArray | None) -> NDArray:
    """Return the rows of n, or of the chosen ones, that are not among ``rows``."""
    return np.setdiff1d(np.arange(n) if chosen is None else chosen, rows)


def moment(time: Any) -> tuple[int, Any]:
    """Return a time, number or text, as something that can be compared with others of its kind.

    The first item is the kind. ValueError where it is no time.
    """
    with contextlib.suppress(ValueError, TypeError):
        number = float(time)
        if np.isfinite(number):
            return 0, number
    instant = pd.to_datetime(str(time), format="ISO8601", utc=True, errors="coerce")
    if pd.isna(instant):
        raise ValueError(f"{time!r:.40} is no time")
    return 1, instant


def _in_time(times: NDArray, name: str, location: Place) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the times and the order of the rows: as they stand, or backwards if newest first."""
    moments = times
    if times.dtype.kind == "O":  # local times go back, as texts, where summer time ends
        moments = pd.to_datetime(times, format="ISO8601", utc=True, errors="coerce").to_numpy()
    good = ~pd.isna(moments) & (moments.dtype.kind != "b")
    if moments.dtype.kind == "f":
        good &= np.isfinite(moments)
    location.validate_rows(
        good, lambda row: f"{name} is {str(times[row])!r:.40}: write a number or 2024-05-31"
    )
    rows = np.arange(len(times))
    if (moments[1:] <= moments[:-1]).all():
        return times, rows[::-1]
    earlier = moments[1:] < moments[:-1]
    if earlier.any():
        row = int(earlier.argmax()) + 1
        raise location.error(f"{name} goes back to {times[row]}: sort the rows by {name}", row)
    return times, rows
