"""The test over all subgroups on cells of known truth: its level, its power, its intervals."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calbias.auditing.error.bins import binomial_limits
from calbias.defaults import CONFIDENCE_LEVEL
from evidence.figures.monitor import LOOKS
from pipeline.figures import panels, selection, style

TABLES = ("subgroup_cells",)
TITLE = "The test over all subgroups: level, power and simultaneous coverage"


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return three panels: rejections without and with a fault, and coverage of all gaps."""
    table = selection.rows(tables, "subgroup_cells").iloc[::-1]
    calibrated, faulty = table[table["calibrated"]], table[~table["calibrated"]]
    height = 1.3 + 0.135 * (len(calibrated) + len(faulty))
    figure = style.figure(style.PAGE, height)
    grid = figure.add_gridspec(2, 2, height_ratios=[max(len(calibrated), 1), max(len(faulty), 1)])
    for k, (rows, words) in enumerate(
        ((calibrated, "Calibrated cells"), (faulty, "Cells with a fault"))
    ):
        left = figure.add_subplot(grid[k, 0])
        right = figure.add_subplot(grid[k, 1], sharey=left)
        _cells(left, rows, "rejection_rate")
        _cells(right, rows, "coverage")
        left.axvline(5, **style.REFERENCE)
        right.axvline(95, **style.REFERENCE)
        left.set(title=f"{words}: rejections", xlim=(-1, 30 if k == 0 else 103))
        right.set(title="all gaps in their intervals", xlim=(50, 101))
        right.tick_params(labelleft=False)
        for axes in (left, right):
            axes.set_xlabel("data sets (%)" if k else "")
    handles = [panels.handle(f"{half} half", linestyle="", **look) for half, look in LOOKS.items()]
    handles.append(panels.handle("the level 5 %, the nominal 95 %", **style.REFERENCE))
    panels.legend_below(figure, handles, 3)
    numbers = panels.data_sets(table["n_data_sets"], "cell")
    panels.note(figure, f"{numbers}, bars: exact 95 % ranges")
    return figure


def _cells(axes: Axes, rows: pd.DataFrame, value: str) -> None:
    for half, look in LOOKS.items():
        chosen = ((rows["half"] == half) & rows[value].notna()).to_numpy()
        some = rows[chosen]
        counts = (some["n_data_sets"] * some[value]).round()
        low, high = binomial_limits(counts, some["n_data_sets"], CONFIDENCE_LEVEL)
        axes.errorbar(
            100 * some[value], chosen.nonzero()[0],
            xerr=[100 * (some[value] - low), 100 * (high - some[value])],
            linestyle="", elinewidth=0.6, **look,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), rows["cell"], fontsize=6.3)
    axes.grid(visible=False, axis="y")
