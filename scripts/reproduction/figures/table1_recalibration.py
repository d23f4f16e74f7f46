"""Table 1 as a picture: which recalibration method each estimator selects for each model.

A tick where the method is the one that the TCE reference selects, with the frequency of that
agreement over bootstrap resamples, and the paper's own tick next to it. Each column says whether
the network is one of the paper's ten.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.paper import MODELS
from pipeline.tables import is_true

TITLE = "Which recalibration method each estimator selects"
TABLES = ("recalibration_selection", "recalibration", "models")
AGREES, DIFFERS, REFERENCE = "#D9EAF7", "#FBE3D6", "0.93"
WORDS: dict[str, Any] = {"ha": "center", "fontsize": 6.2}
TICK = {True: "✓", False: "✗"}


def draw(tables: Tables) -> Figure:
    """Return a column per model, under its group, and a row per estimator below the reference."""
    selected = selection.rows(tables, "recalibration_selection")
    selected = selected.assign(agrees=is_true(selected["agrees"]))
    bins = selection.rows(tables, "recalibration").dropna(subset="n_bins_used")
    keys = ["model", "method", "measure"]
    bins = bins.drop_duplicates(keys).set_index(keys)["n_bins_used"].to_dict()
    groups = tables["models"].set_index("model")["group"]
    order = {model: position for position, model in enumerate(groups.index)}
    by_model = selected.sort_values("model", key=lambda names: names.map(order), kind="stable")
    # other networks, which the models table lacks, come last
    columns = by_model.groupby(["model", "source"], sort=False)
    measures = selection.in_order(selected["measure"])
    figure = style.figure(style.PAGE, 1.25 + 0.6 * (len(measures) + 1))
    axes = figure.subplots()
    axes.set(xlim=(-0.105 * len(columns), len(columns)), ylim=(len(measures) + 1, -1.3))
    axes.set_axis_off()
    for row, name in enumerate(["TCE, reference", *map(labels.estimator_label, measures)]):
        axes.text(-0.1, row + 0.5, name.replace(", ", ",\n"), ha="right", va="center", fontsize=7)
    previous = None
    for position, ((model, _), rows) in enumerate(columns):
        _column(axes, position, model, rows, measures, bins)
        group = groups.get(model, "Other networks")
        if group != previous:
            axes.text(position + 0.04, -1.1, group, weight="bold", va="center")
        previous = group
    handles = [
        Patch(facecolor=REFERENCE, label="the method of least TCE: the reference"),
        Patch(facecolor=AGREES, label="✓ the estimator selects the reference"),
        Patch(facecolor=DIFFERS, label="✗ it selects another method"),
    ]
    panels.legend_below(figure, handles, len(handles))
    panels.note(
        figure,
        labels.source_label(selected["source"]),
        "%: share of bootstrap resamples in which the estimator selects the reference",
        "paper ✓ or ✗: whether it does so in the paper's Table 1",
        "±: gain in points of TCE over the choice of ECE bin, equal width",
        "bins: those that a sweep chose on the selected method",
    )
    return figure


def _column(
    axes: Axes,
    position: int,
    model: str,
    selected: pd.DataFrame,
    measures: Sequence[str],
    bins: Mapping[tuple[str, str, str], float],
) -> None:
    name = f"{_in_lines(model)}\n({'paper' if model in MODELS else 'other'})"
    axes.text(position + 0.5, -0.08, name, va="bottom", linespacing=1, **WORDS)
    references = " or ".join(selection.in_order(selected["reference_method"]))
    _cell(axes, position, 0, _in_lines(references), "", REFERENCE)
    for row in selected.drop_duplicates("measure").itertuples():
        method = f"{TICK[row.agrees]} {_in_lines(row.selected_method)}"
        below = f"{100 * row.agreement_frequency:.0f}\u2009%"
        used = bins.get((model, row.selected_method, row.measure))
        below += f", {used:.0f} bins" if used else ""
        if row.tce_gain_percent:
            below += f"\n{row.tce_gain_percent:+.1f} ± {row.tce_gain_se_percent:.1f}"
            below = below.replace("-", "\N{MINUS SIGN}")
        published = str(row.published_agrees).lower()
        if published in ("true", "false"):
            below += f"\npaper {TICK[published == 'true']}"
        colour = AGREES if row.agrees else DIFFERS
        _cell(axes, position, 1 + measures.index(row.measure), method, below, colour)


def _cell(axes: Axes, place: int, row: int, method: str, below: str, colour: Any) -> None:
    axes.add_patch(Rectangle((place + 0.03, row + 0.04), 0.94, 0.92, facecolor=colour))
    height = row + (0.28 if below else 0.5)
    axes.text(place + 0.5, height, method, va="center", linespacing=1, **WORDS)
    axes.text(place + 0.5, row + 0.73, below, va="center", **WORDS)


def _in_lines(name: str) -> str:
    return str(name).replace("temperature", "temp.").replace("_", "\n")
