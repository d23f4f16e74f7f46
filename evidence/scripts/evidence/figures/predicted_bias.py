"""Predicted against observed bias on real data: does bias by construction hold outside it?"""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pipeline.figures import labels, panels, selection, style

TABLES = ("predicted_bias",)
TITLE = "Bias by construction against the bias on real data"
MOST_ANSWERS = 1000  # subsamples of answers of language models are smaller
PANELS = {
    "predicted_bias_percent": "Curve fitted on all rows",
    "predicted_from_subsample_percent": "Curve fitted on the subsample alone",
}


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return two panels: the prediction from all rows, and from the subsample's own."""
    table = selection.rows(tables, "predicted_bias")
    observed = table["observed_bias_percent"]
    largest = table.groupby("model")["n_samples"].max()
    figure = style.figure(style.PAGE, 4.3)
    both = figure.subplots(1, 2, sharex=True, sharey=True)
    values = table[[*PANELS, "observed_bias_percent"]].to_numpy()
    ends = math.floor(np.nanmin(values)), math.ceil(np.nanmax(values))
    for axes, (column, title) in zip(both, PANELS.items(), strict=True):
        axes.plot(ends, ends, **style.REFERENCE)
        for estimator in style.estimator_order(table["estimator"]):
            rows = table[table["estimator"] == estimator]
            look = style.estimator_style(estimator) | {"linestyle": "", "alpha": 0.75}
            errors = {"yerr": 2 * rows["observed_bias_se_percent"], "elinewidth": 0.4}
            if column == "predicted_bias_percent":
                errors["xerr"] = 2 * rows["predicted_bias_se_percent"]
            axes.errorbar(rows[column], rows["observed_bias_percent"], **errors, **look)
        distance = (table[column] - observed).abs().mean()
        axes.set_title(f"{title}:\nmean distance {distance:.2f} points")
        axes.set_xlabel("predicted bias (%)")
    both[0].set_ylabel("observed bias (%)")
    handles = panels.estimator_handles(table["estimator"], linestyle="")
    handles.append(panels.handle("predicted = observed", **style.REFERENCE))
    panels.legend_below(figure, handles, 3)
    panels.note(
        figure,
        f"score files: {(largest > MOST_ANSWERS).sum()} of networks, "
        f"{(largest <= MOST_ANSWERS).sum()} of language models' answers",
        f"n = {labels.span(table['n_samples'])}",
        f"mean |observed bias| {observed.abs().mean():.2f} points",
        "bars: two standard errors",
    )
    return figure
