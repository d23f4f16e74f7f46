"""Language models that are calibrated on the whole and wrong by subject."""

import pandas as pd
from matplotlib.figure import Figure

from pipeline.figures import panels, selection, style

TABLES = ("subjects",)
TITLE = "Calibrated on the whole, wrong by subject"
WHOLE, WORST = style.GROUP_COLOURS[0], style.GROUP_COLOURS[1]


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return one panel: the gaps of each recalibrated confidence, on the whole and at worst."""
    rows = recalibrated(tables)
    rows = rows.iloc[rows["worst_gap_percent"].abs().argsort(kind="stable")]
    figure = style.figure(style.PAGE, 2.9)
    axes, x = figure.subplots(), range(len(rows))
    worst, overall = rows["worst_gap_percent"].abs(), rows["gap_percent"].abs()
    ends = rows[["worst_low_percent", "worst_high_percent"]]
    nearest = ends.abs().min(axis=1).where(ends.prod(axis=1) > 0, 0.0)
    axes.vlines(x, nearest, ends.abs().max(axis=1), color=WORST, linewidth=0.8, alpha=0.5)
    axes.plot(x, worst, linestyle="", marker="o", markersize=3, color=WORST)
    axes.fill_between(
        x, 0, rows["worst_noise_floor_percent"], color="0.75", linewidth=0, step="mid"
    )
    axes.plot(x, overall, linestyle="", marker="s", markersize=2.5, color=WHOLE)
    axes.set(
        ylabel="|mean confidence − accuracy| (points)",
        xlabel=f"{rows['model'].nunique()} language models, up to three confidences each, "
        "after isotonic recalibration",
        xlim=(-1, len(rows)), ylim=(0, None),
    )  # fmt: skip
    axes.set_xticks([])
    handles = [
        panels.handle("worst subject, simultaneous 95 %", marker="o", color=WORST, linewidth=0.8),
        panels.handle("all questions", linestyle="", marker="s", color=WHOLE),
        panels.handle("noise floor of the worst subject", linewidth=5, color="0.75"),
    ]
    panels.legend_below(figure, handles, 3)
    panels.note(
        figure,
        f"MMLU-Pro, {rows['n_subjects'].max()} subjects; each point on the half of the questions "
        "that the map was not fitted on",
    )
    return figure


def recalibrated(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of table ``subjects`` after recalibration."""
    table = selection.rows(tables, "subjects")
    return table[table["stage"] == "recalibrated"]
