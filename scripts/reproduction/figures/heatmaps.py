"""Figures 7–12: bias and √variance against sample size and number of bins (appendix B).

A panel per estimator, equal width on the left and equal mass on the right as in the paper; the
sweep chooses its number of bins and is one row, labelled ``sweep``. Every cell prints its number,
and the least |bias| of each column of cells is framed.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from calbias.errors import InputError
from calbias.estimation.registry import CHOSEN, NO_BINS
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables

TABLES = ("bias", "scenarios", "tce_rounding", "true_calibration_error")
EXPERIMENTS = ("heatmaps",)
FIGURES = {
    "fig7_bias_resnet110_c10": {"model": "resnet110_c10", "quantity": "Bias"},
    "fig8_bias_resnet_wide32_c100": {"model": "resnet_wide32_c100", "quantity": "Bias"},
    "fig9_bias_resnet152_imgnet": {"model": "resnet152_imgnet", "quantity": "Bias"},
    "fig10_sd_resnet110_c10": {"model": "resnet110_c10", "quantity": "√variance"},
    "fig11_sd_resnet_wide32_c100": {"model": "resnet_wide32_c100", "quantity": "√variance"},
    "fig12_sd_resnet152_imgnet": {"model": "resnet152_imgnet", "quantity": "√variance"},
}
TITLE = "{quantity} by number of bins and sample size: {model}"


def draw(tables: Tables, model: str, quantity: str) -> Figure:
    """Return the heat maps of a quantity, Bias or √variance, on one model's scenario."""
    is_bias = quantity == "Bias"
    rows = selection.rows(tables, "bias", experiment="heatmaps", scenario=model)
    column = "bias_percent" if is_bias else "sd_percent"
    if rows[column].isna().all():
        raise InputError(f"results/tables/bias.csv: {column} of {model} is empty")
    rows = rows.assign(n_bins=rows["n_bins"].fillna(NO_BINS).astype(int))
    estimators = style.estimator_order(rows["estimator"])
    family = rows["estimator"].map(lambda name: style.split_estimator(name)[0])
    families = list(dict.fromkeys(style.split_estimator(name)[0] for name in estimators))
    tall = [rows.loc[family == name, "n_bins"].nunique() for name in families]
    figure = style.figure(style.PAGE, 0.9 + sum(0.235 * n + 0.42 for n in tall))
    grid = figure.subplots(
        len(families), 2, squeeze=False, height_ratios=[n + 0.15 for n in tall], sharex=True
    )
    for axes in grid.flat:
        axes.set_visible(False)
    greatest = rows[column].abs().max()  # bias diverges from white at zero
    scale = {"cmap": "RdBu_r", "vmin": -greatest} if is_bias else {"cmap": "Blues", "vmin": 0.0}
    for estimator in estimators:
        family, scheme = style.split_estimator(estimator)
        axes = grid[families.index(family), 1 if scheme == "em" else 0]
        cells = rows[rows["estimator"] == estimator].pivot_table(
            index="n_bins", columns="n_samples", values=column, dropna=False
        )
        image = axes.imshow(cells, aspect="auto", origin="lower", vmax=greatest, **scale)
        _label(axes, cells, "{:+.2f}" if is_bias else "{:.2f}", 0.6 * greatest)
        if is_bias and len(cells) > 1:
            _frame_least(axes, cells)
        axes.set(visible=True, title=labels.estimator_label(estimator))
    for axes in grid[-1]:
        axes.set_xlabel(labels.N_SAMPLES)
    for axes, n in zip(grid[:, 0], tall, strict=True):
        axes.set_ylabel(labels.N_BINS if n > 2 else "")
    title = labels.BIAS if is_bias else "√variance (%)"
    figure.colorbar(image, ax=grid, label=title, aspect=40, shrink=0.8, pad=0.01)
    precision = (
        f"standard errors up to {rows['bias_se_percent'].max():.2f} % · framed: least |bias|"
    )
    if not is_bias:
        # The error of a standard deviation from m nearly normal values is sd / √(2(m − 1)).
        error = (rows["sd_percent"] / np.sqrt(2 * (rows["n_replicates"] - 1).clip(lower=1))).max()
        precision = f"standard errors about {error:.2f} % or less"
    tce = _tce(tables, rows["tce_percent"].iloc[0], model)
    panels.note(figure, model, tce, panels.data_sets(rows["n_replicates"], "cell"), precision)
    return figure


def _label(axes: Axes, cells: pd.DataFrame, text: Any, dark: Any) -> None:
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bins = [{CHOSEN: "sweep", NO_BINS: "–"}.get(b, str(b)) for b in cells.index]
    axes.set_xticks(range(cells.shape[1]), [panels.short(n) for n in cells.columns])
    axes.set_yticks(range(cells.shape[0]), bins)
    for (row, column), value in np.ndenumerate(cells.to_numpy()):
        if np.isfinite(value):
            colour = "white" if abs(value) > dark else "black"
            look: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "fontsize": 6.5,
                "color": colour,
            }
            axes.text(column, row, text.format(value).replace("-", "−"), **look)


def _frame_least(axes: Axes, cells: pd.DataFrame) -> None:
    for place, values in enumerate(cells.abs().to_numpy().T):
        if np.isfinite(values).any():
            corner = (place - 0.5, np.nanargmin(values) - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=1.1, zorder=3))


def _tce(tables: Tables, tce: float, model: str) -> str:
    """Return the TCE as text, with its range given the printed decimals where there is one."""
    text = f"TCE ({selection.norm(tables)}) {tce:.2f} %"
    if within := selection.within_rounding(tables, "heatmaps", model):
        text += f" ({within} within printed decimals)"
    scenarios = tables["scenarios"]
    rows = scenarios[(scenarios["experiment"] == "heatmaps") & (scenarios["scenario"] == model)]
    return f"{text}, {labels.source_label(rows['source'])}"
