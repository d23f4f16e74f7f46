"""What ``calbias watch --state`` keeps between two files: the monitor, and times of its rows."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from calbias.errors import InputError, reading
from calbias.monitoring.evidence_chart import Mark
from calbias.monitoring.monitor import Monitor
from calbias.monitoring.state import sealed, unsealed
from calbias.monitoring.stream import Stream, moment

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_GENERATOR = {"generator": "calbias watch --state"}
_MOST_MARKS = 400


class Kept(NamedTuple):
    """The monitor, the latest time of its rows, and those of the alarm and the change, as texts.

    ``marks`` are the first rows of times, in their order: of all times, or of some that are evenly
    spread over more than 400. ``groups`` are the same for each subgroup, whose monitors have the
    level of this one.
    """

    monitor: Monitor
    last: str = ""
    alarm: str = ""
    since: str = ""
    marks: tuple[Mark, ...] = ()
    groups: dict[str, Kept] = {}  # noqa: RUF012

    @property
    def text(self) -> str:
        """The contents of the file."""
        return sealed(self._values) + "\n"

    @property
    def _values(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("last", "alarm", "since")}
        values |= {"marks": [[*mark] for mark in self.marks], "monitor": self.monitor.to_json()}
        groups = {name: sealed(each._values) for name, each in self.groups.items()}
        return _GENERATOR | values | {"groups": groups}

    def time_of(self, row: int) -> str:
        """Return the time of a row, or the latest one before it that is kept; "" of none."""
        return next((mark.time for mark in reversed(self.marks) if mark.row <= row), "")

    def after(self, first: int, latest: Sequence[Any]) -> Kept:
        """Return it with the times of further rows, and of an alarm and a change among all rows."""
        times = [str(time) for time in latest]
        new = [k for k, time in enumerate(times) if k == 0 or time != times[k - 1]]
        marks = [*self.marks, *(Mark(first + k + 1, times[k]) for k in new)]
        if first and times and times[0] == self.last:
            del marks[len(self.marks)]
        while len(marks) > _MOST_MARKS:
            marks = [*marks[:-1:2], marks[-1]]
        after = self._replace(last=times[-1] if times else self.last, marks=tuple(marks))
        monitor = self.monitor
        if monitor.alarm is None or monitor.since is None or self.alarm:
            return after
        alarm, since = (
            times[row - 1 - first] if row > first else self.time_of(row)
            for row in (monitor.alarm, monitor.since.row)
        )
        return after._replace(alarm=alarm, since=since)

    @property
    def _is_possible(self) -> bool:
        """Whether the times are those of such a monitor."""
        times = self.last, self.alarm, self.since
        if not all(isinstance(time, str) for time in times):
            return False
        if not all(type(mark.row) is int and isinstance(mark.time, str) for mark in self.marks):
            return False
        moments = [moment(time) for time in times if time]  # ValueError: no time
        rows, mark_times = [mark.row for mark in self.marks], [mark.time for mark in self.marks]
        dated = [moment(time) for time in mark_times]
        if (
            sorted({*rows}) != rows
            or sorted(dated) != dated
            or bool(rows) != (self.monitor.n > 0)
            or (rows and not (rows[0] == 1 and rows[-1] <= self.monitor.n))
            or len(rows) > _MOST_MARKS
            or (rows and mark_times[-1] != self.last)
        ):
            return False
        return (
            bool(self.last) == (self.monitor.n > 0)
            and bool(self.alarm) == (self.monitor.alarm is not None)
            and bool(self.alarm) == bool(self.since)
            and (not self.since or moment(self.since) <= moment(self.alarm))
            and len({kind for kind, _ in moments}) <= 1
            and max(moments, default=None) == (moment(self.last) if self.last else None)
        )


@contextlib.contextmanager
def alone_with(path: str | None) -> Iterator[None]:
    """Let no second process that keeps a state in the same folder run the block meanwhile.

    It waits for the other. Where the file system has no locks, it does not.
    """
    if path is None or fcntl is None:
        yield
        return
    folder = os.open(Path(path).absolute().parent, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def read_kept(path: str, level: float) -> Kept:
    """Return the Kept of a file, or a new one where there is no file of this name.

    InputError for a file that holds none, or one of another level.
    """
    if not Path(path).exists():
        return Kept(Monitor(level))
    remedy = "name the file that --state wrote, or a new one"
    with reading(path, "state of calbias watch", remedy):
        values = json.loads(Path(path).read_text("utf-8"))
        if "monitor" not in values:
            raise ValueError("it has no monitor")
        try:
            kept = _of_values(values)
            groups = {name: _of_values(json.loads(x)) for name, x in values["groups"].items()}
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        if any(each.groups or each.monitor.level != kept.monitor.level for each in groups.values()):
            raise ValueError("its subgroups are not those of its rows")
        kept = kept._replace(groups=groups)
    shared = kept.monitor.level * (1 + len(kept.groups))
    if not math.isclose(shared, level):
        raise InputError(
            f"{path}: the state has the level {100 * shared:g} %, not {100 * level:g} %: give "
            f"--level {100 * shared:g}, or start with a new file"
        )
    return kept


def _of_values(values: dict[str, Any]) -> Kept:
    """Return the Kept of its values, without subgroups."""
    values = unsealed(values, {*_GENERATOR, *Kept._fields})
    kept = Kept(
        Monitor.from_json(values["monitor"]),
        values["last"],
        values["alarm"],
        values["since"],
        tuple(Mark(*mark) for mark in values["marks"]),
    )
    if not kept._is_possible:
        raise ValueError("its times are not those of its rows")
    return kept


def validate_later(stream: Stream, path: Path | str, last: str, state: str) -> None:
    """Raise InputError unless a stream begins after the time ``last`` of a state."""
    begins = stream.begins
    (kind, first), (kept, before) = moment(begins), moment(last)
    if kind != kept:
        words = "a number", "a date"
        raise InputError(
            f"{path}: its time {begins} is {words[kind]}, and {state} has the rows up to {last}, "
            f"{words[kept]}: name one column of times in all files by --time"
        )
    if first <= before:
        raise InputError(
            f"{path}: begins at {begins}, and {state} has the rows up to {last}: give later rows"
        )


def waiting_note(stream: Stream, last: str, state: str) -> str | None:
    """Return what becomes of rows that were left out, None where there are none."""
    if not stream.waiting.size:
        return None
    number = stream.waiting.size
    return (
        f"{number} row{'s' * (number > 1)} left out, from {min(map(str, stream.waiting))} on, will "
        f"never be watched, since {state} goes on after {last}: if their outcomes are still to "
        f"come, go back to a copy of the earlier {state} and a file that ends before these rows"
    )
