"""``calbias watch``: a monitor over a file of predictions in the order of a time.

It writes a page, its numbers as JSON and, if asked, the state that the next file continues.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calbias.auditing.audit import audit
from calbias.auditing.audit_result import Audit
from calbias.auditing.inputs import EVENT, read_data
from calbias.errors import InputError
from calbias.io.outputs import output_paths, validate_state, write_texts
from calbias.monitoring.monitor import Monitor
from calbias.reading.columns import Columns, looked_up_column
from calbias.reading.output_file import Place
from calbias.reading.table_files import SUFFIXES, read_table, table_suffix

_LABELS = 8  # of the axis of evidence, about
_NO_AUDIT = (
    '<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><meta name="generator" '
    'content="calbias watch"><title></title><main></main></html>'
)


class State(NamedTuple):
    """What one file hands on to the next: the monitor, and times of its rows as texts."""

    monitor: Monitor
    last: str = ""
    alarm: str = ""
    since: str = ""


class Stream(NamedTuple):
    """A file's rows in the order in which they count: of their times, or of their clusters' ends.

    Hits, times and clusters are arrays as long as the scores; without clusters None.
    """

    scores: NDArray
    hits: NDArray
    times: NDArray
    clusters: NDArray | None
    kind: str
    notes: Sequence[str]


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
    say: Callable[[str], None],
    progress: Callable[[str], None],
) -> tuple[str, bool]:
    """Watch a file's rows; return one line that says what was seen, and whether there is an alarm.

    The page and its JSON are written, and the state where ``state`` names a file. ``say`` gets the
    notes on how the file was read. ``seed`` is of the audit of the rows since the change.
    """
    page, numbers = output_paths(path, output, force, ending="-watch")
    if state:
        validate_state(state, path, (page, numbers))
    before = read_state(state, level) if state else State(Monitor(level))
    first, last = before.monitor.n, before.last
    stream = _read_stream(path, time, columns, top_label)
    if last and _moment(stream.times[0]) <= _moment(last):
        raise InputError(
            f"{path}: begins at {stream.times[0]}, and {state} has the rows up to {last}: give "
            "later rows"
        )
    for note in stream.notes:
        say(note)
    after = _watched(before, stream)
    sentence, name = _sentence(after), Path(path).name
    since = f" since row {after.monitor.since.row}" if after.monitor.since else ""
    result = _audit_since(after.monitor, stream, first, seed)
    if result:
        sentence += f"; rows{since}: {result.verdict.sentence}"
    audit_page = result.to_html(f"{name}{since}") if result else _NO_AUDIT
    texts = {
        page: _page(name, sentence, after.monitor, audit_page),
        numbers: json.dumps(_numbers(after, sentence), indent=2) + "\n",
    }
    write_texts(texts | ({Path(state): _state_text(after)} if state else {}), progress)
    return sentence, after.monitor.alarm is not None


def _read_stream(path: Path | str, time: str, columns: Columns, top_label: bool) -> Stream:
    """Return the Stream of a file; InputError where its rows have no order or are repeated."""
    if table_suffix(path) not in SUFFIXES and not Path(path).is_dir():
        raise InputError(f"{path}: give a file with a column of times: CSV, JSON lines or Parquet")
    data = read_data(path, columns=columns, top_label=top_label)
    table, location = read_table(path)
    time = looked_up_column(time, [*table], path)
    if data.place and data.place.rows is not None:
        location = location._replace(rows=data.place.rows)
        table = {name: column[data.place.rows] for name, column in table.items()}
    times, order = _in_time(table[time], time, location)
    repeated = pd.DataFrame(table).duplicated()
    if repeated.any():
        raise location.error(
            "repeats an earlier row in every column, and would count twice: drop it, or add a "
            "column of ids if both are genuine",
            int(repeated.argmax()),
        )
    if data.validation is not None:
        raise location.error("rows of two folds: give a file of one fold")
    clusters = data.clusters
    if clusters is not None:  # a cluster counts when it is complete
        last = np.zeros(clusters.max() + 1, np.int64)
        last[clusters[order]] = np.arange(order.size)
        order = order[np.argsort(last[clusters[order]], kind="stable")]
        clusters = clusters[order]
    score, hit = data.single.score[order], data.single.hit[order]
    return Stream(score, hit, times[order], clusters, data.kind, data.notes)


def _watched(before: State, stream: Stream) -> State:
    """Return the state after a stream; its times are known of an alarm in this file."""
    monitor, first, times = before.monitor, before.monitor.n, stream.times
    monitor.update(stream.scores, stream.hits, stream.clusters)
    after = before._replace(last=str(times[-1]))
    if monitor.alarm is None or monitor.since is None or monitor.alarm <= first:
        return after
    start = monitor.since.row - 1 - first
    since = str(times[start]) if start >= 0 else ""
    return after._replace(alarm=str(times[monitor.alarm - 1 - first]), since=since)


def _sentence(state: State) -> str:
    """Return whether there was an alarm, and when the change began."""
    monitor = state.monitor
    if monitor.since is None:
        return (
            f"no alarm in {monitor.n} rows: evidence {monitor.evidence:.2g}, alarm at "
            f"{1 / monitor.level:g}"
        )
    row, low, high = monitor.since
    return (
        f"alarm at row {monitor.alarm} ({state.alarm}) of {monitor.n}: miscalibrated since about "
        f"row {row} ({state.since or 'in an earlier file'}; 95 %: {low} to {high})"
    )


def _audit_since(monitor: Monitor, stream: Stream, first: int, seed: int) -> Audit | None:
    """Return the audit of the rows since the change, or of all; None where they are too few.

    ``first`` rows came in earlier files: the monitor's memory alone has them.
    """
    start = max(monitor.since.row - 1 - first, 0) if monitor.since else 0
    scores, hits = stream.scores[start:], stream.hits[start:]
    ids = None if stream.clusters is None else stream.clusters[start:]
    try:
        if first and monitor.since:
            return monitor.audit(kind=stream.kind, seed=seed)
        if stream.kind == EVENT:
            return audit(probabilities=scores, labels=hits, clusters=ids, seed=seed)
        return audit(scores, hits, clusters=ids, seed=seed)
    except InputError:
        return None


def _page(name: str, sentence: str, monitor: Monitor, audit_page: str) -> str:
    """Return the page: what was seen, the picture of the evidence, and below it the audit."""
    title = f"Watch of {escape(name)}"
    top = f"<main>\n<h1>{title}</h1>\n<p><strong>{escape(sentence)}</strong></p>\n"
    text = re.sub(r"<(/?)h1>", r"<\1h2>", audit_page)
    text = re.sub("<title>.*</title>", lambda _: f"<title>{title}</title>", text)
    return text.replace("<main>", f"{top}{_picture(monitor)}\n", 1)


def _numbers(state: State, sentence: str) -> dict[str, Any]:
    """Return what the JSON holds."""
    monitor = state.monitor
    return {
        "generator": "calbias watch",
        "sentence": sentence,
        "n": monitor.n,
        "level": monitor.level,
        "evidence": monitor.evidence,
        "alarm": monitor.alarm,
        "alarm_time": state.alarm or None,
        "since": monitor.since and dict(monitor.since._asdict()),
        "since_time": state.since or None,
        "last_time": state.last,
    }


def _state_text(state: State) -> str:
    times = {name: getattr(state, name) for name in State._fields[1:]}
    generator = {"generator": "calbias watch --state"}
    return json.dumps(generator | times | {"monitor": state.monitor.to_json()}) + "\n"


def read_state(path: str, level: float) -> State:
    """Return the State of a file, or a new one where there is no file of this name.

    InputError for a file that holds no state, or one of another level.
    """
    if not Path(path).exists():
        return State(Monitor(level))
    try:
        stored = json.loads(Path(path).read_text("utf-8"))
        times = [str(stored[name]) for name in State._fields[1:]]
        text = str(stored["monitor"])
    except (ValueError, TypeError, KeyError):
        raise InputError(
            f"{path}: is no state of calbias watch; name the file that --state wrote, or a new one"
        ) from None
    try:
        monitor = Monitor.from_json(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if monitor.level != level:
        raise InputError(
            f"{path}: the state has the level {monitor.level:g}, not {level:g}: give --level "
            f"{monitor.level:g}, or start with a new file"
        )
    return State(monitor, *times)


def _moment(time: Any) -> Any:
    """Return a time, number or text, as something that can be compared."""
    try:
        return 0, float(time)
    except (ValueError, TypeError):
        return 1, pd.to_datetime(str(time), format="ISO8601", utc=True)


def _in_time(times: NDArray, name: str, location: Place) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the times and the order of the rows: as they stand, or backwards if newest first."""
    moments = times
    if times.dtype.kind == "O":  # local times go back, as texts, where summer time ends
        moments = pd.to_datetime(times, format="ISO8601", utc=True, errors="coerce").to_numpy()
    location.validate_rows(
        ~pd.isna(moments), lambda row: f"{name} is {times[row]!r:.40}: write a number or 2024-05-31"
    )
    rows = np.arange(len(times))
    if (moments[1:] <= moments[:-1]).all():
        return times, rows[::-1]
    earlier = moments[1:] < moments[:-1]
    if earlier.any():
        row = int(earlier.argmax()) + 1
        raise location.error(f"{name} goes back to {times[row]}: sort the rows by {name}", row)
    return times, rows


