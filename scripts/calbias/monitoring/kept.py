"""What ``calbias watch --state`` keeps between two files: the monitor, and times of its rows."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from calbias.errors import InputError, reading
from calbias.monitoring.monitor import Monitor
from calbias.monitoring.state import sealed, unsealed
from calbias.monitoring.stream import Stream, moment

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_GENERATOR = {"generator": "calbias watch --state"}


class Kept(NamedTuple):
    """The monitor, the latest time of its rows, and those of the alarm and the change, as texts.

    The time of a change in an earlier file is not known: "".
    """

    monitor: Monitor
    last: str = ""
    alarm: str = ""
    since: str = ""

    @property
    def text(self) -> str:
        """The contents of the file."""
        times = {name: getattr(self, name) for name in Kept._fields[1:]}
        return sealed(_GENERATOR | times | {"monitor": self.monitor.to_json()}) + "\n"

    @property
    def _is_possible(self) -> bool:
        """Whether the times are those of such a monitor."""
        times = self.last, self.alarm, self.since
        if not all(isinstance(time, str) for time in times):
            return False
        moments = [moment(time) for time in times if time]  # ValueError: no time
        return (
            bool(self.last) == (self.monitor.n > 0)
            and bool(self.alarm) == (self.monitor.alarm is not None)
            and (bool(self.alarm) or not self.since)
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
            values = unsealed(values, {*_GENERATOR, *Kept._fields})
            kept = Kept(**{name: values[name] for name in Kept._fields})
            kept = kept._replace(monitor=Monitor.from_json(values["monitor"]))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        if not kept._is_possible:
            raise ValueError("its times are not those of its rows")
    if kept.monitor.level != level:
        raise InputError(
            f"{path}: the state has the level {100 * kept.monitor.level:g} %, not "
            f"{100 * level:g} %: give --level {100 * kept.monitor.level:g}, or start with a new "
            "file"
        )
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
        f"never be watched: {state} goes on after {last}; where outcomes are still to come, watch "
        "the rows before them now and all others later"
    )
