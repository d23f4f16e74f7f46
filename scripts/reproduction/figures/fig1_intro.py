"""Figure 1: a perfectly calibrated model, one sample's reliability diagram and ECE_bin's spread."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calbias.auditing.diagrams.reliability import ReliabilityDiagram, reliability_diagram
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TITLE = "A perfectly calibrated model: one data set in bins, and its ECE_bin over many"
TABLES = ("shown_data_set", "estimate_histogram", "bias")
EXPERIMENTS = ("intro",)


def draw(tables: Tables) -> Figure:
    """Return the reliability diagram of one sample next to the histogram of the estimates."""
    figure = style.figure(style.COLUMN, 2.1)
    left, right = figure.subplots(1, 2)
    rows = selection.rows(tables, "shown_data_set", experiment="intro")
    n_bins = int(selection.rows(tables, "bias", experiment="intro")["n_bins"].max())
    bins = reliability_diagram(rows["score"], rows["hit"], n_bins=n_bins, replicates=1)
    _reliability(left, bins, n_bins)
    _rows(left, rows)
    histogram = selection.rows(tables, "estimate_histogram", experiment="intro")
    _histogram(right, histogram, ece_percent(bins))
    panels.note(
        figure,
        f"n = {labels.span(histogram['n_samples'])}",
        f"right: {labels.span(histogram['n_replicates'])} data sets",
        "grey bars: ±2 standard errors if calibrated",
        "ticks: hits above, misses below",
    )
    return figure


def numbers(tables: Tables) -> pd.DataFrame:
    """Return the histogram on the right; table ``shown_data_set`` has the rows on the left."""
    return selection.rows(tables, "estimate_histogram", experiment="intro")


def _reliability(axes: Axes, bins: ReliabilityDiagram, n_bins: int) -> None:
    """Draw the hits of each bin, and where 95 % of them would be if the model is calibrated."""
    colour = style.FAMILIES["ece_bin"][0]
    score = bins.mean_score
    look: dict[str, Any] = {
        "align": "edge",
        "color": colour,
        "alpha": 0.35,
        "edgecolor": colour,
        "linewidth": 0.5,
    }
    left = np.minimum(np.floor(n_bins * bins.lowest_score), n_bins - 1) / n_bins
    axes.bar(left, bins.mean_hit, 1 / n_bins, **look)
    error = 2 * np.sqrt(score * (1 - score) / bins.n_in_bin)
    low, high = (score - error).clip(0, 1), (score + error).clip(0, 1)
    axes.vlines(score, low, high, color="0.5", linewidth=0.7)
    axes.plot(score, bins.mean_hit, "o", color=colour, markersize=2.4, clip_on=False)
    axes.plot([0, 1], [0, 1], **style.REFERENCE)
    axes.set(xlim=(0, 1), ylim=(-0.09, 1.09), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes.set(xlabel=labels.SCORE, ylabel="share of hits in bin", title="One data set")


def _rows(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw a tick for each row: hits above the bins, misses below."""
    for hit, ends in ((1, (1.02, 1.08)), (0, (-0.08, -0.02))):
        scores = rows.loc[rows["hit"] == hit, "score"]
        axes.vlines(scores, *ends, color="0.3", linewidth=0.5, clip_on=False)


def ece_percent(bins: ReliabilityDiagram) -> float:
    """Return the ℓ2 ECE of a data set by its bins, in percent."""
    squares = (bins.mean_score - bins.mean_hit) ** 2
    return float(100 * np.sqrt(np.average(squares, weights=bins.n_in_bin)))


def _histogram(axes: Axes, histogram: pd.DataFrame, shown: float) -> None:
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
    look: dict[str, Any] = {"color": "0.3", "linewidth": 0.9, "linestyle": (0, (3, 2))}
    axes.vlines(shown, 0, 1, transform=axes.get_xaxis_transform(), **look)
    text = f"the data set\non the left\n{shown:.2f} %"
    axes.annotate(text, (shown, 0.8), xytext=(3, 0), va="top", color="0.3", **words)
    axes.axvline(0.0, **style.REFERENCE)
    axes.annotate("TCE", (0.0, 0.6), xytext=(2, 0), rotation=90, **words)
    axes.set(xlabel="estimate (%)", ylabel="share of data sets (%)", ylim=(0, None))
    axes.set_title(labels.estimator_label(names[0]) if len(names) == 1 else "estimates")
