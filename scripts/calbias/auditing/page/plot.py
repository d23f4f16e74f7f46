"""The figure of an audit on matplotlib axes: curve with band, groups with limits, rows below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calbias.auditing.data import EVENT
from calbias.auditing.error.bins import PictureBins, joined_bins
from calbias.auditing.page.picture import rounded_range
from calbias.errors import of_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calbias.auditing.audit_result import AuditNumbers
    from calbias.auditing.comparison.comparison_result import ComparisonNumbers

_BLUE, _ORANGE, _GREY = "#0a5c7d", "#b3541e", "#9aa3ad"
_MOST_GROUPS = 10  # of a risk model, as its reports draw
_MOST_ROWS, _SMALLER = 0.98, 0.75  # rows that are shown where this makes the range so much smaller
_LARGE = 0.1  # share of the rows of a bin whose limits are shown to their ends
_STRIP = 0.1  # of the height, for the bars of the rows


def draw(audit: AuditNumbers, ax: Axes) -> None:
    """Draw an Audit; both axes show the part of [0, 1] that scores, curve and groups are in."""
    bins, curve, level = audit.bins, audit.curve, f"{100 * audit.confidence_level:g} %"
    points, label = bins, f"bins, {level}; area ∝ rows"
    is_large = bins.n_in_bin >= _LARGE * bins.n_in_bin.sum()
    rates = np.r_[bins.mean_hit, bins.low[is_large], bins.high[is_large]]
    if audit.kind == EVENT:
        effect = audit.design_effect or 1.0
        points = joined_bins(bins, _MOST_GROUPS, audit.confidence_level, effect)
        label, rates = f"groups, {level}; area ∝ rows", np.r_[points.low, points.high]
    last = highest = bins.highest_score[-1]
    if audit.kind == EVENT:  # few rows of high risk would push all others into a corner
        share = np.cumsum(bins.n_in_bin) / bins.n_in_bin.sum()
        last = bins.highest_score[np.searchsorted(share, _MOST_ROWS)]
        last = last if last <= _SMALLER * highest else highest
    shown = curve.mean[curve.scores <= last]
    values = np.r_[bins.lowest_score[0], last, shown, rates]
    ends = rounded_range(float(values.min()), float(values.max()))
    beyond = int(bins.n_in_bin[bins.lowest_score > ends[1]].sum())
    ax.plot(ends, ends, color=_GREY, linewidth=1, linestyle="--", label="calibrated")
    low = np.maximum(curve.low, ends[0])
    ax.fill_between(curve.scores, low, curve.high, color=_BLUE, alpha=0.2, linewidth=0)
    ax.plot(curve.scores, curve.mean, color=_BLUE, label=f"calibration curve, {level} band")
    lows = np.maximum(points.low, ends[0])
    ax.vlines(points.mean_score, lows, points.high, color=_ORANGE, linewidth=1, alpha=0.6)
    sizes = 6 + 40 * points.n_in_bin / points.n_in_bin.max()
    rates = np.clip(points.mean_hit, 0.0, 1.0)  # of outcomes that are right on average
    ax.scatter(points.mean_score, rates, sizes, color=_ORANGE, label=label, zorder=3)
    more = f" ({beyond} of {audit.n} rows above {ends[1]:g})" if beyond else ""
    _finish(ax, audit.kind, ends, _draw_rows(bins, ends, ax), more)


def draw_comparison(comparison: ComparisonNumbers, ax: Axes) -> None:
    """Draw the curves of both models of a Comparison, each with its band and rows."""
    models, level = comparison.models, f"{100 * comparison.confidence_level:g} %"
    values = np.concatenate(
        [np.r_[m.bins.lowest_score[0], m.bins.highest_score[-1], m.curve.mean] for m in models]
    )
    ends = rounded_range(float(values.min()), float(values.max()))
    ax.plot(ends, ends, color=_GREY, linewidth=1, linestyle="--", label="calibrated")
    for k, (model, color) in enumerate(zip(models, (_BLUE, _ORANGE), strict=True)):
        at, mean, low, high = model.curve
        ax.fill_between(at, low, high, color=color, alpha=0.2, linewidth=0)
        ax.plot(at, mean, color=color, label=f"{model.name}, {level} band")
        lowest = _draw_rows(model.bins, ends, ax, color, k)
    _finish(ax, comparison.kind, ends, lowest)


def _finish(ax: Axes, kind: str, ends: tuple[float, float], lowest: float, more: str = "") -> None:
    """Write labels and ticks; below the range of the rates are the bars of the rows."""
    names = ("risk", "share of events") if kind == EVENT else ("score", "share of hits")
    ax.set(xlim=ends, ylim=(lowest, ends[1]), xlabel=names[0] + more, ylabel=names[1])
    ax.set_yticks([tick for tick in ax.get_yticks() if ends[0] <= tick <= ends[1] + 1e-9])
    ax.legend(frameon=False, fontsize="small")


def _draw_rows(
    bins: PictureBins, ends: tuple[float, float], ax: Axes, color: str = _GREY, k: int = 0
) -> float:
    """Draw bars of rows per unit of the score in strip k below the rates; return its bottom."""
    size = ends[1] - ends[0]
    widths = np.maximum(bins.highest_score - bins.lowest_score, 0.005 * size)
    density = bins.n_in_bin / widths
    lowest = ends[0] - (k + 1) * _STRIP * size
    ax.axhline(ends[0], color=_GREY, linewidth=0.8)
    label = "" if k or color != _GREY else "where the rows are"
    ax.bar(
        bins.lowest_score, 0.95 * _STRIP * size * density / density.max(), widths, lowest,
        align="edge", color=color, alpha=0.5, linewidth=0, label=label, zorder=0,
    )  # fmt: skip
    return lowest


def new_axes() -> Axes:
    """Return the axes of a new figure."""
    pyplot = of_extra("a picture", "matplotlib.pyplot")
    return pyplot.figure(figsize=(5.2, 5.2), layout="constrained").add_subplot()
