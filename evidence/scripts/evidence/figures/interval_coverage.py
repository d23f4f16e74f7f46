"""Coverage of the intervals: how often each method holds the truth."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evidence.names import CLUSTERED, cluster_cell_name
from pipeline.figures import panels, selection, style
from reproduction.judging import JUDGING

TABLES = ("interval_coverage",)
DRAWN_AT = 1000  # rows of the judging scenarios that are drawn
TIED = ("rounded", "binned", "verbalised")
OURS = "calbias"
NAMES = {
    OURS: "interval of an audit",
    "calbias_l2": "the same, ℓ2",
    "sun2024": "Sun et al. 2024",
}
TITLE = "How often the intervals of an audit hold the true error"


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return a panel per sample size: methods down, coverage across, a dot per scenario.

    A curve has one colour and marker; of the distributions the first is filled, others hollow.
    Scenarios of the judging half, which only the audit's interval has, are small bars; those with
    clusters of rows stand below.
    """
    every = selection.rows(tables, "interval_coverage")
    is_judging = every["scenario"].str.startswith(JUDGING)
    is_clustered = every["scenario"].str.startswith(CLUSTERED)
    table, judging = every[~is_judging & ~is_clustered], every[is_judging]
    judging = judging[judging["n_samples"] == DRAWN_AT]
    clustered = every[is_clustered]
    sizes, methods = sorted(table["n_samples"].unique()), selection.in_order(table["method"])
    scenarios = selection.in_order(table["scenario"])
    distributions, curves = (
        list(dict.fromkeys(s.split("_", 1)[k] for s in scenarios)) for k in (0, 1)
    )
    below = 0.18 * len(clustered) + 0.7 if len(clustered) else 0.0
    above = 0.42 * len(methods)
    figure = style.figure(style.PAGE, 1.1 + above + below)
    grid = figure.add_gridspec(
        2 if below else 1, len(sizes), height_ratios=[above, below][: 1 + bool(below)]
    )
    row = [figure.add_subplot(grid[0, 0])]
    row += [figure.add_subplot(grid[0, k], sharey=row[0]) for k in range(1, len(sizes))]
    for axes in row[1:]:
        axes.tick_params(labelleft=False)
    shift = dict(zip(scenarios, np.linspace(-0.32, 0.32, len(scenarios)), strict=True))
    nominal = 100 * table["nominal"].iloc[0]
    for axes, n in zip(row, sizes, strict=True):
        axes.axvline(nominal, **style.REFERENCE)
        for scenario in scenarios:
            distribution, curve = scenario.split("_", 1)
            index = curves.index(curve)
            rows = table[(table["n_samples"] == n) & (table["scenario"] == scenario)]
            y = [methods.index(name) + shift[scenario] for name in rows["method"]]
            coverage = rows["coverage"]
            ends = [100 * (coverage - rows["low"]), 100 * (rows["high"] - coverage)]
            axes.errorbar(
                100 * coverage, y, xerr=ends, linestyle="", capsize=0,
                marker=style.SIZE_MARKERS[index % len(style.SIZE_MARKERS)],
                markersize=3.5, elinewidth=0.7,
                color=style.group_colour(index), label=scenario.replace("_", " "),
                markerfacecolor=None if distribution == distributions[0] else "white",
            )  # fmt: skip
        rows = judging[judging["n_samples"] == n]
        is_tied = rows["scenario"].str.contains("|".join(TIED))
        for some, colour in ((rows[~is_tied], "#777777"), (rows[is_tied], "#C2410C")):
            heights = [methods.index(name) + 0.42 for name in some["method"]]
            axes.plot(
                100 * some["coverage"],
                heights,
                linestyle="",
                marker="|",
                markersize=5,
                color=colour,
            )
        axes.set(title=f"n = {n}", xlabel="intervals that hold the truth (%)", xlim=(-3, 103))
    row[0].set_yticks(range(len(methods)), list(map(_in_words, methods)))
    row[0].invert_yaxis()
    panels.legend_below(figure, row[0].get_legend_handles_labels()[0], 4)
    numbers = sorted({int(table["n_data_sets"].min()), int(table["n_data_sets"].max())})
    data_sets = f"{' to '.join(map(str, numbers))} data sets per dot, exact 95 % ranges"
    n_tied = judging["scenario"].drop_duplicates().str.contains("|".join(TIED)).sum()
    n_others = judging["scenario"].nunique() - n_tied
    others = f"; bars: {n_others} judging scenarios, orange: {n_tied} with tied scores"
    others *= len(judging) > 0
    if below:
        bottom = figure.add_subplot(grid[1, :])
        ends = [clustered["coverage"] - clustered["low"], clustered["high"] - clustered["coverage"]]
        words = {"calbias_clusters": "calbias, by clusters"}
        kinds = clustered.assign(kind=clustered["method"])
        clusters(bottom, kinds, "coverage", np.array(ends), words)
        bottom.axvline(nominal, **style.REFERENCE)
        bottom.set_xlabel("intervals that hold the truth (%)")
    panels.note(figure, data_sets, f"dotted line: the nominal {nominal:g} %{others}")
    return figure


def _in_words(method: str) -> str:
    return NAMES.get(method, method.replace("_", " "))


def clusters(
    axes: Axes, rows: pd.DataFrame, value: str, margins: Any, words: Mapping[str, Any]
) -> None:
    """Draw shares of clustered scenarios, a line for each and a look for each key of ``words``.

    ``rows`` have ``scenario``, the column ``value`` and a ``kind``, a key of ``words``; ``margins``
    are their bars (2, n).
    """
    cells = selection.in_order(rows["scenario"])
    for k, kind in enumerate(words):
        inside = (rows["kind"] == kind).to_numpy()
        at = [cells.index(name) for name in rows.loc[inside, "scenario"]]
        look = {"marker": "os"[k], "color": style.group_colour(k), "label": words[kind]}
        axes.errorbar(
            100 * rows.loc[inside, value], at, xerr=100 * margins[:, inside], linestyle="",
            markersize=3.5, elinewidth=0.7, **look,
        )  # fmt: skip
    axes.set_yticks(range(len(cells)), [cluster_cell_name(x) for x in cells], fontsize=6.3)
    axes.set(ylim=(len(cells) - 0.4, -0.6), xlim=(-3, 103))
    axes.set_title("Clusters × rows that depend on each other", fontsize=8)
    axes.grid(visible=False, axis="y")
    axes.legend(fontsize=6.3, loc="best")
