"""Figures 4 to 6 on trained networks of known calibration error, with the paper's next to them.

Means are over networks, and bands two standard errors over networks: one network is one value.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.detection_limits import nonincreasing
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.paper import MODEL_SIZES, N_BINS

TABLES = {
    "trained_networks": ("networks", "network_bias", "bias"),
    "trained_networks_bias": ("networks", "network_bias", "bias"),
    "trained_networks_detection": ("networks", "network_bias", "detection"),
    "trained_networks_calibrated": ("networks", "network_bias", "bias"),
}
FIGURES = {
    "trained_networks": {"experiment": "realistic", "what": "mean bias, on truth and on fits"},
    "trained_networks_bias": {"experiment": "realistic", "what": "bias by sample size"},
    "trained_networks_detection": {"experiment": "detection", "what": "miss rate of a test"},
    "trained_networks_calibrated": {"experiment": "perfect", "what": "bias if calibrated"},
}
TITLE = "Trained networks of known truth: {what}"
EDGES = (0.0, 4.0, 12.0, 100.0)  # percent of true error
ROWS = {"population": "known truth", "beta_glm": "fits to them"}
SIZE, RANGE = "mean |bias| (%)", (0.02, 20)
SATURATED = 0.4  # share of scores above 0.99: more, as the paper's networks have
OVER = "±2 standard errors over networks"


def draw(tables: Tables, experiment: str, what: str) -> Figure:
    """Return the figure of FIGURES that shows this."""
    about = tables["networks"].set_index("scenario")
    rows = tables["network_bias"].join(about[["drawn", "l2_percent", "share_above_99"]], "scenario")
    rows = rows[~rows["drawn"].isin(("control", "partner"))]
    if experiment == "detection":
        return _detection(tables, rows)
    usual = ~(rows["n_bins"] > 0) | (rows["n_bins"] == N_BINS)
    rows = rows[usual & rows["n_samples"].isin(MODEL_SIZES)]
    paper = selection.rows(tables, "bias", experiment=experiment)
    paper = paper[paper["estimator"].isin(rows["estimator"])]
    drawings: dict[str, Callable[[pd.DataFrame, pd.DataFrame], Figure]] = {
        "mean bias, on truth and on fits": _means,
        "bias by sample size": _by_size,
        "bias if calibrated": _calibrated,
    }
    return drawings[what](rows, paper)


def _means(rows: pd.DataFrame, paper: pd.DataFrame) -> Figure:
    """Return mean |bias| of each estimator: networks, the saturated ones, and the paper's fits."""
    high = rows[rows["l2_percent"] > EDGES[1]]
    saturated = high[high["share_above_99"] > SATURATED]
    n_high, n_saturated, n_paper = (x["scenario"].nunique() for x in (high, saturated, paper))
    limit = f"over {100 * SATURATED:g} %\nof the scores above 0.99"
    parts = {
        f"{n_high} networks\nwith errors above {EDGES[1]:g} %": (high, ROWS),
        f"{n_saturated} of them, with {limit}": (saturated, ROWS),
        f"the paper's {n_paper} models,\nas fitted there": (
            paper.assign(law="beta_glm"),
            ["beta_glm"],
        ),
    }
    figure = style.figure(style.PAGE, 2.6)
    grid = figure.subplots(1, len(parts), sharex=True, sharey=True)
    order = style.estimator_order(rows["estimator"])[::-1]
    for axes, (title, (part, laws)) in zip(grid, parts.items(), strict=True):
        axes.set_title(title)
        axes.set_xlabel(SIZE)
        for law in laws:
            sizes = part[part["law"] == law].assign(size=part["bias_percent"].abs())
            sizes = sizes.groupby(["estimator", "scenario"])["size"].mean()
            means = sizes.groupby("estimator").agg(["mean", "sem"])
            shift = 0.17 if law == "population" else -0.17
            for name, mean, sem in means.itertuples():
                look = style.estimator_style(str(name)) | {"markersize": 5}
                look |= {"markerfacecolor": look["color"] if law == "population" else "white"}
                error = 2 * np.nan_to_num(sem)  # of one model there is none
                axes.errorbar(mean, order.index(name) + shift, xerr=error, **look)
    grid[0].set_yticks(range(len(order)), [labels.estimator_label(x) for x in order])
    grid[0].set_xscale("log")
    panels.ticks(grid[0].xaxis, (0.1, 0.3, 1, 3), "{:g}".format)
    grid[0].set_ylim(-0.6, len(order) - 0.4)
    look = {"color": "0.3", "marker": "o", "linestyle": ""}
    handles = [
        panels.handle("on the network: its true error is known", **look),
        panels.handle("on a Beta and a GLM fitted to it", **look | {"markerfacecolor": "white"}),
    ]
    panels.legend_below(figure, handles, 2)
    panels.note(figure, f"means over seven sample sizes; bars: {OVER}")
    return figure


