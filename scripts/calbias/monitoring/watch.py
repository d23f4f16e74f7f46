"""``calbias watch``: a monitor over a file of predictions in the order of a time.

It writes a page, its numbers as JSON and, if asked, the state that the next file continues.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from calbias.auditing.audit import audit
from calbias.auditing.inputs import EVENT
from calbias.auditing.results import Audit
from calbias.errors import InputError
from calbias.io.outputs import output_paths, validate_state, write_texts
from calbias.monitoring.kept import Kept, alone_with, read_kept, validate_later, waiting_note
from calbias.monitoring.monitor import Monitor
from calbias.monitoring.stream import Stream, read_stream
from calbias.reading.columns import Columns

_LABELS = 8  # of the axis of evidence, about
_NO_AUDIT = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" '
    'content="calbias watch"><title></title></head><main></main></html>'
)


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
    with alone_with(state):
        before = read_kept(state, level) if state else Kept(Monitor(level))
        stream = read_stream(path, time, columns, top_label)
        if state and before.last:
            validate_later(stream, path, before.last, state)
        first = before.monitor.n
        after = _watched(before, stream)
        note = waiting_note(stream, after.last, state) if state else None
        for text in filter(None, (*stream.notes, note)):
            say(text)
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
        write_texts(texts | ({Path(state): after.text} if state else {}), progress)
    return sentence, after.monitor.alarm is not None


def _watched(before: Kept, stream: Stream) -> Kept:
    """Return what to keep after a stream; its times are known of an alarm in this file."""
    monitor, first, clusters = before.monitor, before.monitor.n, stream.clusters
    monitor.update(stream.scores, stream.hits, clusters)
    monitor.complete()
    after = before._replace(last=str(stream.latest[-1]))
    if monitor.alarm is None or monitor.since is None or monitor.alarm <= first:
        return after
    start = monitor.since.row - 1 - first
    since = str(stream.times[start]) if start >= 0 else ""
    return after._replace(alarm=str(stream.latest[monitor.alarm - 1 - first]), since=since)


def _sentence(kept: Kept) -> str:
    """Return whether there was an alarm, and when the change began."""
    monitor = kept.monitor
    if monitor.since is None:
        return (
            f"no alarm in {monitor.n} rows: evidence {monitor.evidence:.2g}, alarm at "
            f"{1 / monitor.level:g}"
        )
    row, low, high = monitor.since
    return (
        f"alarm at row {monitor.alarm} ({kept.alarm}) of {monitor.n}: miscalibrated since about "
        f"row {row} ({kept.since or 'in an earlier file'}; 95 %: {low} to {high})"
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


def _numbers(kept: Kept, sentence: str) -> dict[str, Any]:
    """Return what the JSON holds."""
    monitor = kept.monitor
    return {
        "generator": "calbias watch",
        "sentence": sentence,
        "n": monitor.n,
        "level": monitor.level,
        "evidence": monitor.evidence,
        "alarm": monitor.alarm,
        "alarm_time": kept.alarm or None,
        "since": monitor.since and dict(monitor.since._asdict()),
        "since_time": kept.since or None,
        "last_time": kept.last,
    }


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
