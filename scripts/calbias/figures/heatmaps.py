"""Figures 7–12: bias and √variance against sample size and number of bins (appendix B).

A panel per estimator, equal width on the left and equal mass on the right as in the paper; the
sweep chooses its number of bins and is one row, labelled ``sweep``. Every cell prints its number,
and the least |bias| of each column of cells is framed.
"""

import numpy as np
from matplotlib.patches import Rectangle

from calbias.errors import InputError
from calbias.estimation.registry import CHOSEN, NO_BINS
from calbias.figures import labels, panels, selection, style

TABLES = ("bias", "scenarios", "tce_rounding")
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
COLUMNS = {"Bias": "bias_percent", "√variance": "sd_percent"}


@style.styled
def draw(tables, model, quantity):
    """Return the heat maps of a quantity, of ``COLUMNS``, on one model's scenario."""
    column = COLUMNS[quantity]
    bias = selection.rows(tables, "bias", experiment="heatmaps", scenario=model)
    bias = bias.assign(n_bins=bias["n_bins"].fillna(NO_BINS).astype(int))
    if bias[column].isna().all():
        raise InputError(f"results/tables/bias.csv: {column} of {model} is empty")
    estimators = style.estimator_order(bias["estimator"])
    families = list(dict.fromkeys(style.split_estimator(name)[0] for name in estimators))
    tall = [_n_rows(bias, family) for family in families]
    cell = 0.235
    made = style.figure(style.PAGE, 0.9 + sum(cell * n + 0.42 for n in tall))
    grid = made.subplots(
        len(families), 2, squeeze=False, height_ratios=[n + 0.15 for n in tall], sharex=True
    )
    scale = _scale(bias, column)
    image, drawn = None, set()
    for estimator in estimators:
        family, scheme = style.split_estimator(estimator)
        axes = grid[families.index(family), 1 if scheme == "em" else 0]
        image = _panel(axes, bias[bias["estimator"] == estimator], column, scale)
        axes.set_title(labels.estimator_label(estimator))
        drawn.add(axes)
    for axes in set(grid.flat) - drawn:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel(labels.N_SAMPLES)
    for axes, n in zip(grid[:, 0], tall, strict=True):
        axes.set_ylabel(labels.N_BINS if n > 2 else "")
    title = labels.BIAS if column == "bias_percent" else "√variance (%)"
    made.colorbar(image, ax=grid, label=title, aspect=40, shrink=0.8, pad=0.01)
    replicates = panels.data_sets(bias["n_replicates"], "cell")
    panels.note(made, model, _tce(tables, bias, model), replicates, _precision(bias, column))
    return made


def _n_rows(bias, family):
    mine = bias["estimator"].map(lambda name: style.split_estimator(name)[0] == family)
    return bias.loc[mine, "n_bins"].nunique()


def _scale(bias, column):
    """Return keywords of ``imshow`` that all panels share: bias diverges from white at zero."""
    greatest = bias[column].abs().max()
    if column == "bias_percent":
        return {"cmap": "RdBu_r", "vmin": -greatest, "vmax": greatest}
    return {"cmap": "Blues", "vmin": 0.0, "vmax": greatest}


def _panel(axes, bias, column, scale):
    cells = bias.pivot_table(index="n_bins", columns="n_samples", values=column, dropna=False)
    image = axes.imshow(cells, aspect="auto", origin="lower", **scale)
    axes.grid(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks(range(cells.shape[1]), [panels.short(n) for n in cells.columns])
    axes.set_yticks(range(cells.shape[0]), [_bins_label(b) for b in cells.index])
    for (row, place), value in np.ndenumerate(cells.to_numpy()):
        if np.isfinite(value):
            text = f"{value:+.2f}" if column == "bias_percent" else f"{value:.2f}"
            colour = "white" if abs(value) > 0.6 * scale["vmax"] else "black"
            look = {"ha": "center", "va": "center", "fontsize": 6.5, "color": colour}
            axes.text(place, row, text.replace("-", "−"), **look)
    if column == "bias_percent" and len(cells) > 1:
        for place, values in enumerate(cells.abs().to_numpy().T):
            if np.isfinite(values).any():
                corner = (place - 0.5, np.nanargmin(values) - 0.5)
                axes.add_patch(Rectangle(corner, 1, 1, fill=False, linewidth=1.1, zorder=3))
    return image


def _bins_label(n_bins):
    return {CHOSEN: "sweep", NO_BINS: "–"}.get(n_bins, str(n_bins))


def _tce(tables, bias, model):
    """Return the TCE as text, with its range given the printed decimals where there is one."""
    text = f"TCE {bias['tce_percent'].iloc[0]:.2f} %"
    if within := selection.within_rounding(tables, "heatmaps", model):
        text += f" ({within} within printed decimals)"
    scenarios = tables["scenarios"]
    mine = scenarios[(scenarios["experiment"] == "heatmaps") & (scenarios["scenario"] == model)]
    return ", ".join([text, labels.source_label(mine["source"])])


def _precision(bias, column):
    if column == "bias_percent":
        return f"standard errors up to {bias['bias_se_percent'].max():.2f} % · framed: least |bias|"
    # The standard error of a standard deviation from m nearly normal values is sd / √(2(m − 1)).
    error = (bias["sd_percent"] / np.sqrt(2 * (bias["n_replicates"] - 1).clip(lower=1))).max()
    return f"standard errors about {error:.2f} % or less"
