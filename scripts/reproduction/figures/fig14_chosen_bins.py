"""Figure 14: mean ECE_bin by number of bins, and the number that the sweep chooses (appendix D)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TITLE = "Mean ECE_bin by number of bins, and the number that the sweep chooses"
TABLES = ("chosen_bins", "scenarios", "bias")
EXPERIMENTS = ("chosen_bins",)
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
TRUTH = style.REFERENCE | {"linestyle": (0, (4, 2))}
SWEEP: dict[str, Any] = {"color": "0.4", "linewidth": 0.8, "linestyle": (0, (2, 2))}


def draw(tables: Tables) -> Figure:
    """Return a panel per scenario, one below the other, a line per sample size."""
    chosen = selection.rows(tables, "chosen_bins")
    scenarios = tables["scenarios"].drop_duplicates("scenario").set_index("scenario")
    names = selection.in_order(chosen["scenario"])
    figure = style.figure(style.COLUMN, 0.9 + 2.15 * len(names))
    stack = figure.subplots(len(names), 1, squeeze=False, sharex=True)[:, 0]
    for axes, name in zip(stack, names, strict=True):
        rows = chosen[chosen["scenario"] == name]
        _panel(axes, rows)
        title = labels.scenario_label(scenarios.loc[name])
        axes.set_title(f"{title}, TCE {rows['tce_percent'].iloc[0]:.2f} %")
        axes.set_ylabel("mean estimate of\n" + labels.estimator_label("ece_bin_em") + " (%)")
    stack[-1].set_xlabel(labels.N_BINS)
    handles = panels.sample_size_handles(chosen["n_samples"])
    handles += [panels.handle("TCE", **TRUTH), panels.handle("mean b of the sweep", **SWEEP)]
    panels.legend_below(figure, handles, 3)
    replicates = selection.rows(tables, "bias", experiment="chosen_bins")["n_replicates"]
    errors = f"standard errors up to {chosen['mean_estimate_se_percent'].max():.2f} %"
    panels.note(figure, panels.data_sets(replicates), errors)
    return figure


def _panel(axes: Axes, chosen: pd.DataFrame) -> None:
    axes.axhline(chosen["tce_percent"].iloc[0], **TRUTH)
    there = chosen.dropna(subset="mean_estimate_percent")
    for n, line in there.sort_values("n_bins").groupby("n_samples"):
        look = style.sample_size_style(n)
        marked = list(np.flatnonzero(line["n_bins"].isin(TICKS)))
        columns = ("n_bins", "mean_estimate_percent", "mean_estimate_se_percent")
        panels.line_with_band(axes, *(line[x] for x in columns), markevery=marked, **look)
        axes.axvline(line["mean_n_bins_sweep"].iloc[0], **(SWEEP | {"color": look["color"]}))
    ticks = [b for b in TICKS if b <= chosen["n_bins"].max()]
    panels.log_axis(axes, ticks, limit=len(ticks))
    axes.set_ylim(-0.02 * axes.get_ylim()[1], None)
