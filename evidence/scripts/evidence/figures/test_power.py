"""Power of the tests of calibration: who sees which miscalibration, and at what size."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from evidence.figures.interval_coverage import clusters
from evidence.names import CLUSTERED, DISTRIBUTIONS, curve_name, name_of_test, tests_by_purpose
from pipeline.figures import labels, panels, selection, style

TABLES = ("test_power",)
TITLE = "Size and power of tests of calibration"
COLOURS = "#FFFFFF", "#DCE9F5", "#A9CBE6", "#5E9BCB", "#1F5F99"  # below 20, 40, 60, 80, 100 %
DARK = 3  # from this colour on numbers are white
CALIBRATED = "_calibrated"
GAP, DISTRIBUTION_GAP, HEADING, WIDEST_NAME = 0.35, 1.0, 1.15, 2.6  # in cells
SMALL = 6
Places = dict[str, float]
Columns = dict[tuple[str, int], float]
Spans = dict[str, tuple[float, float]]
MOST_SIZE = 16  # percent, at which the axis of sizes ends


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Return the sizes of the tests with their errors, and the power in numbers on every scenario.

    Tests stand in groups by what they look for, a cell is a test, a scenario and a sample size.
    Scenarios with clusters of rows stand below, with the verdict alone.
    """
    every = selection.rows(tables, "test_power")
    is_clustered = every["scenario"].str.startswith(CLUSTERED)
    table, clustered = every[~is_clustered], every[is_clustered]
    is_null = table["scenario"].str.endswith(CALIBRATED)
    positions, headings = _places(table)
    ns = sorted(table["n_samples"].unique())
    columns, scenarios, distributions = _columns(table[~is_null], ns)
    width = max(columns.values(), default=0) + 1
    height = max(positions.values()) + 0.6
    below = 0.18 * clustered["scenario"].nunique() + 0.7 if len(clustered) else 0.0
    figure = style.figure(max(3.3 + 0.162 * width, 4.6), 1.25 + 0.165 * height + below)
    ratios = [1.15, max(0.162 * width, 0.5)]
    heights = [0.165 * height, below] if below else [1]
    grid = figure.add_gridspec(len(heights), 2, width_ratios=ratios, height_ratios=heights)
    left = figure.add_subplot(grid[0, 0])
    right = figure.add_subplot(grid[0, 1], sharey=left)
    _sizes(left, table[is_null], positions, ns)
    _powers(right, table[~is_null], positions, columns)
    for scenario, (first, last) in scenarios.items():
        right.text((first + last) / 2, -1.5, curve_name(scenario), ha="center", fontsize=SMALL)
    for distribution, (first, last) in distributions.items():
        right.text(
            (first + last) / 2,
            -2.5,
            DISTRIBUTIONS.get(distribution, distribution),
            ha="center",
            weight="bold",
        )
    for (_, n), x in columns.items():
        right.text(x, -0.55, panels.short(n), ha="center", fontsize=SMALL, color="0.35")
    for heading, at in headings.items():
        left.text(-0.04, at, heading, transform=left.get_yaxis_transform(), ha="right",
                  va="center", fontsize=SMALL + 0.3, fontweight="bold")  # fmt: skip
    left.set_yticks(
        list(positions.values()), list(map(name_of_test, positions)), fontsize=SMALL + 0.3
    )
    left.set_ylim(height, -3.1)
    right.set_xlim(-0.6, width - 0.4)
    right.set_axis_off()
    if below:
        bottom = figure.add_subplot(grid[1, :])
        margins = 2 * np.tile(clustered["rejection_rate_se"], (2, 1))
        kinds = clustered.assign(kind=clustered["test"])
        words = {"verdict_clusters": "verdict with clusters", "verdict": "rows as independent"}
        clusters(bottom, kinds, "rejection_rate", margins, words)
        bottom.axvline(5, **style.REFERENCE)
        bottom.set_xlabel("data sets in which the verdict rejects (%)")
    handles = [panels.handle(f"n = {panels.short(n)}", **_look(n, k)) for k, n in enumerate(ns)]
    handles.append(panels.handle("the level, 5 %", **style.REFERENCE))
    panels.legend_below(figure, handles, len(handles))
    panels.note(
        figure,
        "numbers: data sets in which the test rejects at the 5 % level (%), by scenario and n",
        "columns of a scenario: n; –: not run",
        *_counts(table, is_null),
    )
    return figure


