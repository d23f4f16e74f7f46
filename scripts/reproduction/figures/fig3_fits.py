"""Figure 3: fitted score densities and calibration curves, and ECE_bin, real and simulated (§6).

Colour is the group of models (data set), line style and marker the architecture, which is the
model's name up to its last underscore. What the paper printed is pale and wide beneath the fit.
The second row shows (a) and (b) where the scores are, near 1. Panel (c) has a point for each model,
simulated against real, about the diagonal.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from scipy.special import betainc

from calbias.truth import curves
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.tables import is_true
from reproduction.figures.fig2a_curves import beta_density, logit_grid

Looks = dict[str, dict[str, Any]]  # {model: keywords of Axes.plot}

TITLE = "Fits to the ten models, and ECE_bin of real and simulated data"
TABLES = ("beta_fits", "glm_fits", "ece_bin_real_and_simulated", "models", "scenarios")
CLOSEST = 1e-8  # smallest 1 - c shown
PUBLISHED: dict[str, Any] = {"linewidth": 2.8, "alpha": 0.25}


def looks(models: pd.DataFrame) -> Looks:
    """Return {model: keywords of ``Axes.plot``}: colour by group, line by architecture."""
    groups = selection.in_order(models["group"])
    names = [model.rpartition("_")[0] or model for model in models["model"]]
    colours = [groups.index(group) if group in groups else -1 for group in models["group"]]
    lines = markers = [list(dict.fromkeys(names)).index(name) for name in names]
    if len(set(zip(colours, lines, strict=True))) < len(models):  # several models would look alike
        colours = markers = [*range(len(models))]
        lines = [index // len(style.GROUP_COLOURS) for index in colours]
    return {
        model: {
            "color": style.group_colour(colour),
            "linestyle": style.line_style(line),
            "marker": style.SIZE_MARKERS[marker % len(style.SIZE_MARKERS)],
        }
        for model, colour, line, marker in zip(
            models["model"], colours, lines, markers, strict=True
        )
    }


def draw(tables: Tables) -> Figure:
    """Return the panels (a) and (b), below how they look near 1, and (c) simulated against real."""
    look = looks(selection.rows(tables, "models"))
    fits, glm_fits, pairs = (selection.rows(tables, name) for name in TABLES[:3])
    pairs = pairs[pairs["model"].isin(look)]
    figure = style.figure(style.PAGE, 4.9)
    grid = figure.add_gridspec(2, 3, width_ratios=(1, 1, 1.15))
    pair = [[figure.add_subplot(grid[row, column]) for row in (0, 1)] for column in (0, 1)]
    fits, glm_fits = (table[table["model"].isin(look)] for table in (fits, glm_fits))
    printed = _printed(fits, glm_fits, selection.rows(tables, "scenarios", experiment="fits"))
    fitted = {*fits["model"], *glm_fits["model"]}
    _scores(pair[0], fits, printed, look)
    _curves(pair[1], glm_fits, printed, look)
    _real_and_simulated(figure.add_subplot(grid[:, 2]), pairs, look)
    handles = [
        panels.handle(model, **_line(line, **({} if model in fitted else PUBLISHED)))
        for model, line in look.items()
        if model in fitted | set(printed)
    ]
    handles.append(panels.handle("as published", color="0.3", **PUBLISHED))
    panels.legend_below(figure, handles, 4 if len(handles) <= 24 else 6)
    panels.note(
        figure,
        f"fits: {labels.source_label(fits['source'])}",
        f"ECE bin: {labels.source_label(pairs['source'].dropna())}, simulated from "
        + labels.source_label(pairs["simulated_source"].dropna()),
        "(c) pale: Table 4; above the diagonal simulated data have the larger ECE bin",
    )
    return figure


def _printed(
    fits: pd.DataFrame, glm_fits: pd.DataFrame, scenarios: pd.DataFrame
) -> dict[str, Scenario]:
    """Return {model: Scenario} of what the paper printed, also for models without outputs here."""
    best = glm_fits.dropna(subset="published_aic").sort_values("published_aic")
    best = best.drop_duplicates("model").set_index("model")
    printed = {}
    for row in fits[fits["model"].isin(best.index)].itertuples():
        glm, b0, b1 = best.loc[row.model, ["glm", "published_b0", "published_b1"]].fillna(0.0)
        curve = curves.Curve(glm, float(b0), float(b1))
        printed[row.model] = Scenario(row.model, row.published_alpha, row.published_beta, curve)
    for row in scenarios[scenarios["source"] == "published_fits"].itertuples():
        curve = curves.Curve(row.curve, row.b0, row.b1)
        printed[row.scenario] = Scenario(row.scenario, row.alpha, row.beta, curve)
    return printed


def _line(look: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"color": look["color"], "linestyle": look["linestyle"]} | other


def numbers(tables: Tables) -> pd.DataFrame:
    """Return the fits of the paper's models, with the ECE_bin of real and of simulated data."""
    glms = tables["glm_fits"]
    best = glms[is_true(glms["selected"])].drop(columns=["source"])
    pairs = tables["ece_bin_real_and_simulated"].drop(columns=["source"])
    fits = tables["beta_fits"].merge(best, on="model", suffixes=("", "_glm"), how="outer")
    return fits.merge(pairs, on="model", how="outer")