def _power_of_ten(k: int) -> str:
    """Return 10^k, with the exponent raised where the number is long."""
    return f"{10.0**k:g}" if -2 <= k <= 3 else f'10<tspan dy="-5" font-size="70%">{k}</tspan>'


def _picture(monitor: Monitor) -> str:
    """Return the <svg> of the evidence, the alarm's line and the change."""
    track, limit = monitor.track(), float(-np.log10(monitor.level))
    top = max(limit + 0.5, float(track[:, 1].max()))
    across = lambda row: f"{50 + 420 * row / max(monitor.n, 1):.1f}"  # noqa: E731
    down = lambda log: f"{30 + 240 * (top - log) / (top + 2.0):.1f}"  # noqa: E731
    step = 1 + int(top) // _LABELS
    parts = [
        f'<text x="44" y="{down(k - 0.08)}" text-anchor="end">{_power_of_ten(k)}</text>'
        for k in range(-2, int(top) + 1, step)
    ]
    if monitor.alarm and monitor.since:
        _, low, high = monitor.since
        parts += [
            f'<path d="M{across(low)} 30V270H{across(high)}V30" fill="#9aa3ad" opacity=".4"/>',
            f'<circle cx="{across(monitor.alarm)}" cy="{down(limit)}" r="5" fill="#b3541e"/>',
        ]
    points = " ".join(f"{across(row)},{down(log)}" for row, log in track)
    return (
        '<figure><svg viewBox="0 0 480 300" fill="currentColor" font-size="15" role="img" '
        'style="max-width: 36rem" aria-label="Evidence against calibration by row">'
        '<text x="50" y="16" font-weight="600">Evidence against calibration</text>'
        f'{"".join(parts)}<path d="M50 30V270H470" stroke="currentColor" fill="none"/>'
        f'<path d="M50 {down(limit)}H470" stroke="#b3541e" stroke-dasharray="5 4"/>'
        f'<polyline points="{points}" stroke="#0a5c7d" stroke-width="2" fill="none"/>'
        '<text x="50" y="290">1</text><text x="260" y="290" text-anchor="middle">row</text>'
        f'<text x="470" y="290" text-anchor="end">{monitor.n}</text></svg>'
        "<figcaption>If the model is calibrated, the curve crosses the dashed line in at most "
        f"{100 * monitor.level:g} % of cases, however long you watch. Grey: the change, 95 % "
        "interval; dot: the alarm.</figcaption></figure>"
    )
