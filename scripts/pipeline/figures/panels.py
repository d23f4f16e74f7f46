"""What panels share: lines with Monte Carlo bands, axes of sizes and bins, legends, notes."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from pipeline.figures import labels, style

NOTE_SIZE = 6.5


def line_with_band(
    axes: Axes, x: pd.Series, y: pd.Series, standard_error: pd.Series, **line: Any
) -> None:
    """Plot y against x, Series, with a band of ±2 standard errors; NaN is left out."""
    there = x.notna() & y.notna()
    x, y, margin = x[there], y[there], 2 * standard_error[there].fillna(0.0)
    axes.plot(x, y, **line)
    axes.fill_between(x, y - margin, y + margin, color=line["color"], alpha=0.25, linewidth=0)


def ticks(axis: Axis, places: Sequence[float], text: Callable[[float], str]) -> None:
    """Set an axis's only ticks: at ``places``, labelled ``text(place)``."""
    axis.set_major_locator(FixedLocator(places))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda place, _: text(place))


def log_axis(
    axes: Axes, values: Iterable[float], which: Literal["x", "y"] = "x", limit: int = 7
) -> None:
    """Make an axis logarithmic with ticks at the values, thinned to at most ``limit``."""
    values = sorted(set(values))
    axes.set(**{f"{which}scale": "log"})
    ticks(getattr(axes, f"{which}axis"), values[:: math.ceil(len(values) / limit)], short)


def short(value: float) -> str:
    """Return a sample size in few characters: 12 800 is ``12.8k``."""
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def handle(label: str, **look: Any) -> Line2D:
    """Return the handle of a legend's entry, from keywords for ``Axes.plot``."""
    return Line2D([], [], label=label, **look)


def estimator_handles(
    estimators: Iterable[str], protagonists: Sequence[str] = (), **line: Any
) -> list[Line2D]:
    """Return legend handles of the estimators in their fixed order, named in words."""
    return [
        handle(labels.estimator_label(name), **(style.estimator_style(name, protagonists) | line))
        for name in style.estimator_order(estimators)
    ]


def sample_size_handles(sizes: Iterable[int], **line: Any) -> list[Line2D]:
    """Return legend handles ``n = …`` of the sample sizes, in ascending order."""
    looks = {n: style.sample_size_style(n) | line for n in sorted(set(sizes))}
    return [handle(f"n = {short(n)}", **look) for n, look in looks.items()]


def legend_below(figure: Figure, handles: Sequence[Any], columns: int) -> None:
    """Put one legend of so many columns under all panels."""
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def data_sets(replicates: Iterable[float], place: str = "point") -> str:
    """Return how many data sets a point or a cell stands for, as a part of a ``note``."""
    return f"{labels.span(replicates)} data sets per {place}"


def band(standard_errors: pd.Series, kind: str = "bands") -> str:
    """Return what bands or bars are and how wide they get, as a part of a ``note``."""
    widest = 2 * standard_errors.max()
    return f"{kind}: ±2 Monte Carlo standard errors, at most ±{widest:.2g}"


def note(figure: Figure, *parts: str) -> None:
    """Write above the panels where the data come from; every number in it is from a table."""
    room = int(figure.get_figwidth() / 0.052)  # characters of 6.5 points in a line
    lines = [""]
    for part in filter(None, parts):
        joined = f"{lines[-1]} · {part}" if lines[-1] else part
        lines[-1:] = [joined] if len(joined) <= room else [lines[-1], part]
    look = {"fontsize": NOTE_SIZE, "color": style.NOTE_COLOUR, "x": 0.01, "ha": "left"}
    figure.suptitle("\n".join(lines), **look)
