"""Simulations whose numbers other papers print: printed and recomputed, and calbias beside them."""

import re

import pandas as pd
from matplotlib.figure import Figure

from pipeline.figures import panels, selection, style

TABLES = ("printed_simulations",)
TITLE = "Printed and recomputed: {title}"
# rows of panels: what is along x, what a panel is, what is shown and a pattern of its rows' texts
FIGURES = {
    "widmann2019": {
        "title": "errors of all classes, and type I errors of their tests",
        "rows": [
            ("pi", "classes", "mean ECE", "ECE_uniform$"),
            ("level", "classes", "type I error", " uniform.*type_1"),
        ],
    },
    "arrieta2022": {
        "title": "four numbers of a data set by its formula",
        "rows": [("quantity", "n", "z", "")],
    },
    "tcal2023": {
        "title": "type II errors on waves",
        "rows": [
            ("waves", "n", "type II error", "t_cal|ece|logistic|verdict$|monitor"),
            ("waves", "n", "type II error", "verdict_"),
        ],
    },
    "henzi2023": {
        "title": "rejections of a line that does not fit",
        "rows": [
            ("J", "n", "rejection rate", "lemeshow|verdict$|monitor"),
            ("J", "n", "rejection rate", "verdict_"),
        ],
    },
}
LAST_DIGIT = 3**0.5  # |z| up to which every printed digit agrees


def draw(tables: dict[str, pd.DataFrame], title: str, rows: list[tuple[str, ...]]) -> Figure:
    """Return rows of panels: hollow marks are printed, lines with bands recomputed."""
    paper = next(name for name, options in FIGURES.items() if options["title"] == title)
    table = selection.rows(tables, "printed_simulations", paper=paper)
    texts = table["cell"] + " " + table["quantity"]
    rows = [row for row in rows if texts.str.contains(row[-1]).any()]  # few data sets: no verdict
    figure = style.figure(style.PAGE, 0.5 + 2.0 * len(rows))
    parts = figure.subfigures(len(rows), squeeze=False)[:, 0]
    for part, (x, panel, shown, pattern) in zip(parts, rows, strict=True):
        some = texts[texts.str.contains(pattern)]
        panel_values, x_values = _field(some, panel), _field(some, x).rename("x")
        lines = some.str.replace(rf"({x}|{panel})=\S+ ?|_test|type_1|pi=0", "", regex=True)
        looks = {name: {"color": style.group_colour(k)} for k, name in enumerate(lines.unique())}
        axes = part.subplots(1, panel_values.nunique(), sharey=True, squeeze=False)[0]
        axes[0].set_ylabel(shown)
        for ax, (value, where) in zip(axes, x_values.groupby(panel_values), strict=True):
            ax.set(title=f"{panel} = {value:g}", xlabel=x, ylim=(-0.03, 1.03))
            for k, (name, look) in enumerate(looks.items()):
                chosen = table.loc[where.index[lines[where.index] == name]]
                if x == "quantity":
                    ax.plot(k, chosen["z"], "o", **look)
                    continue
                at = where[chosen.index]
                panels.line_with_band(ax, at, chosen["recomputed"], chosen["error"], **look)
                ax.plot(at, chosen["printed"], "o", markerfacecolor="none", markersize=3, **look)
        if x == "quantity":
            axes[0].set(ylim=(-2, 2), xlabel="", xticks=[])
            for edge in (-LAST_DIGIT, LAST_DIGIT):
                axes[0].axhline(edge, **style.REFERENCE)
        names = [" ".join(name.replace("_", " ").split()) for name in looks]
        handles = [
            panels.handle(name, **looks[key]) for name, key in zip(names, looks, strict=True)
        ]
        part.legend(handles=handles, loc="outside right center", fontsize=6)
    panels.note(figure, "lines: recomputed, bands of two standard errors", "hollow: printed")
    return figure


def _field(texts: pd.Series, name: str) -> pd.Series:
    """Return the number after ``name=``, NaN where there is none."""
    return texts.str.extract(rf"(?:^| ){re.escape(name)}=(\S+)")[0].astype(float)
