"""Figure 2b: bias against the number of bins for each sample size (§4)."""

import itertools
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TITLE = "Bias of ECE_bin by number of bins and sample size"
TABLES = ("bias", "scenarios", "tce_rounding")
EXPERIMENTS = ("bins_by_n",)
PANELS_PER_ROW = 2


def draw(tables: Tables) -> Figure:
    """Return a panel per estimator and scenario, a line per n; a ring marks the least |bias|."""
    bias = selection.rows(tables, "bias", experiment="bins_by_n")
    bias = selection.with_scenario(tables, bias)
    scenarios = bias.drop_duplicates("scenario").itertuples()
    shown = list(itertools.product(style.estimator_order(bias["estimator"]), scenarios))
    columns = min(len(shown), PANELS_PER_ROW)
    n_rows = -(-len(shown) // columns)
    figure = style.figure(style.PAGE if columns > 1 else style.COLUMN, 0.9 + 2.2 * n_rows)
    grid = figure.subplots(n_rows, columns, squeeze=False, sharex=True, sharey=True)
    stack = grid.ravel()[: len(shown)]
    for axes in grid.ravel()[len(shown) :]:
        axes.remove()
    for axes, (estimator, scenario) in zip(stack, shown, strict=True):
        is_shown = (bias["scenario"] == scenario.scenario) & (bias["estimator"] == estimator)
        _panel(axes, bias[is_shown])
        title = f"{labels.scenario_label(scenario)}\nTCE {scenario.tce_percent:.2f} %"
        if within := selection.within_rounding(tables, "bins_by_n", scenario.scenario):
            title += f", {within} within printed decimals"
        axes.set(title=title, xlabel=labels.N_BINS)
        axes.set_ylabel(f"{labels.BIAS} of\n{labels.estimator_label(estimator)}")
    panels.legend_below(figure, panels.sample_size_handles(bias["n_samples"]), 3 * columns)
    replicates = panels.data_sets(bias["n_replicates"])
    panels.note(figure, replicates, panels.band(bias["bias_se_percent"]), "ring: least |bias|")
    return figure


def _panel(axes: Axes, bias: pd.DataFrame) -> None:
    axes.axhline(0.0, **style.REFERENCE)
    for n, line in bias.sort_values("n_bins").groupby("n_samples"):
        look = style.sample_size_style(n)
        bins, values = line["n_bins"], line["bias_percent"]
        panels.line_with_band(axes, bins, values, line["bias_se_percent"], **look)
        if values.notna().any():
            best = values.abs().idxmin()
            ring: dict[str, Any] = {"marker": "o", "markersize": 8, "markerfacecolor": "none"}
            axes.plot(bins[best], values[best], color=look["color"], **ring)
    panels.log_axis(axes, bias["n_bins"])
