"""``calbias watch``: a monitor over a file of predictions in the order of a time, and its page."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calbias.auditing.inputs import read_model
from calbias.auditing.output_files import validate_output
from calbias.auditing.picture import picture
from calbias.io.command_line import write_text
from calbias.logits.columns import Columns, looked_up_column
from calbias.logits.table_files import read_table
from calbias.monitoring.monitor import Monitor

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?")
_HEAD = '<!DOCTYPE html>\n<html lang="en" class="calbias-watch">'
_STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto;
padding: 1rem; color: #1c1e21; background: #fff; } svg { max-width: 100%; height: auto; }
.ev { stroke: #0a5c7d; fill: none; stroke-width: 2; } .alarm { stroke: #a3290f; fill: #a3290f; }
.limit { stroke: #a3290f; stroke-dasharray: 5 4; } .change { fill: #9aa3ad; opacity: .4; }
.axis { stroke: #545b68; fill: none; } text { font: 13px system-ui, sans-serif; }"""


def watch_file(
    path: Path | str, time: str, columns: Columns, level: float, output: Path | str | None
) -> tuple[Monitor, str]:
    """Return the Monitor of a file's rows and one line on it; write the page."""
    page = Path(output or f"{Path(path).with_suffix('')}-watch.html")
    validate_output(page, [path], _HEAD)
    monitor = Monitor(level)
    table, place = read_table(path)
    times, order = _in_time(table, looked_up_column(time, table.column_names, path), place)
    repeated = table.to_pandas().duplicated()
    if repeated.any():
        raise place.error(
            "repeats an earlier row in every column, and would count twice: drop it, or add a "
            "column of ids where both are genuine",
            int(repeated.argmax()),
        )
    scores, hits, _, clusters = read_model(path, columns=columns)
    if len(scores) != len(times):
        raise place.error("some rows are of another fold: give the rows of one fold alone")
    if clusters is not None:  # a cluster counts when it is complete
        clusters = clusters[order]
        last = np.zeros(clusters.max() + 1, np.int64)
        last[clusters] = np.arange(clusters.size)
        whole = np.argsort(last[clusters], kind="stable")
        order, clusters = order[whole], clusters[whole]
    monitor.update(scores[order], hits[order], clusters)
    sentence = _sentence(monitor, times[order])
    write_text(page, _page(monitor, f"{Path(path).name}", sentence))
    return monitor, sentence


def _in_time(table: Any, name: str, place: Any) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the times and the order of the rows: as they stand, or backwards if newest first."""
    column = table[name].combine_chunks()
    is_text = "string" in str(column.type)
    for row, value in enumerate(column.to_pylist() if is_text or column.null_count else ()):
        if value is None or (is_text and not _ISO.fullmatch(value)):
            raise place.error(
                f"{name} is {value!r:.40}, no time: write times as 2024-05-31 or as numbers", row
            )
    times, rows = column.to_numpy(zero_copy_only=False), np.arange(len(column))
    later, earlier = times[1:] >= times[:-1], times[1:] <= times[:-1]
    if earlier.all() and not later.all():
        return times, rows[::-1]
    if not later.all():
        row = int(np.argmin(later)) + 1
        raise place.error(
            f"{name} {times[row]} comes after {times[row - 1]}: sort the file by {name}", row
        )
    return times, rows


def _sentence(monitor: Monitor, times: NDArray) -> str:
    """Return one line: alarm and change with their times, and what is wrong; or no alarm."""
    if monitor.alarm is None or monitor.since is None:
        return (
            f"no alarm in {monitor.n} rows: evidence {monitor.evidence:.2g} "
            f"(alarm at {1 / monitor.level:g})"
        )
    row, low, high = monitor.since
    wrong = monitor.in_words()
    return (
        f"alarm at row {monitor.alarm} ({times[monitor.alarm - 1]}) of {monitor.n}: miscalibrated "
        f"since about row {row} ({times[row - 1]}; 95 %: {low} to {high}); {wrong}"
    )


def _page(monitor: Monitor, title: str, sentence: str) -> str:
    """Return the page: the line, the evidence over the rows, the curve since the change."""
    curve = (
        "" if monitor.is_clustered else f"<h2>The rows since then</h2>{picture(monitor.audit())}"
    )
    return (
        f"{_HEAD}\n<head><meta charset='utf-8'><title>Calibration of {escape(title)} over time"
        f"</title><style>{_STYLE}</style></head>\n<body><h1>Calibration of {escape(title)} over "
        f"time</h1>\n<p><strong>{escape(sentence)}</strong></p>\n{_evidence(monitor)}\n"
        f"<p>A calibrated model reaches the dashed line with a probability of at most "
        f"{100 * monitor.level:g} %, however long it is watched.</p>\n{curve}</body></html>\n"
    )


def _evidence(monitor: Monitor) -> str:
    """Return the <svg> of the evidence, the alarm's line and the change."""
    track, limit = monitor.track(), float(-np.log10(monitor.level))
    top, width, height = max(limit + 0.5, track[:, 1].max()), 640, 240
    across = lambda row: 50 + width * row / max(monitor.n, 1)  # noqa: E731
    down = lambda log: 10 + height * (top - log) / (top + 2.0)  # noqa: E731
    points = " ".join(f"{across(row):.1f},{down(log):.1f}" for row, log in track)
    parts = [f'<rect class="axis" x="50" y="10" width="{width}" height="{height}"/>']
    if monitor.alarm is not None and monitor.since is not None:
        _, low, high = (across(row) for row in monitor.since)
        parts += [
            f'<rect class="change" x="{low:.1f}" y="10" width="{high - low:.1f}" '
            f'height="{height}"/>',
            f'<circle class="alarm" cx="{across(monitor.alarm):.1f}" cy="{down(limit):.1f}" r="4"/>'
            f'<text x="50" y="295">grey: the change, 95 % interval; dot: the alarm</text>',
        ]
    ticks = range(-2, int(top) + 1, 1 if top < 6 else 2)
    parts += [
        f'<text x="44" y="{down(k) + 4:.1f}" text-anchor="end">{10.0**k:g}</text>' for k in ticks
    ]
    return (
        f'<svg viewBox="0 0 700 300" width="700" role="img" aria-label="Evidence over the rows">'
        f'{"".join(parts)}<line class="limit" x1="50" x2="{50 + width}" y1="{down(limit):.1f}" '
        f'y2="{down(limit):.1f}"/><polyline class="ev" points="{points}"/><text x="50" y="270">'
        f'row 1</text><text x="{50 + width}" y="270" text-anchor="end">{monitor.n}</text></svg>'
    )