def _counts(table: pd.DataFrame, is_null: pd.Series) -> Iterator[str]:
    """Return how many data sets sizes and powers rest on."""
    for name, rows in (("size", table[is_null]), ("power", table[~is_null])):
        numbers = rows["n_replicates"].dropna()
        if len(numbers):
            bars = ", bars ±2 standard errors" if name == "size" else ""
            yield f"{name}: {labels.span(numbers)} data sets{bars}"


def _look(n: int, k: int) -> dict[str, Any]:
    colour = style.sample_size_style(n)["color"]
    return {"color": colour, "marker": "osDPX^"[k % 6], "linestyle": "", "markersize": 2.6}


def _places(table: pd.DataFrame) -> tuple[Places, Places]:
    """Return {test: height} and {group: height}, from the top downwards."""
    wrong = table[~table["scenario"].str.endswith(CALIBRATED)]
    few = wrong[wrong["n_samples"] < max(wrong["n_samples"].max(), wrong["n_samples"].min() + 1)]
    power = few.groupby("test")["rejection_rate"].mean()
    tests = sorted(table["test"].unique(), key=lambda test: -power.get(test, 0.0))
    positions: Places = {}
    headings: Places = {}
    at = 0.0
    for purpose, names in tests_by_purpose(tests).items():
        headings[purpose] = at
        positions |= {test: at + k for k, test in enumerate(names, start=1)}
        at += len(names) + HEADING
    return positions, headings


def _columns(wrong: pd.DataFrame, ns: list[int]) -> tuple[Columns, Spans, Spans]:
    """Return {(scenario, n): place}, and first and last place of scenarios and distributions."""
    columns: Columns = {}
    scenarios: Spans = {}
    distributions: Spans = {}
    at, previous = 0.0, None
    for scenario in selection.in_order(wrong["scenario"]):
        distribution = scenario.partition("_")[0]
        at += DISTRIBUTION_GAP if previous not in (None, distribution) else GAP if previous else 0.0
        columns |= {(scenario, n): at + k for k, n in enumerate(ns)}
        scenarios[scenario] = at, at + len(ns) - 1
        distributions[distribution] = distributions.get(distribution, (at,))[0], at + len(ns) - 1
        at, previous = at + max(len(ns), WIDEST_NAME), distribution
    return columns, scenarios, distributions


def _sizes(axes: Axes, null: pd.DataFrame, positions: Places, ns: list[int]) -> None:
    """Draw the size of each test by distribution and n; the rows of one n lie a little apart."""
    for k, n in enumerate(ns):
        rows = null[null["n_samples"] == n]
        at = rows["test"].map(positions) + 0.26 * (k - (len(ns) - 1) / 2)
        size, margin = 100 * rows["rejection_rate"], 200 * rows["rejection_rate_se"].fillna(0.0)
        inside = size.clip(upper=MOST_SIZE)
        axes.errorbar(inside, at, xerr=margin, elinewidth=0.6, **_look(n, k))
        for x, y in zip(size[size > MOST_SIZE], at[size > MOST_SIZE], strict=True):
            axes.text(MOST_SIZE, y, f"{x:.0f} ▶", ha="right", va="center", fontsize=SMALL)
    axes.axvline(5, **style.REFERENCE)
    axes.set(xlim=(0, MOST_SIZE), xticks=[0, 5, 10, 15], xlabel="size (%)")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.text(MOST_SIZE / 2, -2.5, "size", ha="center", weight="bold")
    axes.text(MOST_SIZE / 2, -1.5, "calibrated", ha="center", fontsize=SMALL)


def _powers(axes: Axes, wrong: pd.DataFrame, positions: Places, columns: Columns) -> None:
    rates = wrong.set_index(["test", "scenario", "n_samples"])["rejection_rate"].dropna()
    for test, y in positions.items():
        for (scenario, n), x in columns.items():
            rate = rates.get((test, scenario, n))
            words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}
            if rate is None:
                axes.text(x, y, "–", color="0.6", **words)
                continue
            level = min(int(5 * rate), len(COLOURS) - 1)
            cell = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=COLOURS[level], linewidth=0)
            axes.add_patch(cell)
            axes.text(x, y, f"{100 * rate:.0f}", color="w" if level >= DARK else "0.25", **words)
