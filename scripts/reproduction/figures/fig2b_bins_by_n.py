"""Figure 2b: bias against the number of bins for each sample size (§4).

The text names the fit to ResNet-110 on CIFAR-10, which is a model of the heat maps; the authors'
script has c² on Beta(1.1, 0.1), and Figure 2a has c² on Beta(2.8, 0.05).
"""

import itertools
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.paper import HEATMAP_MODELS

TITLE = "Bias of ECE_bin by number of bins and sample size"
TABLES = ("bias", "scenarios", "tce_rounding")
EXPERIMENTS = ("heatmaps", "bins_by_n")
NAMED = HEATMAP_MODELS[0]
PANELS_PER_ROW = 3


def draw(tables: Tables) -> Figure:
    """Return a panel per estimator and scenario, a line per n; a ring marks the least |bias|."""
    bias = selection.with_scenario(tables, numbers(tables))
    scenarios = bias.drop_duplicates("scenario").itertuples()
    drawn = {*zip(bias["estimator"], bias["scenario"], strict=True)}
    shown = [
        (estimator, scenario)
        for estimator, scenario in itertools.product(
            style.estimator_order(bias["estimator"]), scenarios
        )
        if (estimator, scenario.scenario) in drawn
    ]
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
        name = scenario.scenario if scenario.experiment == "heatmaps" else (
            labels.scenario_label(scenario)
        )  # fmt: skip
        title = f"{name}\nTCE {scenario.tce_percent:.2f} %"
        if within := selection.within_rounding(tables, scenario.experiment, scenario.scenario):
            title += f" ({within})"
        axes.set(title=title, xlabel=labels.N_BINS)
        axes.set_ylabel(f"{labels.BIAS} of\n{labels.estimator_label(estimator)}")
    panels.legend_below(figure, panels.sample_size_handles(bias["n_samples"]), 3 * columns)
    replicates = panels.data_sets(bias["n_replicates"])
    rounding = "in brackets: within printed decimals"
    words = replicates, panels.band(bias["bias_se_percent"]), "ring: least |bias|", rounding
    panels.note(figure, *words)
    return figure


def numbers(tables: Tables) -> pd.DataFrame:
    """Return the rows of table ``bias`` that are drawn: those of the text's curve first."""
    table = tables["bias"]
    same = {*selection.rows(tables, "bias", experiment="bins_by_n")["estimator"]}
    named = (table["experiment"] == "heatmaps") & (table["scenario"] == NAMED)
    named &= table["estimator"].isin(same)
    return pd.concat([table[named], table[table["experiment"] == "bins_by_n"]])


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
