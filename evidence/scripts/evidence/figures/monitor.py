"""The monitor: how soon it finds a fault, next to an audit that begins at the change."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from calbias.auditing.error.bins import binomial_limits
from calbias.defaults import CONFIDENCE_LEVEL
from pipeline.figures import panels, selection, style

TABLES = ("monitor",)
TITLE = "The monitor: rows until a fault is found, and false alarms"
LOOKS: dict[str, dict[str, Any]] = {
    "design": {"color": style.group_colour(0), "marker": "o", "markerfacecolor": "white"},
    "judging": {"color": style.group_colour(1), "marker": "s"},
}
LEVEL = 5  # percent


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return two panels: delays by fault, and the share of calibrated streams that ring."""
    table = selection.rows(tables, "monitor")
    faults = table[table["part"].isin(list(LOOKS))].reset_index(drop=True)
    quiet = table[table["stream"] == "none"].reset_index(drop=True)
    figure = style.figure(style.PAGE, 1.3 + 0.15 * max(len(faults), len(quiet)))
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
    for part, look in LOOKS.items():
        rows = faults[faults["part"] == part]
        at = np.full(len(rows), 0.0)
        most = rows["delay_of_90_in_100"].replace(np.inf, np.nan) - rows["median_delay"]
        left.errorbar(rows["median_delay"], rows.index, xerr=[at, most.clip(lower=0)], linestyle="",
                      elinewidth=0.7, **look)  # fmt: skip
    left.plot(faults["verdict_delay"], faults.index, linestyle="", marker="|", markersize=8,
              color="0.2")  # fmt: skip
    left.set(xscale="log", xlabel="rows after the change (log scale)", title="Delay by fault")
    left.set_yticks(faults.index, faults["stream"], fontsize=6.3)
    low, high = binomial_limits(quiet["alarms"], quiet["n_streams"], CONFIDENCE_LEVEL)
    shares = quiet["alarms"] / quiet["n_streams"]
    margins = [100 * (shares - low), 100 * (high - shares)]
    right.errorbar(100 * shares, quiet.index, xerr=margins, linestyle="", marker="D",
                   color=style.group_colour(2), elinewidth=0.7)  # fmt: skip
    names = quiet["distribution"].where(quiet["part"] == "calibrated", quiet["part"])
    right.set_yticks(quiet.index, names, fontsize=6.3)
    right.axvline(LEVEL, **style.REFERENCE)
    right.set(xlabel="calibrated streams that ring (%)", title="False alarms", xlim=(-1, None))
    for axes, rows in ((left, faults), (right, quiet)):
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
    handles = [
        *(panels.handle(f"{part} half: median, and 90 of 100", linestyle="", **look)
          for part, look in LOOKS.items()),
        panels.handle("a verdict finds half", linestyle="", marker="|", markersize=8, color="0.2"),
        panels.handle(f"the level, {LEVEL} %", **style.REFERENCE),
    ]  # fmt: skip
    panels.legend_below(figure, handles, 2)
    streams = f"{int(faults['n_streams'].max())} streams of each kind" if len(faults) else ""
    panels.note(figure, streams, "bars on the right: exact 95 % ranges")
    return figure
