"""Calibration curves with their bands as SVG, bins, and how many rows are where.

Where most rows crowd into a small part of the scores a second panel shows that part; next to
score 1 it has 1 − score on a logarithmic axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from calbias.auditing.data import EVENT
from calbias.auditing.diagrams.corp import CorpDiagram
from calbias.auditing.error.bins import PictureBins
from calbias.engine.posterior import PosteriorCurve

if TYPE_CHECKING:
    from calbias.auditing.audit_result import AuditNumbers, Result
    from calbias.auditing.comparison.comparison_result import Compared

    Drawn = Sequence[AuditNumbers | Compared]

WIDTH, SIDE, LEFT, TOP = 400, 330, 56, 28
COUNTS_TOP, COUNTS = TOP + SIDE + 12, 60
HEIGHT = COUNTS_TOP + COUNTS + 48
_CROWDED, _SMALL = 0.7, 0.3  # share of rows in a share of the scores' range
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_TICKS = 6
_LEAST_ENLARGED, _LINE = 0.05, 0.02
_NEAR_ONE = 0.9  # scores from which an enlarged panel that ends at 1 is logarithmic
_LEAST_FROM_ONE = 1e-6  # 1 − score that is drawn
_POINT = 6  # the largest point's radius: room for it at the edge
_STYLE = """<style>
.cb text { font: 13px system-ui, sans-serif; fill: var(--text, #1c1e21); }
.cb .axis { stroke: var(--dim, #545b68); stroke-width: 1; fill: none; }
.cb .same { stroke: var(--dim, #545b68); stroke-width: 1; stroke-dasharray: 4 4; }
.cb .band { fill: var(--good, #0a5c7d); opacity: .22; }
.cb .curve { stroke: var(--good, #0a5c7d); stroke-width: 2.5; fill: none; }
.cb .bin { fill: var(--bad, #a3290f); } .cb .limits { stroke: var(--bad, #a3290f); opacity: .55; }
.cb .consistent { fill: var(--dim, #545b68); opacity: .25; }
.cb .pools { stroke: var(--bad, #a3290f); stroke-width: 2; fill: none; }
.cb .rows { fill: var(--dim, #545b68); opacity: .6; }
.cb .of-1 .band, .cb .of-1 .rows { fill: var(--good, #0a5c7d); }
.cb .of-2 .band, .cb .of-2 .rows { fill: var(--bad, #a3290f); }
.cb .of-2 .curve { stroke: var(--bad, #a3290f); stroke-dasharray: 9 3; }
</style>"""


class Panel(NamedTuple):
    """One square of the picture: the scores and the rates that it shows.

    ``near_one`` is a logarithmic axis of 1 − score.
    """

    low: float
    high: float
    lowest_rate: float
    highest_rate: float
    near_one: bool = False

    def across(self, score: float) -> str:
        """Return a score's place from the left."""
        if self.near_one:
            first, middle, last = (
                -math.log10(max(1 - x, 1 - self.high)) for x in (self.low, score, self.high)
            )
        else:
            first, middle, last = self.low, score, self.high
        return f"{LEFT + SIDE * (middle - first) / (last - first):.1f}"

    def down(self, rate: float) -> str:
        """Return a rate's place from the top."""
        share = (rate - self.lowest_rate) / (self.highest_rate - self.lowest_rate)
        return f"{TOP + SIDE * (1.0 - share):.1f}"

    def score_ticks(self) -> list[tuple[float, str]]:
        """Return scores with their labels, percent: of 1 − score next to 1."""
        if not self.near_one:
            return [(x, f"{100 * x:g}") for x in _ticks(self.low, self.high)]
        first, last = (round(-math.log10(1 - x)) for x in (self.low, self.high))
        step = -(-(last - first) // _MOST_TICKS)
        return [
            (1 - 10.0**-k, f"{100 * 10.0**-k:.{max(k - 2, 0)}f}")
            for k in range(first, last + 1, step)
        ]

    def rate_ticks(self) -> list[float]:
        """Return at most seven round numbers."""
        return _ticks(self.lowest_rate, self.highest_rate)


def _ticks(low: float, high: float) -> list[float]:
    step = next((x for x in _STEPS if (high - low) / x <= _MOST_TICKS), _STEPS[-1])
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def picture(result: Result, caption_id: str = "", corp: CorpDiagram | None = None) -> str:
    """Return the <svg> elements of one model, or of two: one element or two, the second enlarged.

    The points of the bins are of one model alone: with two they would hide the bands. A ``corp``
    diagram is drawn instead of the curve.
    """
    drawn: Drawn = getattr(result, "models", [result])
    label = f'aria-labelledby="{caption_id}"' if caption_id else 'aria-label="Reliability diagram"'
    ends = _range(drawn)
    full = Panel(*ends, *ends)
    crowd = next(filter(None, (_crowd(each.bins, full) for each in drawn)), None)
    panels = [(full, "")] + ([(crowd, "Enlarged: where most rows are")] if crowd else [])
    return "\n".join(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cb" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" {label}>{_STYLE}{"".join(_parts(drawn, result.kind, panel, name, corp))}</svg>'
        for panel, name in panels
    )


def _range(drawn: Drawn) -> tuple[float, float]:
    """Return the part of [0, 1] that the rows are in, and their curves."""
    values = [
        np.r_[bins.lowest_score[0], bins.highest_score[-1], bins.mean_hit, bins.mean_score, curve]
        for bins, curve in ((each.bins, each.curve.mean) for each in drawn)
    ]
    return rounded_range(min(map(np.min, values)), max(map(np.max, values)))


def rounded_range(low: float, high: float) -> tuple[float, float]:
    """Return the ends of a range rounded outwards to a step of its ticks; all of [0, 1] if wide."""
    if high - low > 0.6:
        return 0.0, 1.0
    step = next((x for x in _STEPS if (high - low) / x <= _MOST_TICKS), _STEPS[-1])
    first = max(math.floor(low / step) * step, 0.0)
    last = min(math.ceil(high / step) * step, 1.0)
    return first, max(last, first + step)


def _crowd(bins: PictureBins, full: Panel) -> Panel | None:
    """Return a panel of the bins that most rows crowd into, or None if it enlarges little."""
    if np.mean(bins.lowest_score == bins.highest_score) > 0.5:
        return None  # bins of one score each are apart already
    first, end = _shortest_run(bins, _CROWDED * bins.n_in_bin.sum())
    lowest, highest = float(bins.lowest_score[first]), float(bins.highest_score[end - 1])
    if not 0 < highest - lowest <= _SMALL * (full.high - full.low):
        return None
    rates = bins.mean_hit[first:end]
    if end == bins.mean_score.size and lowest >= _NEAR_ONE:
        return _near_one(bins, lowest, float(rates.min()))
    low, high = rounded_range(min(lowest, float(rates.min())), max(highest, float(rates.max())))
    if high - low < _LEAST_ENLARGED:
        low = max(min(low, 1.0 - _LEAST_ENLARGED), 0.0)
        high = low + _LEAST_ENLARGED
    is_line = highest - lowest < _LINE * (high - low)
    is_larger = high - low <= 0.6 * (full.high - full.low)
    return Panel(low, high, low, high) if is_larger and not is_line else None


def _shortest_run(bins: PictureBins, rows: float) -> tuple[int, int]:
    """Return the first bin, and the one after the last, of the shortest run with so many rows."""
    cumulative_rows = np.r_[0, np.cumsum(bins.n_in_bin)]
    stops = np.searchsorted(cumulative_rows, cumulative_rows[:-1] + rows)
    starts = np.flatnonzero(stops < cumulative_rows.size)
    lengths = bins.highest_score[stops[starts] - 1] - bins.lowest_score[starts]
    shortest = starts[np.argmin(lengths)]
    return int(shortest), int(stops[shortest])


def _near_one(bins: PictureBins, score: float, rate: float) -> Panel:
    """Return the panel from a score, whose 1 − score is rounded up to a power of ten, to 1."""
    first = math.floor(-math.log10(1.0 - score))
    highest = min(float(bins.mean_score[-1]), 1.0 - _LEAST_FROM_ONE)
    last = max(math.ceil(-math.log10(1.0 - highest) - 1e-9), first + 1)
    lowest_rate, highest_rate = rounded_range(min(rate, 1.0 - _LEAST_ENLARGED), 1.0)
    return Panel(1 - 10.0**-first, 1 - 10.0**-last, lowest_rate, highest_rate, near_one=True)


def _parts(
    drawn: Drawn, kind: str, panel: Panel, name: str, corp: CorpDiagram | None
) -> Iterator[str]:
    """Yield the elements of one panel; what is beyond it is cut off."""
    groups = [""] if len(drawn) == 1 else [f' class="of-{k + 1}"' for k in range(len(drawn))]
    yield from _axes(kind, panel, name)
    for k, each in enumerate(drawn):
        yield f"<g{groups[k]}>{''.join(_counts(each.bins, panel, k, len(drawn)))}</g>"
    yield _cut(0)
    if corp:
        yield from _steps(corp, panel)
        return
    for group, each in zip(groups, drawn, strict=True):
        yield f"<g{group}>{''.join(_curve(each.curve, panel))}</g>"
    yield "</svg>"
    if len(drawn) == 1:
        yield from _bins(drawn[0].bins, panel)


def _curve(curve: PosteriorCurve, panel: Panel) -> Iterator[str]:
    shown = _within(panel, curve.scores)
    if shown.sum() > 1:
        at, mean, low, high = (array[shown] for array in curve)
        edge = [*zip(at, high, strict=True), *zip(at[::-1], low[::-1], strict=True)]
        yield f'<polygon class="band" points="{_points(panel, edge)}"/>'
        yield f'<polyline class="curve" points="{_points(panel, zip(at, mean, strict=True))}"/>'


def _bins(bins: PictureBins, panel: Panel) -> Iterator[str]:
    yield _cut(_POINT)
    for k in np.flatnonzero(_within(panel, bins.mean_score)):
        rate = min(max(bins.mean_hit[k], 0.0), 1.0)  # of outcomes that are right on average
        x, y = panel.across(bins.mean_score[k]), panel.down(rate)
        low, high = (
            panel.down(min(max(end[k], panel.lowest_rate), panel.highest_rate))
            for end in (bins.low, bins.high)
        )
        radius = 2.0 + 4.0 * math.sqrt(bins.n_in_bin[k] / bins.n_in_bin.max())
        yield (
            f'<line class="limits" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>'
            f'<circle class="bin" cx="{x}" cy="{y}" r="{radius:.1f}"><title>'
            f"{bins.lowest_score[k]:.3g} to {bins.highest_score[k]:.3g}: {bins.n_in_bin[k]} rows, "
            f"{100 * bins.mean_hit[k]:.1f} %</title></circle>"
        )
    yield "</svg>"


def _steps(corp: CorpDiagram, panel: Panel) -> Iterator[str]:
    """Yield the band and the steps of the CORP diagram, and the end of its element."""
    middles = corp.mean_score
    edge = [*zip(middles, corp.band_high, strict=True)]
    edge += zip(middles[::-1], corp.band_low[::-1], strict=True)
    ends = np.column_stack([corp.lowest_score, corp.highest_score]).ravel()
    steps = _points(panel, zip(ends, np.repeat(corp.mean_hit, 2), strict=True))
    yield f'<polygon class="consistent" points="{_points(panel, edge)}"/>'
    yield f'<polyline class="pools" points="{steps}"/></svg>'


def _cut(margin: int) -> str:
    """Return the start of an <svg> that shows the panel's square and a margin."""
    x, y, width = LEFT - margin, TOP - margin, SIDE + 2 * margin
    box = f'viewBox="{x} {y} {width} {width}"'
    return f'<svg x="{x}" y="{y}" width="{width}" height="{width}" {box}>'


def _axes(kind: str, panel: Panel, name: str) -> Iterator[str]:
    left = LEFT
    yield f'<rect class="axis" x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}"/>'
    same = [(x, x) for x in _scores_across(panel) if x >= panel.lowest_rate]
    yield f'<polyline class="same" fill="none" points="{_points(panel, same)}"/>'
    if name:
        yield _text(left, TOP - 11, name, "start")  # above the panel: it covers no data
    scores, rates = ("risk, %", "events, %") if kind == EVENT else ("score, %", "hits, %")
    if panel.near_one:
        scores = f"100 − {scores} (log scale, reversed)"
    for tick in panel.rate_ticks():
        yield _text(left - 6, float(panel.down(tick)) + 4, f"{100 * tick:g}", "end")
    for tick, label in panel.score_ticks():
        x, bottom = float(panel.across(tick)), COUNTS_TOP + COUNTS + 17
        is_cut = x + 4 * len(label) > WIDTH
        yield _text(WIDTH if is_cut else x, bottom, label, "end" if is_cut else "middle")
    yield f'<g transform="translate(15 {TOP + SIDE / 2}) rotate(-90)">{_text(0, 0, rates)}</g>'
    yield _text(left + SIDE / 2, HEIGHT - 8, scores)
    bottom = COUNTS_TOP + COUNTS
    yield f'<line class="axis" x1="{LEFT}" x2="{LEFT + SIDE}" y1="{bottom}" y2="{bottom}"/>'
    yield _text(LEFT - 6, bottom, "rows", "end")


def _counts(bins: PictureBins, panel: Panel, k: int, models: int) -> Iterator[str]:
    """Yield bars of rows per unit of the axis, one a bin, of model k from below."""
    tallest, bottom = COUNTS / models, COUNTS_TOP + COUNTS * (k + 1) / models
    shown = np.flatnonzero(_within(panel, bins.mean_score))
    ends = np.array(
        [[float(panel.across(end[k])) for end in (bins.lowest_score, bins.highest_score)]
         for k in shown]
    ).reshape(-1, 2)  # fmt: skip
    widths = np.maximum(ends[:, 1] - ends[:, 0], (0.06 if panel.near_one else 0.008) * SIDE)
    density = bins.n_in_bin[shown] / widths
    for first, width, rows in zip(ends[:, 0], widths, density, strict=True):
        height = tallest * rows / density.max()
        end = min(max(first, LEFT) + width, LEFT + SIDE)
        x = min(max(first, LEFT), LEFT + SIDE - width) if panel.near_one else max(first, LEFT)
        yield (
            f'<rect class="rows" x="{x:.1f}" y="{bottom - height:.1f}" '
            f'width="{max(end - x, 1.5):.1f}" height="{height:.1f}"/>'
        )


def _text(x: float | str, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>'


def _scores_across(panel: Panel) -> list[float]:
    """Return scores from end to end of a panel, whose line of perfect calibration may be bent."""
    if not panel.near_one:
        return [panel.low, panel.high]
    ends = (math.log10(1 - panel.low), math.log10(1 - panel.high))
    return [1 - 10.0**power for power in np.linspace(*ends, 60)]


def _within(panel: Panel, scores: np.ndarray) -> np.ndarray:
    margin = 1e-9
    return (scores >= panel.low - margin) & (panel.near_one | (scores <= panel.high + margin))


def _points(panel: Panel, pairs: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{panel.across(x)},{panel.down(y)}" for x, y in pairs)
