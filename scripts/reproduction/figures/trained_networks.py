"""Figure 4 on trained networks: mean |bias| by n, on their known truth and on fits to them."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TABLES = ("network_bias", "bias")
EXPERIMENTS = ("realistic",)
TITLE = "Mean |bias| on trained networks: truth and fits"
EDGES = (0.0, 4.0, 12.0, 100.0)  # percent of true error
ROWS = {"population": "known truth", "beta_glm": "fits to them"}
SIZE = "mean |bias| (%)"


def draw(tables: Tables) -> Figure:
    """Return a panel for each group of true errors and law, and one of the paper's models."""
    rows = tables["network_bias"]
    rows = rows[rows["role"] != "control"]
    group = pd.cut(rows["l2_percent"], EDGES)
    paper = selection.rows(tables, "bias", experiment="realistic")
    paper = paper[paper["estimator"].isin(rows["estimator"])]
    figure = style.figure(style.PAGE, 5.0)
    grid = figure.subplots(2, len(EDGES), sharex=True, sharey=True)
    for axes, (law, words) in zip(grid[:, 1:], ROWS.items(), strict=True):
        for panel, interval in zip(axes, group.cat.categories, strict=True):
            inside = rows[(group == interval) & (rows["law"] == law)]
            _panel(panel, inside)
            n = inside["scenario"].nunique()
            panel.set_title(f"{words}: {n} networks\n{_between(interval)}", fontsize=7)
    n_models = paper["scenario"].nunique()
    _panel(grid[1, 0], paper)
    grid[1, 0].set_title(f"fits printed in the paper\nfor {n_models} models", fontsize=7)
    grid[0, 0].axis("off")
    handles = panels.estimator_handles(rows["estimator"])
    grid[0, 0].legend(handles=handles, loc="center", fontsize=6.5)
    grid[1, 0].set_ylabel(SIZE)
    grid[0, 1].set_ylabel(SIZE)
    grid[0, 1].tick_params(labelleft=True)
    for axes in grid[1]:
        axes.set_xlabel(labels.N_SAMPLES)
        panels.log_axis(axes, rows["n_samples"], limit=4)
    panels.note(
        figure,
        "bands: ±2 standard errors over networks or models",
        panels.data_sets(rows["n_replicates"]),
    )
    return figure


def _between(interval: pd.Interval) -> str:
    if interval.left == EDGES[0]:
        return f"error below {interval.right:g} %"
    if interval.right == EDGES[-1]:
        return f"error above {interval.left:g} %"
    return f"error {interval.left:g} to {interval.right:g} %"


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    means = rows.assign(size=rows["bias_percent"].abs()).groupby(["estimator", "n_samples"])["size"]
    table = means.agg(["mean", "sem"]).reset_index()
    for estimator in style.estimator_order(table["estimator"]):
        line = table[table["estimator"] == estimator]
        columns = (line[x] for x in ("n_samples", "mean", "sem"))
        panels.line_with_band(axes, *columns, **style.estimator_style(estimator))
    axes.set(yscale="log", ylim=(0.02, 20))
    panels.ticks(axes.yaxis, (0.1, 1, 10), lambda value: f"{value:g}")
