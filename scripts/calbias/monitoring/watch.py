"""``calbias watch``: a monitor over a file of predictions in the order of a time, and its page."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calbias.auditing.audit import audit
from calbias.auditing.inputs import EVENT, read_data
from calbias.errors import InputError
from calbias.io.command_line import write_text
from calbias.io.files import validate_output
from calbias.logits.columns import Columns, looked_up_column
from calbias.logits.output_file import Place
from calbias.logits.table_files import SUFFIXES, read_table, table_suffix
from calbias.monitoring.monitor import Monitor


def watch_file(
    path: Path | str,
    time: str,
    columns: Columns,
    top_label: bool,
    level: float,
    output: str | None,
    say: Callable[[str], None],
) -> str:
    """Watch a file's rows, write the page, and return one line that says what was seen.

    ``say`` gets the notes on how the file was read.
    """
    page = Path(output or f"{Path(path).with_suffix('')}-watch.html")
    validate_output(page, [path])
    monitor = Monitor(level)
    if table_suffix(path) not in SUFFIXES and not Path(path).is_dir():
        raise InputError(f"{path}: give a file with a column of times: CSV, JSON lines or Parquet")
    data = read_data(path, columns=columns, top_label=top_label)
    assert data.rows is not None
    table, place = read_table(path)
    time = looked_up_column(time, [*table], path)
    if data.place and data.place.rows is not None:
        place = place._replace(rows=data.place.rows)
        table = {name: column[data.place.rows] for name, column in table.items()}
    times, order = _in_time(table[time], time, place)
    repeated = pd.DataFrame(table).duplicated()
    if repeated.any():
        raise place.error(
            "repeats an earlier row in every column, and would count twice: drop it, or add a "
            "column of ids if both are genuine",
            int(repeated.argmax()),
        )
    for note in data.notes:
        say(note)
    scores, hits, clusters = data.rows.score, data.rows.hit, data.clusters
    if data.validation is not None:
        raise place.error("rows of two folds: give a file of one fold")
    if clusters is not None:  # a cluster counts when it is complete
        last = np.zeros(clusters.max() + 1, np.int64)
        last[clusters[order]] = np.arange(order.size)
        order = order[np.argsort(last[clusters[order]], kind="stable")]
        clusters = clusters[order]
    scores, hits, times = scores[order], hits[order], times[order]
    monitor.update(scores, hits, clusters)
    said = f"no alarm in {monitor.n} rows: evidence {monitor.evidence:.2g}, alarm at {1 / level:g}"
    since, start = "", 0
    if monitor.alarm and monitor.since:
        row, low, high = monitor.since
        said = (
            f"alarm at row {monitor.alarm} ({times[monitor.alarm - 1]}) of {monitor.n}: "
            f"miscalibrated since about row {row} ({times[row - 1]}; 95 %: {low} to {high})"
        )
        since, start = f" since row {row}", row - 1
    try:
        ids = None if clusters is None else clusters[start:]
        rows = scores[start:], hits[start:]
        result = (
            audit(probabilities=rows[0], labels=rows[1], clusters=ids)
            if data.kind == EVENT
            else audit(*rows, clusters=ids)
        )
        said += f"; rows{since}: {result.verdict.sentence}"
        text = result.to_html(f"{Path(path).name}{since}")
    except InputError:  # too few rows or clusters to be audited
        mark = '<meta name="generator" content="calbias watch">'
        text = f"<!DOCTYPE html>\n<html lang='en'><meta charset='utf-8'>{mark}<main></main></html>"
    top = f"<main>\n<p><strong>{escape(said)}</strong></p>\n{_picture(monitor)}\n"
    write_text(page, text.replace("<main>", top, 1))
    return said


def _in_time(times: NDArray, name: str, place: Place) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the times and the order of the rows: as they stand, or backwards if newest first."""
    moments = times
    if times.dtype.kind == "O":  # local times go back, as texts, where summer time ends
        moments = pd.to_datetime(times, format="ISO8601", utc=True, errors="coerce").to_numpy()
    place.validate_rows(
        ~pd.isna(moments), lambda row: f"{name} is {times[row]!r:.40}: write a number or 2024-05-31"
    )
    rows = np.arange(len(times))
    if (moments[1:] <= moments[:-1]).all():
        return times, rows[::-1]
    earlier = moments[1:] < moments[:-1]
    if earlier.any():
        row = int(earlier.argmax()) + 1
        raise place.error(f"{name} goes back to {times[row]}: sort the rows by {name}", row)
    return times, rows


def _picture(monitor: Monitor) -> str:
    """Return the <svg> of the evidence, the alarm's line and the change."""
    track, limit = monitor.track(), float(-np.log10(monitor.level))
    top = max(limit + 0.5, float(track[:, 1].max()))
    across = lambda row: f"{50 + 640 * row / max(monitor.n, 1):.1f}"  # noqa: E731
    down = lambda log: f"{10 + 240 * (top - log) / (top + 2.0):.1f}"  # noqa: E731
    parts = [
        f'<text x="44" y="{down(k)}" text-anchor="end">{10.0**k:g}</text>'
        for k in range(-2, int(top) + 1)
    ]
    if monitor.alarm and monitor.since:
        _, low, high = monitor.since
        parts += [
            f'<path d="M{across(low)} 10V250H{across(high)}V10" fill="#9aa3ad" opacity=".4"/>',
            f'<circle cx="{across(monitor.alarm)}" cy="{down(limit)}" r="5" fill="#b3541e"/>',
        ]
    points = " ".join(f"{across(row)},{down(log)}" for row, log in track)
    return (
        '<figure><svg viewBox="0 0 700 275" fill="currentColor" role="img" aria-label="Evidence">'
        f'{"".join(parts)}<path d="M50 10V250H690" stroke="currentColor" fill="none"/>'
        f'<path d="M50 {down(limit)}H690" stroke="#b3541e" stroke-dasharray="5 4"/>'
        f'<polyline points="{points}" stroke="#0a5c7d" stroke-width="2" fill="none"/>'
        f'<text x="50" y="268">row 1</text><text x="690" y="268" text-anchor="end">{monitor.n}'
        "</text></svg><figcaption>Evidence against calibration over the rows. A calibrated model "
        f"ever reaches the dashed line with a probability of at most {100 * monitor.level:g} %. "
        "Grey: the change, 95 % interval; dot: the alarm.</figcaption></figure>"
    )
