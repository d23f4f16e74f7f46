"""The league of all classes: bias of every estimator as a share of its own truth, by map."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from evidence.names import measure_name
from pipeline.figures import panels, selection, style

TABLES = {
    "multiclass_league": ["multiclass_league"],
    "multiclass_league_full": ["multiclass_league_full"],
}
FIGURES = {"multiclass_league": {"size": ""}, "multiclass_league_full": {"size": ", full size"}}
TITLE = "Estimators for all classes against their own truths{size}"
LOW, HIGH = 0.02, 30


def draw(tables: dict[str, pd.DataFrame], size: str = "") -> Figure:
    """Return a panel for each population: a row for each estimator, a dot for each n.

    A dot is the median over the maps with an error of the RMSE as a share of the truth, its bar ±2
    Monte Carlo standard errors, the median over these maps too.
    """
    (name,) = tables
    table = selection.rows(tables, name)
    wrong = table[table["truth"] > 0]
    populations = list(dict.fromkeys(table["population"]))
    estimators = table.drop_duplicates("estimator").sort_values(["target", "estimator"])
    positions = {estimator: k for k, estimator in enumerate(estimators["estimator"])}
    figure = style.figure(style.PAGE, 1.1 + 0.14 * len(positions))
    axes = np.atleast_1d(figure.subplots(1, len(populations), sharex=True, sharey=True))
    for panel, population in zip(axes, populations, strict=True):
        panel_rows = wrong[wrong["population"] == population]
        for n, rows in panel_rows.groupby("n_samples"):
            medians = rows.groupby("estimator")[["relative_rmse", "relative_rmse_se"]].median()
            errors = medians["relative_rmse"]
            margins = (2 * medians["relative_rmse_se"]).clip(upper=0.9 * errors)
            look = style.sample_size_style(n) | {"linestyle": "", "markersize": 3.2}
            panel.errorbar(
                errors, errors.index.map(positions), xerr=margins, elinewidth=0.7, **look
            )
            for estimator, error in errors[errors > HIGH].items():
                words = f"n = {panels.short(n)}: {100 * error:,.0f} % ▶"
                panel.text(HIGH, positions[estimator], words, ha="right", va="center", fontsize=6)
        panel.axvspan(1, HIGH, color="0.94", zorder=0, linewidth=0)
        panel.axvline(1, **style.REFERENCE)
        panel.set(xscale="log", xlim=(LOW, HIGH), title=_population(population))
        panels.ticks(panel.xaxis, [0.1, 1, 10], lambda share: f"{100 * share:g}")
        panel.grid(visible=False, axis="y")
    axes[len(axes) // 2].set_xlabel("RMSE as a share of its own truth (%)")
    names = [measure_name(name).replace("l2", "ℓ2").replace("ece", "ECE") for name in positions]
    axes[0].set_yticks(list(positions.values()), names, fontsize=6)
    axes[0].set_ylim(len(positions) - 0.5, -0.5)
    handles = panels.sample_size_handles(sorted(table["n_samples"].unique()), linestyle="")
    handles.append(panels.handle("no better than reporting zero", **style.REFERENCE))
    panels.legend_below(figure, handles, len(handles))
    panels.note(
        figure,
        "dots: medians over temperature, label shift, Dirichlet map and label noise",
        panels.data_sets(table["n_replicates"]) + ", bars ±2 Monte Carlo standard errors",
    )
    return figure


def _population(population: str) -> str:
    """Return a population in two lines: ``Dirichlet, 3 classes``, or a network's name."""
    kind, _, last = population.rpartition("_")
    return f"Dirichlet,\n{last} classes" if kind == "dirichlet" else f"{kind}\n{last}"
