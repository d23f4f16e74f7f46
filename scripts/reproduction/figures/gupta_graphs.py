"""The four calibration graphs of Gupta et al. (2021), Figures 1 to 10, of one model.

Cumulative scores and hits; their difference, whose greatest size is the KS error; score and
probability of a hit (a spline fitted to the rows shown); that probability by score. Of the model as
it is, and after the spline on the fold that the spline is fitted to and on the test fold.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calbias.errors import InputError
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TABLES = ("calibration_graphs",)
FIGURES = {
    "gupta_fig1_calibration": {"measure": "ks_top1", "classes": "the top class"},
    "gupta_fig3_top2": {"measure": "ks_top2", "classes": "the second class"},
    "gupta_fig5_top3": {"measure": "ks_top3", "classes": "the third class"},
    "gupta_fig7_within_top2": {
        "measure": "ks_within_top2",
        "classes": "the two top classes together",
    },
    "gupta_fig9_within_top3": {
        "measure": "ks_within_top3",
        "classes": "the three top classes together",
    },
}
TITLE = "Calibration graphs of {classes}, before and after the spline"
ROWS = {
    ("uncalibrated", "test"): "uncalibrated",
    ("spline", "validation"): "spline,\nfold of its fit",
    ("spline", "test"): "spline,\ntest fold",
}
COLUMNS = ("Cumulative sums", "Their difference", "By rank of the score", "By score")
PAPERS_MODEL = "densenet40_c10"
NULL_95 = 2.2414  # 95 % quantile of the greatest deviation of a Brownian motion on [0, 1]
_SCORE: dict[str, Any] = {"color": style.ORANGE, "linestyle": (0, (4, 2)), "label": "score"}
_HIT: dict[str, Any] = {
    "color": style.BLUE,
    "linestyle": "-",
    "label": "hits, or the probability of a hit",
}


def draw(tables: Tables, measure: str, classes: str, model: str = "") -> Figure:
    """Return a row of panels for the model as it is, and one per fold after the spline."""
    table = selection.rows(tables, "calibration_graphs", measure=measure)
    model = model or _shown(table)
    graphs = dict(list(table[table["model"] == model].groupby(["method", "fold"])))
    if not graphs:
        raise InputError(f"results/tables/calibration_graphs.csv: no row of {model}")
    names = {key: words for key, words in ROWS.items() if key in graphs}
    figure = style.figure(style.PAGE, 0.9 + 1.6 * len(names))
    axes = figure.subplots(len(names), 4, squeeze=False)
    for row, (key, words) in zip(axes, names.items(), strict=True):
        points = graphs[key]
        _graphs(row, points)
        error = f"KS error {points['ks_percent'].iloc[0]:.2f} %"
        look: dict[str, Any] = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1}
        row[1].text(0.97, 0.97, error, transform=row[1].transAxes, ha="right", va="top", bbox=look)
        row[1].margins(y=0.16)
        row[0].set_ylabel(f"{words}\n\n{row[0].get_ylabel()}")
    for panel, title in zip(axes[0], COLUMNS, strict=True):
        panel.set_title(title)
    below = ["percentile of the scores"] * 3 + [labels.SCORE]
    for panel, label in zip(axes[-1], below, strict=True):
        panel.set_xlabel(label)
    handles = [axes[0, 1].collections[0], *axes[0, 0].get_lines()]
    panels.legend_below(figure, handles, 3)
    panels.note(figure, model, classes, labels.source_label(table["source"]))
    return figure


def _shown(table: pd.DataFrame) -> str:
    """Return the model to show: the paper's, or the first with a spline, or the first."""
    with_spline = table[table["method"] == "spline"]
    return selection.preferred(with_spline if len(with_spline) else table, PAPERS_MODEL)


def _graphs(axes: Sequence[Axes], points: pd.DataFrame) -> None:
    percentile, score = 100 * points["fractile"], points["score"]
    summed, hits = points["cumulative_score"], points["cumulative_hit"]
    axes[0].plot(percentile, summed, **_SCORE)
    axes[0].plot(percentile, hits, **_HIT)
    axes[0].set_ylabel("cumulative")
    margin = 100 * NULL_95 * points["null_sd"]
    axes[1].fill_between(percentile, -margin, margin, color="0.85", linewidth=0,
                         label="95 % of calibrated models are inside")  # fmt: skip
    axes[1].plot(percentile, 100 * (hits - summed), **_HIT)
    axes[1].axhline(0, **style.REFERENCE)
    axes[1].set_ylabel("hits − scores (%)")
    for panel, x in ((axes[2], percentile), (axes[3], score)):
        panel.plot(x, score, **_SCORE)
        panel.plot(x, points["hit_probability"], **_HIT)
        panel.set_ylabel("score, probability")