def _by_size(rows: pd.DataFrame, paper: pd.DataFrame) -> Figure:
    """Return a panel for each group of true errors and law, and one of the paper's models."""
    group = pd.cut(rows["l2_percent"], EDGES)
    figure = style.figure(style.PAGE, 5.0)
    grid = figure.subplots(2, len(EDGES), sharex=True, sharey=True)
    for axes, (law, words) in zip(grid[:, 1:], ROWS.items(), strict=True):
        for panel, interval in zip(axes, group.cat.categories, strict=True):
            inside = rows[(group == interval) & (rows["law"] == law)]
            _curves(panel, inside, inside["bias_percent"].abs())
            n = inside["scenario"].nunique()
            panel.set_title(f"{words}: {n} networks\n{_between(interval)}", fontsize=7)
    n_models = paper["scenario"].nunique()
    _curves(grid[1, 0], paper, paper["bias_percent"].abs())
    grid[1, 0].set_title(f"fits printed in the paper\nfor {n_models} models", fontsize=7)
    grid[0, 0].axis("off")
    handles = panels.estimator_handles(rows["estimator"])
    grid[0, 0].legend(handles=handles, loc="center", fontsize=6.5)
    for axes in (grid[1, 0], grid[0, 1]):
        axes.set_ylabel(SIZE)
    grid[0, 1].tick_params(labelleft=True)
    grid[0, 0].set(yscale="log", ylim=RANGE)
    panels.ticks(grid[0, 0].yaxis, (0.1, 1, 10), "{:g}".format)
    for axes in grid[1]:
        axes.set_xlabel(labels.N_SAMPLES)
    panels.note(figure, f"bands: {OVER} or models", panels.data_sets(rows["n_replicates"]))
    return figure


def _between(interval: pd.Interval) -> str:
    if interval.left == EDGES[0]:
        return f"error below {interval.right:g} %"
    if interval.right == EDGES[-1]:
        return f"error above {interval.left:g} %"
    return f"error {interval.left:g} to {interval.right:g} %"


def _curves(axes: Axes, rows: pd.DataFrame, values: pd.Series) -> None:
    """Draw means of values by n, a line for each estimator."""
    table = rows.assign(value=values).groupby(["estimator", "n_samples"])["value"]
    table = table.agg(["mean", "sem"]).reset_index()
    for estimator in style.estimator_order(table["estimator"]):
        line = table[table["estimator"] == estimator]
        columns = (line[x] for x in ("n_samples", "mean", "sem"))
        panels.line_with_band(axes, *columns, **style.estimator_style(estimator))
    panels.log_axis(axes, table["n_samples"], limit=4)


def _calibrated(rows: pd.DataFrame, paper: pd.DataFrame) -> Figure:
    """Return Figure 6: the bias with the paper's score distributions, and with the networks'."""
    rows = rows[rows["law"] == "calibrated"]
    figure = style.figure(style.PAGE, 3.1)
    grid = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, part, words in zip(
        grid, (paper, rows), ("the paper's {} models", "{} trained networks"), strict=True
    ):
        axes.axhline(0.0, **style.REFERENCE)
        _curves(axes, part, part["bias_percent"])
        axes.set_title(f"scores of {words.format(part['scenario'].nunique())}, if calibrated")
        axes.set_xlabel(labels.N_SAMPLES)
    grid[0].set_ylabel(labels.BIAS)
    panels.legend_below(figure, panels.estimator_handles(rows["estimator"]), 4)
    panels.note(figure, f"bands: {OVER} or models", panels.data_sets(rows["n_replicates"]))
    return figure


def _detection(tables: Tables, rows: pd.DataFrame) -> Figure:
    """Return Figure 5: miss rates in the paper's scenarios, and of each network."""
    rows = rows.dropna(subset="miss_rate")
    paper = selection.rows(tables, "detection")
    shown = paper["n_samples"].between(rows["n_samples"].min(), rows["n_samples"].max())
    paper = paper[shown & (paper["tce_percent"] > 0)]
    estimators = style.estimator_order(rows["estimator"])
    figure = style.figure(style.PAGE, 4.6)
    grid = figure.subplots(2, len(estimators), sharex=True, sharey=True)
    for column, estimator in zip(grid.T, estimators, strict=True):
        for axes, table, words in zip(
            column,
            (paper, rows),
            ("uniform scores, as in the paper", "trained networks"),
            strict=True,
        ):
            part = table[table["estimator"] == estimator].sort_values("tce_percent")
            for n, at_n in part.groupby("n_samples"):
                x, rate = at_n["tce_percent"].to_numpy(), at_n["miss_rate"].to_numpy()
                look = style.sample_size_style(n)
                axes.plot(x, nonincreasing(rate, np.ones_like(rate)), color=look["color"])
                axes.plot(x, rate, linestyle="", markersize=2.2, **look)
            axes.set_title(f"{labels.estimator_label(estimator)}: {words}")
    for axes in grid[:, 0]:
        axes.set_ylabel("miss rate")
    for axes in grid[1]:
        axes.set(xlabel=labels.TCE, xscale="log", xlim=(0.3, 40), ylim=(-0.02, 1.02))
        panels.ticks(axes.xaxis, (0.5, 1, 2, 5, 10, 20), "{:g}".format)
    sizes = {*paper["n_samples"], *rows["n_samples"]}
    panels.legend_below(figure, panels.sample_size_handles(sizes), 5)
    n = rows["scenario"].nunique()
    panels.note(figure, f"{n} networks, as they are and after temperature scaling; lines are made "
                "nonincreasing")  # fmt: skip
    return figure