def _scores(
    pair: Sequence[Axes], fits: pd.DataFrame, printed: Mapping[str, Scenario], look: Looks
) -> None:
    """Draw the density against c, and below the share of scores closer to 1 than 1 - c."""
    log_score, log1m_score = logit_grid()
    score, complement = curves.score(log_score, log1m_score), np.exp(log1m_score)
    lines = [(x.alpha, x.beta, _line(look[model], **PUBLISHED)) for model, x in printed.items()]
    lines += [(row.alpha, row.beta, _line(look[row.model])) for row in fits.itertuples()]
    for alpha, beta, line in lines:
        density = beta_density(alpha, beta, log_score, log1m_score)
        pair[0].plot(score, density, **line)
        pair[1].plot(complement, betainc(beta, alpha, complement), **line)
    pair[0].set(yscale="log", xlim=(0, 1), ylim=(1e-3, 1e2), title="(a) Score distribution")
    pair[0].set(xlabel=labels.SCORE, ylabel="density of scores")
    pair[1].set(ylim=(0, 1), ylabel="share of scores nearer to 1", title="(a) near 1")
    _near_1(pair[1])


def _curves(
    pair: Sequence[Axes], fits: pd.DataFrame, printed: Mapping[str, Scenario], look: Looks
) -> None:
    """Draw T against c, and below 1 - T against 1 - c."""
    log_score, log1m_score = logit_grid()
    score, complement = curves.score(log_score, log1m_score), np.exp(log1m_score)

    def plot(curve: Curve, line: dict[str, Any]) -> None:
        pair[0].plot(score, curve.hit(log_score, log1m_score), **line)
        pair[1].plot(complement, np.exp(curve.log_not_hit(log_score, log1m_score)), **line)

    for model, scenario in printed.items():
        plot(scenario.curve, _line(look[model], **PUBLISHED))
    for row in fits[is_true(fits["selected"])].to_dict("records"):
        plot(curves.Curve.from_row(row), _line(look[row["model"]]))
    pair[0].plot([0, 1], [0, 1], **style.REFERENCE)
    pair[1].plot([CLOSEST, 1], [CLOSEST, 1], **style.REFERENCE)
    pair[0].set(xlim=(0, 1), ylim=(0, 1), xlabel=labels.SCORE, ylabel=labels.HIT_RATE)
    pair[0].set_title("(b) Calibration curve")
    pair[1].set(yscale="log", ylim=(1e-4, 1), ylabel="probability of a miss", title="(b) near 1")
    _near_1(pair[1])


def _near_1(axes: Axes) -> None:
    axes.set(xscale="log", xlim=(1, CLOSEST), xlabel="1 − c (log scale, reversed)")
    axes.xaxis.set_minor_locator(NullLocator())


def _real_and_simulated(axes: Axes, pairs: pd.DataFrame, look: Looks) -> None:
    """Draw the mean ECE bin of simulated data against that of the data, as here and as printed."""
    columns = [
        ("published_ece_bin_percent", "published_simulated_percent"),
        ("ece_bin_percent", "mean_simulated_ece_bin_percent"),
    ]
    greatest = 1.06 * pairs[[name for pair in columns for name in pair]].max(axis=None)
    axes.plot([0, greatest], [0, greatest], **style.REFERENCE)
    for row in pairs.itertuples():
        mark = {x: look[row.model][x] for x in ("color", "marker")} | {"linestyle": ""}
        (x, y), (real, simulated) = ((getattr(row, a), getattr(row, b)) for a, b in columns)
        axes.plot(x, y, alpha=0.35, markersize=5.5, **mark)
        axes.plot([x, real], [y, simulated], color=mark["color"], linewidth=0.6, alpha=0.5)
        error = 2 * row.simulated_se_percent
        axes.errorbar(real, simulated, error if np.isfinite(error) else None, markersize=4, **mark)
    axes.set(xlim=(0, greatest), ylim=(0, greatest), title="(c) ECE bin")
    axes.set(aspect="equal", anchor="N")
    axes.set(xlabel="ECE bin of the data (%)", ylabel="mean ECE bin of simulated data (%)")
    handles = [
        panels.handle(model, linestyle="", **{x: line[x] for x in ("color", "marker")})
        for model, line in look.items()
        if model in set(pairs["model"])
    ]
    axes.legend(handles=handles, fontsize=6, loc="upper left", bbox_to_anchor=(0, -0.22), ncols=2)
