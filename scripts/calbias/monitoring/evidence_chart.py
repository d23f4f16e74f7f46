"""The chart of a monitor's evidence, as HTML: its curve, the alarm's line and the change.

The plot is stretched to the width of the page; the texts on the axes are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbias.monitoring.monitor import Monitor

_WIDTH, _HEIGHT, _LABELS = 1000, 260, 7
_LOWEST, _ABOVE = -2.0, 0.15  # log10 of the evidence; share of the height above the highest point
_STYLE = """<style>
.evidence { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem .6rem;
  font-size: .85rem; font-variant-numeric: tabular-nums; }
.evidence svg { width: 100%; height: 260px; display: block; }
.evidence svg * { vector-effect: non-scaling-stroke; fill: none; }
.evidence .ys { position: relative; width: 3.2em; }
.evidence .xs { position: relative; height: 3.9em; }
.evidence span { position: absolute; white-space: nowrap; line-height: 1.3; }
.evidence .ys span { right: 0; transform: translateY(-50%); }
.evidence .xs span { transform: translateX(-50%); text-align: center; white-space: normal;
  width: max-content; max-width: 16%; overflow-wrap: anywhere; }
.evidence .xs .first { transform: none; text-align: left; }
.evidence .xs .last { transform: translateX(-100%); text-align: right; }
.evidence .frame { stroke: var(--dim, #545b68); }
.evidence .curve { stroke: var(--good, #0a5c7d); stroke-width: 2.5; }
.evidence .limit { stroke: var(--bad, #a3290f); stroke-dasharray: 5 4; }
.evidence .alarm { stroke: var(--bad, #a3290f); stroke-width: 11; stroke-linecap: round; }
.evidence svg .change { fill: var(--dim, #545b68); opacity: .3; }
@media (max-width: 40rem) {
  .evidence .xs .between { display: none; }
  .evidence .xs span { max-width: 45%; }
}
</style>"""


class Mark(NamedTuple):
    """A row, counted from 1, and its time as a text."""

    row: int
    time: str


def evidence_chart(monitor: Monitor, marks: Sequence[Mark]) -> str:
    """Return the chart; ``marks`` are the times of some rows, from the first to the last."""
    track, limit = monitor.track(), float(-np.log10(monitor.level))
    top = max(limit, float(track[:, 1].max()))
    top += _ABOVE * (top - _LOWEST)
    return (
        f'{_STYLE}<div class="evidence" role="img" aria-label="Evidence by row">'
        f'<div class="ys">{"".join(_heights(top))}</div>{_plot(monitor, track, limit, top)}<div>'
        f'</div><div class="xs">{"".join(_times(monitor.n, marks))}</div></div>'
    )


def _down(log: float, top: float) -> float:
    """Return the place of a logarithm from above, from 0 to 1."""
    return (top - log) / (top - _LOWEST)


def _heights(top: float) -> list[str]:
    step = 1 + int(top - _LOWEST) // _LABELS
    powers = range(int(_LOWEST), int(top) + 1, step)
    return [
        f'<span style="top:{100 * _down(k, top):.1f}%">'
        f"{f'{10.0**k:g}' if -2 <= k <= 3 else f'10<sup>{k}</sup>'}</span>"
        for k in powers
    ]


def _times(n: int, marks: Sequence[Mark]) -> list[str]:
    """Return the labels of about five marks, evenly spaced, with the number of the row."""
    if not marks:
        return []
    rows = np.array([mark.row for mark in marks])
    chosen = sorted({int(np.abs(rows - row).argmin()) for row in np.linspace(1, n, 5)})
    names = ["between"] * len(chosen)
    names[0], names[-1] = "first", "last" if len(chosen) > 1 else "first"
    return [
        f'<span class="{name}" style="left:{100 * marks[k].row / n:.1f}%">'
        f"{escape(marks[k].time)}<br>row {marks[k].row}</span>"
        for name, k in zip(names, chosen, strict=True)
    ]


def _plot(monitor: Monitor, track: NDArray, limit: float, top: float) -> str:
    across = lambda row: f"{_WIDTH * row / max(monitor.n, 1):.1f}"  # noqa: E731
    down = lambda log: f"{_HEIGHT * _down(log, top):.1f}"  # noqa: E731
    points = " ".join(f"{across(row)},{down(log)}" for row, log in track)
    parts = [
        f'<path class="frame" d="M0 0V{_HEIGHT}H{_WIDTH}"/>',
        f'<path class="limit" d="M0 {down(limit)}H{_WIDTH}"/>',
        f'<polyline class="curve" points="{points}"/>',
    ]
    if monitor.alarm and monitor.since:
        _, low, high = monitor.since
        box = f'd="M{across(low - 1)} 0V{_HEIGHT}H{across(high)}V0Z"'
        parts.insert(0, f'<path class="change" {box}/>')
        dot = f"M{across(monitor.alarm)} {down(limit)}h0"
        parts.append(f'<path class="alarm" d="{dot}"/>')
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none">{"".join(parts)}</svg>'
    )
