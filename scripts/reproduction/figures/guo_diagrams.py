"""Confidence histograms above reliability diagrams, as in Guo et al. (2017).

Figure 1 has models as they are, Figure 4 one model before and after recalibration. Bars of a
reliability diagram are the accuracy of a bin, with its 95 % Wilson interval; the open part is the
gap to the mean score.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.detection_limits import wilson_interval
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TABLES = ("reliability_bins",)
FIGURES = {
    "guo_fig1_confidence": {"shows": "models"},
    "guo_fig4_recalibrated": {"shows": "methods"},
}
TITLE = "Confidence histograms and reliability diagrams of {shows}"
MOST = 4  # columns
METHODS = ("uncalibrated", "temperature_scaling", "histogram_binning", "isotonic_regression")
PAPERS_MODEL = "resnet110_c100"


def draw(tables: Tables, shows: str) -> Figure:
    """Return a column per model, or per method of one model."""
    model, columns = _columns(tables, shows)
    figure = style.figure(max(style.COLUMN, style.PAGE * len(columns) / MOST), 3.9)
    axes = figure.subplots(2, len(columns), sharex=True, sharey="row", height_ratios=(1, 1.6))
    axes = axes.reshape(2, -1)
    for (upper, lower), (title, bins) in zip(axes.T, columns.items(), strict=True):
        _histogram(upper, bins)
        _reliability(lower, bins)
        upper.set_title(title)
        lower.set(xlabel=labels.SCORE, xticks=(0, 0.5, 1))
    axes[0, 0].set_ylabel("samples (%)")
    axes[1, 0].set_ylabel("accuracy in bin")
    handles = [h for panel in axes[:, 0] for h in panel.get_legend_handles_labels()[0]]
    panels.legend_below(figure, handles, 3 if len(columns) > 2 else 1)
    panels.note(figure, model, labels.source_label(pd.concat(columns.values())["source"]))
    return figure


def _columns(tables: Tables, shows: str) -> tuple[str, dict[str, pd.DataFrame]]:
    """Return the one model, or nothing, and {title: bins} of the columns."""
    table = selection.rows(tables, "reliability_bins")
    if shows == "models":
        rows = table[table["method"] == "uncalibrated"]
        models = selection.in_order(rows["model"])[:MOST]
        return "", {model: rows[rows["model"] == model] for model in models}
    model = selection.preferred(table, PAPERS_MODEL)
    rows = table[table["model"] == model]
    there = selection.in_order(rows["method"])
    chosen = [m for m in METHODS if m in there] + [m for m in there if m not in METHODS]
    columns = {labels.method_label(m): rows[rows["method"] == m] for m in chosen[:MOST]}
    return model, columns


def _histogram(axes: Axes, bins: pd.DataFrame) -> None:
    n, width = bins["n_in_bin"], bins["high"] - bins["low"]
    look: dict[str, Any] = {"align": "edge", "color": "0.75", "edgecolor": "0.4", "linewidth": 0.4}
    axes.bar(bins["low"], 100 * n / n.sum(), width, **look)
    for column, colour, line, name in (
        ("mean_hit", style.BLUE, "-", "accuracy"),
        ("mean_score", style.ORANGE, (0, (3, 1.5)), "mean score"),
    ):
        mean = (bins[column].fillna(0) * n).sum() / n.sum()
        axes.axvline(mean, color=colour, linestyle=line, label=f"{name} (all samples)")
    axes.set(xlim=(0, 1), ylim=(0, 100))


def _reliability(axes: Axes, bins: pd.DataFrame) -> None:
    bins = bins.dropna(subset=["mean_hit", "mean_score"])
    low, width, hit = bins["low"], bins["high"] - bins["low"], bins["mean_hit"]
    look: dict[str, Any] = {"align": "edge", "linewidth": 0.5}
    axes.bar(low, hit, width, color=style.BLUE, alpha=0.45, edgecolor=style.BLUE,
             label="accuracy of a bin", **look)  # fmt: skip
    axes.bar(low, bins["mean_score"] - hit, width, bottom=hit, color="none", edgecolor=style.ORANGE,
             hatch="////", label="gap to its mean score", **look)  # fmt: skip
    axes.vlines(low + width / 2, *wilson_interval(hit, bins["n_in_bin"], 1.96), color="0.2",
                linewidth=0.7, label="95 % interval of the accuracy")  # fmt: skip
    axes.plot([0, 1], [0, 1], **style.REFERENCE)
    axes.set(xlim=(0, 1), ylim=(0, 1))
