"""Predicted against observed bias on real data: does bias by construction hold outside it?"""

import math

import numpy as np
from matplotlib.lines import Line2D

from calbias.figures import labels, panels, selection, style

TABLES = ("predicted_bias",)
TITLE = "Bias by construction against the bias on real data"
PANELS = {
    "predicted_bias_percent": "Curve fitted on all rows",
    "predicted_from_subsample_percent": "Curve fitted on the subsample alone",
}


@style.styled
def draw(tables):
    """Return two panels: the prediction from all rows, and from the subsample's own."""
    table = selection.rows(tables, "predicted_bias")
    estimators = style.estimator_order(table["estimator"])
    made = style.figure(style.PAGE, 4.3)
    both = made.subplots(1, 2, sharex=True, sharey=True)
    ends = table[[*PANELS, "observed_bias_percent"]].to_numpy()
    low, high = math.floor(np.nanmin(ends)), math.ceil(np.nanmax(ends))
    for axes, (column, title) in zip(both, PANELS.items(), strict=True):
        axes.plot([low, high], [low, high], **style.REFERENCE)
        for estimator in estimators:
            rows = table[table["estimator"] == estimator]
            look = {**style.estimator_style(estimator), "linestyle": ""}
            spread = None
            if column == "predicted_bias_percent":
                spread = 2 * rows["predicted_bias_se_percent"]
            axes.errorbar(
                rows[column], rows["observed_bias_percent"], xerr=spread,
                yerr=2 * rows["observed_bias_se_percent"], elinewidth=0.4, alpha=0.75, **look,
            )  # fmt: skip
        distance = (table[column] - table["observed_bias_percent"]).abs().mean()
        axes.set_title(f"{title}:\nmean distance {distance:.2f} points")
        axes.set_xlabel("predicted bias (%)")
    both[0].set_ylabel("observed bias (%)")
    handles = [
        Line2D([], [], label=labels.estimator_label(name),
               **{**style.estimator_style(name), "linestyle": ""})
        for name in estimators
    ]  # fmt: skip
    handles.append(Line2D([], [], label="predicted = observed", **style.REFERENCE))
    panels.legend_below(made, handles, 3)
    sizes = table["n_samples"]
    panels.note(
        made,
        f"{table['model'].nunique()} models, n = {labels.span(sizes)}",
        f"mean |observed bias| {table['observed_bias_percent'].abs().mean():.2f} points",
        "bars: two standard errors",
    )
    return made
