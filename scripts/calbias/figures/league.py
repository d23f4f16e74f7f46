"""The league: error of every estimator as a share of its own truth, by sample size."""

import numpy as np
from matplotlib.lines import Line2D

from calbias.figures import labels, panels, selection, style

TABLES = ("league",)
TITLE = "Every estimator against its own truth"
LAWS = {"saturated": "Saturated scores", "spread": "Spread scores"}


@style.styled
def draw(tables):
    """Return a panel for each score law: a row for each estimator and target, a dot for each n.

    A dot is the median over the miscalibrated scenarios of RMSE/truth, its line runs from the least
    to the greatest. Rows are sorted by the median at the largest n over both laws.
    """
    table = ranked(selection.rows(tables, "league"))
    sizes = sorted(table["n_samples"].unique())
    order = list(dict.fromkeys(table["entry"]))
    made = style.figure(style.PAGE, 1.4 + 0.155 * len(order))
    both = made.subplots(1, len(LAWS), sharex=True, sharey=True)
    for axes, (law, title) in zip(both, LAWS.items(), strict=True):
        for k, n in enumerate(sizes):
            rows = table[(table["law"] == law) & (table["n_samples"] == n)].set_index("entry")
            at = np.array([order.index(entry) for entry in rows.index]) + 0.22 * (
                k - (len(sizes) - 1) / 2
            )
            look = style.sample_size_style(n)
            axes.hlines(at, rows["least"], rows["greatest"], color=look["color"], linewidth=0.6)
            axes.plot(rows["median"], at, linestyle="", markersize=2.6, **look)
        axes.axvline(1, **style.REFERENCE)
        axes.set(xscale="log", xlim=(0.02, 50))
        axes.set_title(title)
        axes.set_xlabel("RMSE as a share of the truth")
    both[0].set_yticks(range(len(order)), order, fontsize=6)
    both[0].set_ylim(len(order) - 0.4, -0.6)
    handles = [
        Line2D([], [], label=f"n = {panels.short(n)}", linestyle="", **style.sample_size_style(n))
        for n in sizes
    ]
    handles.append(Line2D([], [], label="error as large as the truth", **style.REFERENCE))
    panels.legend_below(made, handles, len(handles))
    panels.note(
        made,
        "slopes 0.5, 0.8, 1.25, shift and wave",
        f"{labels.span(table['n_replicates'])} data sets per point",
        "dots: medians over the scenarios",
    )
    return made


def ranked(table):
    """Return a row for each law, estimator with target, and n: median, least, greatest; sorted.

    Estimators of one target are compared by RMSE/truth; scenarios without error have no share.
    """
    table = table[table["relative_rmse"].notna()]
    table = table.assign(
        law=table["scenario"].str.partition("_")[0],
        entry=table["estimator"] + " → " + table["target"],
    )
    table = table[table["law"].isin(LAWS)]
    groups = table.groupby(["law", "entry", "n_samples"])
    found = groups.agg(
        median=("relative_rmse", "median"),
        least=("relative_rmse", "min"),
        greatest=("relative_rmse", "max"),
        n_replicates=("n_replicates", "min"),
    ).reset_index()
    largest = found.sort_values("n_samples").groupby(["law", "entry"]).tail(1)
    worst = largest.groupby("entry")["median"].max()
    return found.assign(rank=found["entry"].map(worst)).sort_values(["rank", "entry"])
