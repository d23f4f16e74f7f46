"""Figure 1: a perfectly calibrated model, one sample's reliability diagram and ECE_bin's spread."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TITLE = "A perfectly calibrated model: one data set in bins, and its ECE_bin over many"
TABLES = ("reliability_diagram", "estimate_histogram", "true_calibration_error")
EXPERIMENTS = ("intro",)


def draw(tables: Tables) -> Figure:
    """Return the reliability diagram of one sample next to the histogram of the estimates."""
    figure = style.figure(style.COLUMN, 2.1)
    left, right = figure.subplots(1, 2)
    _reliability(left, selection.rows(tables, "reliability_diagram", experiment="intro"))
    histogram = selection.rows(tables, "estimate_histogram", experiment="intro")
    _histogram(right, histogram)
    panels.note(
        figure,
        f"n = {labels.span(histogram['n_samples'])}",
        f"right: {labels.span(histogram['n_replicates'])} data sets",
        "grey bars: ±2 standard errors if calibrated",
    )
    return figure


def _reliability(axes: Axes, bins: pd.DataFrame) -> None:
    """Draw the hits of each bin, and where 95 % of them would be if the model is calibrated."""
    bins = bins[bins["n_in_bin"] > 0]
    colour = style.FAMILIES["ece_bin"][0]
    width, score = bins["high"] - bins["low"], bins["mean_score"]
    look: dict[str, Any] = {
        "align": "edge",
        "color": colour,
        "alpha": 0.35,
        "edgecolor": colour,
        "linewidth": 0.5,
    }
    axes.bar(bins["low"], bins["mean_hit"], width, **look)
    error = 2 * np.sqrt(score * (1 - score) / bins["n_in_bin"])
    low, high = (score - error).clip(0, 1), (score + error).clip(0, 1)
    axes.vlines(score, low, high, color="0.5", linewidth=0.7)
    axes.plot(score, bins["mean_hit"], "o", color=colour, markersize=2.4, clip_on=False)
    axes.plot([0, 1], [0, 1], **style.REFERENCE)
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes.set(xlabel=labels.SCORE, ylabel="share of hits in bin", title="One data set")


def _histogram(axes: Axes, histogram: pd.DataFrame) -> None:
    names = style.estimator_order(histogram["estimator"])
    words: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "fontsize": 6.5,
    }
    for estimator in names:
        bins = histogram[histogram["estimator"] == estimator].sort_values("low_percent")
        colour = style.estimator_style(estimator)["color"]
        share = 100 * bins["count"] / bins["count"].sum()
        edges = [*bins["low_percent"], bins["high_percent"].iloc[-1]]
        axes.stairs(share, edges, fill=True, color=colour, alpha=0.35)
        axes.stairs(share, edges, color=colour, linewidth=0.8)
        mean = bins["mean_estimate_percent"].iloc[0]
        axes.axvline(mean, color=colour, linewidth=0.9)
        text = f"mean {mean:.2f} %"
        axes.annotate(text, (mean, 1.0), xytext=(3, -2), va="top", color=colour, **words)
    axes.axvline(0.0, **style.REFERENCE)
    axes.annotate("TCE", (0.0, 0.6), xytext=(2, 0), rotation=90, **words)
    axes.set(xlabel="estimate (%)", ylabel="share of data sets (%)", ylim=(0, None))
    axes.set_title(labels.estimator_label(names[0]) if len(names) == 1 else "estimates")
