"""``calbias watch``: a monitor over a file of predictions in the order of a time.

It writes a page, its numbers as JSON and, if asked, the state that the next file continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from calbias.auditing.audit import audit
from calbias.auditing.data import EVENT
from calbias.auditing.results import Audit
from calbias.errors import InputError
from calbias.io.outputs import output_paths, validate_state, write_texts
from calbias.monitoring.kept import Kept, alone_with, read_kept, validate_later, waiting_note
from calbias.monitoring.monitor import Monitor
from calbias.monitoring.stream import Stream, read_stream
from calbias.monitoring.watched import Watched
from calbias.reading.columns import Columns

MOST_GROUPS = 100
"""Subgroups that share one level."""


def watch_file(
    path: Path | str,
    time: str,
    columns: Columns,
    top_label: bool,
    level: float,
    seed: int,
    output: str | None,
    force: bool,
    state: str | None,
    progress: Callable[[str], None],
    by: Sequence[str] = (),
) -> Watched:
    """Watch a file's rows; return what was seen.

    The page and its JSON are written, and the state where ``state`` names a file. The values of
    each column ``by`` are watched too, with one level for all. ``seed`` is of the audit of the rows
    since the change.
    """
    page, numbers = output_paths(path, output, force, ending="-watch")
    if state:
        validate_state(state, path, (page, numbers))
    with alone_with(state):
        before = read_kept(state, level) if state else Kept(Monitor(level))
        stream = read_stream(path, time, columns, top_label, by)
        if state and before.last:
            validate_later(stream, path, before.last, state)
        first = before.monitor.n
        parts, new = _groups(stream, before, path)
        if not first and parts:
            shared = Monitor(level / (1 + len(parts)))
            before = Kept(shared, groups={name: Kept(Monitor(shared.level)) for name in parts})
        after = _watched(before, stream)
        groups = {
            name: _watched(kept, parts[name]) if name in parts else kept
            for name, kept in before.groups.items()
        }
        after = after._replace(groups=groups)
        note = waiting_note(stream, after.last, state) if state else None
        result, audited = _audited(after, stream, first, seed)
        watched = Watched(
            Path(path).name, after, first + 1, result, audited,
            {"level": level, "time": time, "by": list(by), "seed": seed, "state": state},
            tuple(filter(None, (*stream.notes, *new, note))),
        )  # fmt: skip
        texts = {
            page: watched.to_html(numbers.name),
            numbers: json.dumps(watched.to_dict(), indent=2, ensure_ascii=False) + "\n",
        }
        write_texts(texts | ({Path(state): after.text} if state else {}), progress)
    return watched


def _groups(stream: Stream, before: Kept, path: Path | str) -> tuple[dict[str, Stream], list[str]]:
    """Return the rows of each subgroup that is watched, and notes on values that are not."""
    groups = {
        f"{name} = {value}": stream.part(np.flatnonzero(values == value))
        for name, values in ((name, column.astype(str)) for name, column in stream.by.items())
        for value in sorted({*values.tolist()})
    }
    if len(groups) > MOST_GROUPS:
        raise InputError(
            f"{path}: --by names {len(groups)} subgroups: at most {MOST_GROUPS} can share one level"
        )
    if not before.monitor.n:
        return groups, []
    prefixes = tuple(f"{name} = " for name in stream.by)
    if before.groups and not (
        all(name.startswith(prefixes) for name in before.groups)
        and all(any(name.startswith(each) for name in before.groups) for each in prefixes)
    ):
        names = ", ".join(before.groups)
        raise InputError(
            f"{path}: the state watches the subgroups {names:.200}: name their columns with --by"
        )
    new = [name for name in groups if name not in before.groups]
    if groups and not before.groups:
        raise InputError(f"{path}: the state has no subgroups: leave --by out, or start a new file")
    notes = [f"not watched alone, since the first file had no such rows: {', '.join(new)}"]
    return {name: part for name, part in groups.items() if name not in new}, notes * bool(new)


def _watched(before: Kept, stream: Stream) -> Kept:
    """Return what to keep after a stream."""
    monitor, first = before.monitor, before.monitor.n
    monitor.update(stream.scores, stream.hits, stream.clusters)
    monitor.complete()
    return before.after(first, stream.latest.tolist())


def _audited(after: Kept, stream: Stream, first: int, seed: int) -> tuple[Audit | None, str]:
    """Return the audit of rows since the change, or of the file's; None where they are too few.

    ``first`` rows came in earlier files: the monitor's memory alone has them. The words say which
    rows these are.
    """
    monitor, since = after.monitor, after.monitor.since
    n = stream.scores.size
    words = f"the {n} rows of this file" if first else f"the {n} rows"
    if since:
        words = f"rows since row {since.row}"
    start = max(since.row - 1 - first, 0) if since else 0
    try:
        if first and since:
            return monitor.audit(kind=stream.kind, seed=seed), f"{words}, of all files"
        return _audit_of(stream.part(np.arange(start, n)), seed), words
    except InputError:
        return None, words


def _audit_of(stream: Stream, seed: int) -> Audit:
    scores, hits, clusters = stream.scores, stream.hits, stream.clusters
    if stream.kind == EVENT:
        return audit(probabilities=scores, labels=hits, clusters=clusters, seed=seed)
    return audit(scores, hits, clusters=clusters, seed=seed)
