"""The picture of subgroups as SVG: the gap of each with its interval, and the noise floor."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from calbias.auditing.subgroups import Subgroups
from calbias.conventions import MISCALIBRATED

MOST = 25
"""Segments shown: the clearest."""
_WIDTH, _LEFT, _RIGHT, _TOP, _LINE = 860, 330, 20, 30, 24
_LONGEST, _STEPS, _MOST_TICKS = 46, (0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 9
_STYLE = """<style>
.cs text { font: 13px system-ui, sans-serif; fill: var(--text, #1c1e21); }
.cs .axis { stroke: var(--dim, #545b68); stroke-width: 1; }
.cs .floor { fill: var(--dim, #545b68); opacity: .25; }
.cs .limits { stroke: var(--dim, #545b68); stroke-width: 2; }
.cs .gap { fill: var(--dim, #545b68); }
.cs .bad .limits { stroke: var(--bad, #a3290f); } .cs .bad .gap { fill: var(--bad, #a3290f); }
</style>"""


def subgroups_picture(found: Subgroups, caption_id: str = "", what: str = "score") -> str:
    """Return the <svg> element of the clearest segments; ``what`` is too low or too high."""
    said = f'aria-labelledby="{caption_id}"' if caption_id else 'aria-label="Gaps of subgroups"'
    height = _TOP + _LINE * min(len(found.table), MOST) + 36
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cs" viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" {said}>{_STYLE}{"".join(_parts(found, what))}</svg>'
    )


def _parts(found: Subgroups, what: str) -> Iterator[str]:
    table = found.table.head(MOST)
    ends = table[["low", "high"]].to_numpy()
    low, high = float(ends.min()), float(ends.max())
    step = next((x for x in _STEPS if (high - low) / x <= _MOST_TICKS), _STEPS[-1])
    low, high = step * np.floor(low / step), step * np.ceil(high / step)
    bottom = _TOP + _LINE * len(table)

    def across(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * share, 1)

    for k, row in enumerate(table.itertuples()):
        y = _TOP + _LINE * (k + 0.5)
        words = row.segment if len(row.segment) <= _LONGEST else f"{row.segment[: _LONGEST - 1]}…"
        first, last = across(-row.noise_floor), across(row.noise_floor)
        bad = ' class="bad"' if row.finding == MISCALIBRATED else ""
        yield (
            f"<g{bad}><title>{escape(row.segment)}: {row.n} rows, gap {100 * row.gap:.1f} points "
            f"({100 * row.low:.1f} to {100 * row.high:.1f})</title>"
            f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(words)}</text>'
            f'<rect class="floor" x="{first}" y="{y - 9}" width="{last - first:.1f}" height="18"/>'
            f'<line class="limits" x1="{across(row.low)}" x2="{across(row.high)}" y1="{y}" '
            f'y2="{y}"/><circle class="gap" cx="{across(row.gap)}" cy="{y}" r="4.5"/></g>'
        )
    yield f'<line class="axis" x1="{across(0)}" x2="{across(0)}" y1="{_TOP}" y2="{bottom}"/>'
    for k in range(round((high - low) / step) + 1):
        tick = low + k * step
        yield (
            f'<text x="{across(tick)}" y="{bottom + 18}" text-anchor="middle">'
            f"{100 * tick:z.0f}</text>"
        )
    yield f'<text x="{_LEFT}" y="16">{what} too low, points</text>'
    yield f'<text x="{_WIDTH - _RIGHT}" y="16" text-anchor="end">{what} too high, points</text>'
