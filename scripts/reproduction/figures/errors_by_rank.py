"""KS errors of all networks before and after the spline, by rank, beside a calibrated model's.

Gupta et al. (2021), Figures 1 to 10, show these for one network.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.figures import panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.paper import MODELS
from reproduction.figures.gupta_graphs import FIGURES as FIGURES_BY_RANK
from reproduction.figures.gupta_graphs import NULL_95

TABLES = ("calibration_graphs",)
TITLE = "KS errors of networks before and after the spline"
COLUMNS = {
    shown["measure"]: shown["classes"].removeprefix("the ").removesuffix(" together")
    for shown in FIGURES_BY_RANK.values()
}
LOOKS: dict[str, dict[str, Any]] = {
    "uncalibrated": {"marker": "s", "color": style.ORANGE, "label": "uncalibrated"},
    "spline": {"marker": "o", "color": style.BLUE, "label": "after the spline"},
}
_RANGE = "95 % of calibrated models are inside"


def draw(tables: Tables) -> Figure:
    """Return a panel per rank, a line per network: the paper's two above the others."""
    table = selection.rows(tables, "calibration_graphs", fold="test")
    graphs = table.drop_duplicates(["model", "measure", "method"])
    models = sorted(selection.in_order(graphs["model"]), key=lambda name: name not in MODELS)
    figure = style.figure(style.PAGE, 1.0 + 0.17 * len(models))
    axes = figure.subplots(1, len(COLUMNS), sharex=True, sharey=True)
    for panel, (measure, title) in zip(axes, COLUMNS.items(), strict=True):
        _errors(panel, graphs[graphs["measure"] == measure], models)
        panel.set_title(title)
        panel.set_xlabel("KS error (%)")
    axes[0].set_xscale("log")
    panels.ticks(axes[0].xaxis, (0.1, 1, 10), panels.short)
    names = [f"{name}, paper" if name in MODELS else name for name in models]
    axes[0].set_yticks(range(len(models)), names, fontsize=6.3)
    axes[0].set_ylim(len(models) - 0.5, -0.5)
    handles = [panels.handle(linestyle="", **look) for look in LOOKS.values()]
    handles.append(panels.handle(_RANGE, color="0.75", linewidth=5))
    panels.legend_below(figure, handles, 3)
    panels.note(figure, "test folds", "a network without a validation fold has no spline")
    return figure


def _errors(axes: Axes, graphs: pd.DataFrame, models: Sequence[str]) -> None:
    floors: dict[str, float] = {}
    for method, look in LOOKS.items():
        rows = graphs[graphs["method"] == method].set_index("model")
        floors |= (100 * NULL_95 * rows["null_sd"]).to_dict()
        at = [models.index(name) for name in rows.index]
        axes.plot(rows["ks_percent"], at, linestyle="", markersize=3.8, **look)
    for name, floor in floors.items():  # of the spline's scores where there are any
        axes.plot([0.01, floor], [models.index(name)] * 2, color="0.75", linewidth=5, zorder=1,
                  solid_capstyle="butt")  # fmt: skip
    axes.set_xlim(0.03, 40)
