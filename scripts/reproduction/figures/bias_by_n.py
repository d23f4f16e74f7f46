"""Figures 4 and 6: bias against sample size, a panel per group of models (§7.1, §7.3).

The bias of an estimator is averaged over the architectures of a group, and the upper panels have
the seven curves of the paper. A KDE that leaves their range is shown whole in a lower row, where
dashed lines mark the range above; a KDE without its root, which the paper has not, is only there.
The label-binned errors, which lie on those of ECE bin, are left out.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from reproduction.bias import bias_by_group

TABLES = ("bias", "scenarios")
FIGURES = {
    "fig4_realistic": {
        "experiment": "realistic",
        "curves": "calibration curves fitted to real models",
    },
    "fig6_perfect": {"experiment": "perfect", "curves": "perfect calibration"},
}
TITLE = "Bias by sample size: {curves}"
PANELS_PER_ROW = 3
LEFT_OUT, UNROOTED = "ece_label_binned", "kde_unrooted"


def draw(
    tables: Tables,
    experiment: str,
    curves: str,
    protagonists: Sequence[str] = (),
    label: str = labels.BIAS,
) -> Figure:
    """Return the figure of one experiment; ``curves`` stands in its title alone.

    ``label`` is that of the bias, or of what a caller puts in its place.
    """
    bias = selection.with_scenario(tables, selection.rows(tables, "bias", experiment=experiment))
    bias = bias[~bias["estimator"].str.startswith(LEFT_OUT)]
    means = bias_by_group(bias)
    all_groups = tables["scenarios"].loc[tables["scenarios"]["experiment"] == experiment, "group"]
    n_models = bias.groupby("group")["scenario"].nunique()
    groups = [name for name in selection.in_order(all_groups) if name in n_models]
    groups += sorted(set(n_models.index) - set(groups))
    is_below = (means["estimator"] == UNROOTED) & (means["estimator"] == "kde").any()
    limits = upper_limits(means[~is_below])
    is_inside = means["bias_percent"].between(*limits)
    heights = [2.2] if is_inside.all() else [2.0, 1.0]
    is_below &= not is_inside[is_below].all()

    columns = min(len(groups), PANELS_PER_ROW)
    n_rows = -(-len(groups) // columns)
    width = style.PAGE if columns > 1 else style.COLUMN
    figure = style.figure(width, 0.8 + n_rows * (sum(heights) + 0.2))
    grid = figure.subplots(
        n_rows * len(heights), columns, sharex=True, squeeze=False, height_ratios=heights * n_rows
    )
    for index in range(n_rows * columns):
        row, column = divmod(index, columns)
        upper, *lower = stack = grid[row * len(heights) : (row + 1) * len(heights), column]
        if index >= len(groups):
            for axes in stack:
                axes.remove()
            continue
        group = groups[index]
        in_group = means["group"] == group
        _panel(upper, means[in_group & ~is_below], protagonists)
        for axes in lower:
            _panel(axes, means[in_group], protagonists)
        title = f"{group} (mean of {n_models[group]})" if n_models[group] > 1 else group
        upper.set(title=title, ylim=limits)
        for axes in lower:
            for limit in limits:
                axes.axhline(limit, color="0.5", linewidth=0.8, dashes=(4, 3), zorder=0)
            axes.set_ylim(_limits(means))
        stack[-1].set_xlabel(labels.N_SAMPLES)
        if column == 0:
            for axes, words in zip(stack, ("", ",\nfull range"), strict=False):
                axes.set_ylabel(label + words)
    handles = panels.estimator_handles(means["estimator"], protagonists)
    panels.legend_below(figure, handles, 4 if columns > 2 else columns)
    source, replicates = labels.source_label(bias["source"].dropna()), bias["n_replicates"]
    panels.note(figure, source, panels.data_sets(replicates), panels.band(means["bias_se_percent"]))
    return figure


def numbers(tables: Tables, experiment: str, **_: Any) -> pd.DataFrame:
    """Return the drawn means over the models of a data set, with their errors."""
    bias = selection.with_scenario(tables, selection.rows(tables, "bias", experiment=experiment))
    return bias_by_group(bias[~bias["estimator"].str.startswith(LEFT_OUT)])


def _panel(axes: Axes, means: pd.DataFrame, protagonists: Sequence[str]) -> None:
    axes.axhline(0.0, **style.REFERENCE)
    for estimator in style.estimator_order(means["estimator"]):
        rows = means[means["estimator"] == estimator]
        for _, line in rows.groupby("n_bins", dropna=False):
            columns = (line[x] for x in ("n_samples", "bias_percent", "bias_se_percent"))
            panels.line_with_band(axes, *columns, **style.estimator_style(estimator, protagonists))
    panels.log_axis(axes, means["n_samples"], limit=4)


def upper_limits(means: pd.DataFrame) -> tuple[float, float]:
    """Return the range of the upper panels, percent: all but KDE values far outside."""
    is_kde = means["estimator"].isin(["kde", "kde_unrooted"])
    if is_kde.all():
        return _limits(means)
    low, high = _limits(means[~is_kde])
    near = means["bias_percent"].between(low - 0.1 * (high - low), high + 0.1 * (high - low))
    return _limits(means[~is_kde | near])


def _limits(means: pd.DataFrame) -> tuple[float, float]:
    low, high = min(means["bias_percent"].min(), 0.0), max(means["bias_percent"].max(), 0.0)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin
