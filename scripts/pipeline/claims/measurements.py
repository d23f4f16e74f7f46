"""What a rule measured: numbers with their errors next to the published ones, and how they are put
in words."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

NAN = float("nan")
POINTS = "percentage points"
UNITS = {"percent": " %", POINTS: " points"}


class Measurement(NamedTuple):
    """A number that a rule measured.

    ``name`` says what it is and ``case`` for which estimator, model or sample size; measurements
    of one name follow each other. ``error`` is one standard error, ``low`` and ``high`` a range
    (of 95 % unless the name says otherwise), ``published`` the paper's number and
    ``published_error`` its standard error: rounding, or Monte Carlo. NaN where there is none.
    """

    name: str
    value: float
    unit: str = ""
    case: str = ""
    error: float = NAN
    low: float = NAN
    high: float = NAN
    published: float = NAN
    published_error: float = NAN


def by_case(name: str, values: Mapping, unit: str = "", **published: float) -> list[Measurement]:
    """Return a Measurement of this name for each {case: value} or {case: (value, its error)}."""
    pairs = {case: x if isinstance(x, tuple) else (x, NAN) for case, x in values.items()}
    return [
        Measurement(name, x, unit, case, error, **published) for case, (x, error) in pairs.items()
    ]


def in_words(measurements: Iterable[Measurement]) -> str:
    """Return measurements as text: ``name: case value ± error, …; name: …``."""
    parts = []
    for name, unit, group in grouped(measurements):
        values = ", ".join(f"{m.case} {quantity(m)}".strip() for m in group)
        parts.append(f"{name}: {values}{unit}")
    return "; ".join(parts)


def grouped(
    measurements: Iterable[Measurement],
) -> Iterator[tuple[str, str, Iterator[Measurement]]]:
    """Yield (name, unit as it follows a number, Measurements) of those that follow each other."""
    for (name, unit), group in itertools.groupby(measurements, lambda m: (m.name, m.unit)):
        yield name, UNITS.get(unit, f" {unit}" if unit else ""), group


def quantity(measurement: Measurement) -> str:
    """Return a measurement's number with its error or its range, without its unit, as text."""
    _, value, _, _, error, low, high, *_ = measurement
    if np.isfinite(error):
        return f"{number(value, error)} ± {number(error, error)}"
    if not np.isfinite(low):
        return number(value)
    limits = span(low, high) if np.isfinite(high) else f"above {number(low)}"
    return f"{number(value)} ({limits})" if np.isfinite(value) else limits


def span(low: float, high: float) -> str:
    """Return a range as text, one number where both are equal."""
    first, last = number(low), number(high)
    return first if first == last else f"{first}–{last}"


def number(value: float, error: float = NAN) -> str:
    """Return a number as text, with two digits of its standard error or four digits of its own."""
    if not np.isfinite(value):
        return ""
    if 0 < error < np.inf:
        return f"{value:.{min(max(1 - int(np.floor(np.log10(error))), 0), 6)}f}"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"
