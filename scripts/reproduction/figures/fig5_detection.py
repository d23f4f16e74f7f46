"""Figure 5: the miss rate of a test for miscalibration against TCE and sample size (§7.2).

Above, curves against TCE per sample size for each estimator; below, contours over TCE × n with the
TCE at which the miss rate falls to its targets, and the two points that the paper's text names.
"""

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from pipeline.detection_limits import crossing
from pipeline.figures import labels, panels, selection, style
from pipeline.figures.selection import Tables
from pipeline.paper import DETECTABLE_PERCENT

TITLE = "Miss rate of a test for miscalibration, by true error and sample size"
TABLES = ("detection", "detection_limits")
LEVELS = np.array([0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0])
TARGET_LINES = ("-", (0, (4, 2)), (0, (1, 1.2)))


def draw(tables: Tables, protagonists: Sequence[str] = ()) -> Figure:
    """Return two panels per estimator: miss-rate curves above, and below contours over TCE × n.

    With ``protagonists`` only they have panels, and limits of the others are coloured in theirs.
    """
    detection = selection.rows(tables, "detection")
    limits = tables["detection_limits"]
    targets = sorted(set(limits["target_miss_rate"].dropna()))
    lines = dict(zip(targets, TARGET_LINES, strict=False))
    estimators = list(protagonists) or style.estimator_order(detection["estimator"])
    others = set(limits["estimator"]) - set(protagonists) if protagonists else ()
    behind = {name: style.estimator_style(name)["color"] for name in sorted(others)}
    n = len(estimators)
    figure = style.figure(style.PAGE if n > 1 else style.COLUMN, 5.4)
    grid = figure.subplots(2, n, sharex=True, sharey="row", squeeze=False)
    wrong = detection[detection["tce_percent"] > 0]  # the others are the check of the type I error
    resolved = wrong[wrong["miss_rate"] > 0.002]
    shown = resolved if len(resolved) else wrong
    left, right = max(shown["tce_percent"].min(), 0.4), shown["tce_percent"].max()
    left, right = (left, right) if left < right else (right / 2, right * 2)
    sizes = wrong["n_samples"].min(), wrong["n_samples"].max()
    published = [
        (tce, n)
        for n, tce in DETECTABLE_PERCENT.items()
        if left <= tce <= right and sizes[0] <= n <= sizes[1]
    ]  # outside the panels they would lie on the others
    for upper, lower, estimator in zip(*grid, estimators, strict=True):
        rows = wrong[wrong["estimator"] == estimator]
        _curves(upper, rows, lines)
        _contours(lower, rows, right)
        for other, colour in behind.items():
            _limits(lower, limits[limits["estimator"] == other], lines, colour)
        _limits(lower, limits[limits["estimator"] == estimator], lines)
        for point in published:
            lower.plot(*point, **style.PUBLISHED_POINT)
        panels.log_axis(lower, rows["n_samples"], which="y", limit=9)
        upper.set(title=labels.estimator_label(estimator), ylim=(0, 1))
        lower.set_xlabel(labels.TCE)
        lower.set_ylim(sizes if sizes[0] < sizes[1] else (sizes[0] / 2, sizes[0] * 2))
    grid[0, 0].set_ylabel("miss rate")
    grid[1, 0].set_ylabel(labels.N_SAMPLES)
    for axes in grid[1]:
        axes.set(xscale="log", xlim=(left, right))
        panels.ticks(axes.xaxis, [0.2, 0.5, 1, 2, 5, 10, 20, 40], "{:g}".format)
    colours = ListedColormap([shade(level) for level in LEVELS[:-1]])
    areas = ScalarMappable(BoundaryNorm(LEVELS, colours.N), colours)
    bar: dict[str, Any] = {"location": "bottom", "aspect": 40 * n, "ticks": LEVELS}
    figure.colorbar(areas, ax=grid[1], label="miss rate", **bar)
    handles = panels.sample_size_handles(detection["n_samples"])
    for target, line in lines.items():
        handles.append(panels.handle(f"miss rate {target:g}", color="black", linestyle=line))
    for other, colour in behind.items():
        handles.append(panels.handle(labels.estimator_label(other), color=colour))
    if published:
        handles.append(panels.handle("paper's text", **style.PUBLISHED_POINT))
    panels.legend_below(figure, handles, (2 if behind else 3) * min(n, 2))
    replicates = panels.data_sets(wrong["n_replicates"])
    bars = panels.band(wrong["miss_rate_se"], "bars")
    panels.note(figure, replicates, bars, _type_1_rates(limits))
    return figure


def _type_1_rates(limits: pd.DataFrame) -> str:
    null = limits.dropna(subset="type_1_rate")
    if null.empty:
        return ""
    rates, error = null["type_1_rate"], null["type_1_rate_se"].max()
    return f"type I rates {rates.min():.3f} to {rates.max():.3f}, each ±{2 * error:.3f}"


def shade(level: float) -> tuple[float, ...]:
    """Return the colour of miss rates from ``level`` to the next of LEVELS; darker misses more."""
    return matplotlib.colormaps["Blues"](0.9 * level**0.5)


def _curves(axes: Axes, detection: pd.DataFrame, lines: Any) -> None:
    for target, line in lines.items():
        axes.axhline(target, color="0.4", linewidth=0.7, linestyle=line)
    for n, rows in detection.sort_values("tce_percent").groupby("n_samples"):
        look = style.sample_size_style(n) | {"markersize": 2, "elinewidth": 0.6}
        axes.errorbar(rows["tce_percent"], rows["miss_rate"], yerr=2 * rows["miss_rate_se"], **look)


def _contours(axes: Axes, detection: pd.DataFrame, right: float) -> None:
    """Fill the TCEs up to ``right`` percent by miss rate, edges as in ``detection_limits``."""
    detection = detection.dropna(subset="miss_rate").sort_values("tce_percent")
    by_size = detection.groupby("n_samples")
    left = by_size["tce_percent"].min().to_numpy()
    columns = ["tce_percent", "miss_rate", "n_replicates"]
    sizes = [rows[columns].to_numpy(float).T for _, rows in by_size]
    inner = [[crossing(tce, rate, m, level) for tce, rate, m in sizes] for level in LEVELS[-2:0:-1]]
    edges = [left, *np.clip(inner, left, right), np.full(len(sizes), right)]  # from 1 down to 0
    for left, edge, level in zip(edges, edges[1:], LEVELS[-2::-1], strict=False):
        look: dict[str, Any] = {"color": shade(level), "linewidth": 0, "zorder": 0.5}
        axes.fill_betweenx(list(by_size.groups), left, edge, **look)


def _limits(axes: Axes, limits: pd.DataFrame, lines: Any, colour: str = "black") -> None:
    limits = limits.dropna(subset="tce_percent").sort_values("n_samples")
    for target, line in lines.items():
        ends = limits[limits["target_miss_rate"] == target]
        low = (ends["tce_percent"] - ends["tce_low_percent"]).clip(lower=0)
        high = (ends["tce_high_percent"] - ends["tce_percent"]).clip(lower=0)
        look: dict[str, Any] = {"color": colour, "linewidth": 0.9, "linestyle": line}
        axes.errorbar(ends["tce_percent"], ends["n_samples"], xerr=[low, high], **look)
