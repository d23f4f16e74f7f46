"""The audit's interval on the blind cells of 2026: coverage of each, by its author's mark."""

import pandas as pd
from matplotlib.figure import Figure

from evidence.names import BLIND, BROKEN
from pipeline.figures import panels, selection, style

TABLES = ("interval_coverage",)
TITLE = "Coverage of the audit's interval on cells by an author who had not seen it"
METHODS = {"calbias": "ℓ1 error", "calbias_l2": "ℓ2 error"}
KEPT_LOOK = {"color": style.group_colour(0), "marker": "o"}
BROKEN_LOOK = {"color": style.group_colour(1), "marker": "s", "markerfacecolor": "white"}


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return a panel for each error: cells sorted by coverage, with exact 95 % ranges."""
    table = selection.rows(tables, "interval_coverage")
    table = table[table["scenario"].str.startswith(BLIND)]
    figure = style.figure(style.PAGE, 3.4)
    row = figure.subplots(1, len(METHODS), sharey=True)
    for axes, (method, words) in zip(row, METHODS.items(), strict=True):
        cells = table[table["method"] == method].sort_values(["coverage", "scenario"])
        cells = cells.reset_index(drop=True)
        is_broken = cells["scenario"].str.startswith(BROKEN)
        for look, chosen in ((KEPT_LOOK, ~is_broken), (BROKEN_LOOK, is_broken)):
            some = cells[chosen]
            margins = [some["coverage"] - some["low"], some["high"] - some["coverage"]]
            axes.errorbar(
                some.index, 100 * some["coverage"], yerr=[100 * side for side in margins],
                linestyle="", markersize=2.6, elinewidth=0.5, **look,
            )  # fmt: skip
        axes.axhline(95, **style.REFERENCE)
        mean = [f"{100 * cells.loc[chosen, 'coverage'].mean():.1f} %" for chosen in
                (~is_broken, is_broken) if chosen.any()]  # fmt: skip
        means = f"mean {' and '.join(mean)}" if mean else "not measured in this run"
        axes.set(title=f"{words}: {means}", xlabel=f"{len(cells)} cells, sorted by coverage")
        axes.set_xticks([])
    row[0].set(ylabel="intervals that hold the truth (%)", ylim=(-3, 103))
    handles = [
        panels.handle("the assumption holds", linestyle="", **KEPT_LOOK),
        panels.handle("it does not", linestyle="", **BROKEN_LOOK),
        panels.handle("the nominal 95 %", **style.REFERENCE),
    ]
    panels.legend_below(figure, handles, 3)
    numbers = panels.data_sets(table["n_data_sets"], "cell") if len(table) else ""
    panels.note(
        figure,
        numbers and f"{numbers}, bars: exact 95 % ranges",
        "the assumption was marked before any interval was computed",
    )
    return figure
