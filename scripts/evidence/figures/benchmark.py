"""Benchmark: how many times faster an implementation is than its baseline, with the spread."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from pipeline.figures import labels, panels, selection, style

TITLE = "Speed of sampling and estimating against baselines"
TABLES = ("benchmark",)


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return a bar per row of the table: the median ratio, its range, and the seconds spent."""
    timed = selection.rows(tables, "benchmark").dropna(subset="ratio_median")
    timed = timed[~timed["work"].str.startswith("recalibration")]
    works = selection.in_order(timed["work"])
    timed = timed.sort_values("work", key=lambda work: work.map(works.index), kind="stable")
    figure = style.figure(style.PAGE, 0.85 + 0.42 * len(timed))
    axes = figure.subplots()
    places, median = range(len(timed)), timed["ratio_median"]
    axes.barh(
        places, median - 1, left=1, height=0.62, color=style.group_colour(0), alpha=0.6,
        xerr=[median - timed["ratio_low"], timed["ratio_high"] - median],
        error_kw={"elinewidth": 0.9, "capsize": 2},
    )  # fmt: skip
    names = []
    for place, row in zip(places, timed.itertuples(), strict=True):
        words = f"{row.work}, {labels.counted(row.n_scores, 'scores')}\n{row.implementation}"
        names.append(f"{words} / {row.baseline}".replace("_", " "))
        seconds = f"{row.seconds:.3g} s, baseline {row.baseline_seconds:.3g} s"
        axes.annotate(
            f"{row.ratio_median:.3g}×  ({seconds})", (max(row.ratio_high, 1.0), place),
            xytext=(5, 0), textcoords="offset points", va="center", fontsize=6.5,
        )  # fmt: skip
    axes.set_yticks(places, names, fontsize=6)
    axes.invert_yaxis()
    axes.axvline(1.0, **style.REFERENCE)
    low, high = min(1.0, timed["ratio_low"].min()), max(1.0, timed["ratio_high"].max())
    axes.set(xscale="log", xlim=(low / 1.15, high * (high / low) ** 0.7 * 1.5))
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1,) if high > 100 * low else (1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("time of the baseline / time of the implementation (ratio, log scale)")
    panels.note(figure, "bars: median, with the lowest and highest of the interleaved runs")
    return figure
