"""The ruling on a claim, its measurements, and the thresholds that all rules share."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

NAN = float("nan")
NOBODY = "no paper"
"""States a claim that papers are compared by and do not make."""
POINTS = "percentage points"
UNITS = {"percent": " %", POINTS: " points"}

CLEAR = 3.0  # Monte Carlo standard errors beyond which a planned comparison counts as decided
SEARCHED = 4.0  # the same for "somewhere on the grid there is …": many places were looked at
SAME = 0.01  # percentage points, or rates: the last digit that the paper prints of an error
RARE = 0.05  # share of exceptions that "consistently" still admits
FEW = 0.25  # the same for an approximate verdict
_MORE_THAN_HALF = (
    f"more than half of the cells clearly agree (by {CLEAR:g} standard errors of the difference)"
)
_OTHERS = "are the other way round"
MOSTLY = f"{_MORE_THAN_HALF} and at most {RARE:.0%} {_OTHERS} (by more than {SAME:g})"
CONSISTENTLY = (
    f"reproduced if {MOSTLY}; approximate if more than half agree and at most {FEW:.0%} {_OTHERS}"
)
IF_AGREED = "Judged on the models that have genuine outputs; if they disagree, all ten are needed."
EACH = "Judged on the models that have genuine outputs."
"""Words of rules that count models, and of rules about each model."""

Truth = bool | np.bool_


class Verdict(StrEnum):
    """What a rule says of a claim."""

    REPRODUCED = "reproduced"
    APPROXIMATE = "approximate"
    NOT_REPRODUCED = "not_reproduced"
    NEEDS_REAL_LOGITS = "needs_real_logits"
    NOT_JUDGED = "not_judged"  # part of the paper's grid was not computed: smoke and partial runs

    @classmethod
    def of(cls, reproduced: Truth, approximate: Truth) -> Verdict:
        """Return the verdict of two nested conditions, the strict and the loose one."""
        if reproduced:
            return cls.REPRODUCED
        return cls.APPROXIMATE if approximate else cls.NOT_REPRODUCED

    @classmethod
    def all_or_some(cls, conditions: Collection[Truth]) -> Verdict:
        """Return the verdict of conditions: reproduced if all hold, approximate if some do."""
        return cls.of(all(conditions), any(conditions))

    @classmethod
    def worst(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Return the worst of verdicts that are reproduced, approximate or not_reproduced."""
        return max(verdicts, key=[*cls].index)

    @property
    def words(self) -> str:
        """The verdict in plain words: ``not borne out``, also where the printed number is."""
        words = {self.NOT_REPRODUCED: "not borne out"}.get(self, self.replace("_", " "))
        return words.replace("real logits", "the models' outputs")


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


class Ruling(NamedTuple):
    """What the rule of a claim returns: a verdict with the numbers behind it.

    ``source`` says where the data came from and ``notes`` name causes and exceptions.
    ``largest_error`` is the largest standard error behind the verdict, where the claim's
    ``uncertainty`` speaks of one. ``models`` is "2 of 10" where a claim about models was judged on
    some of them. ``reason`` says in one line, with a number, what decides, for somebody who reads
    nothing else.
    """

    verdict: Verdict
    measurements: Sequence[Measurement] = ()
    source: str = ""
    notes: Sequence[str] = ()
    largest_error: float = NAN
    models: str = ""
    reason: str = ""


class NotJudged(Exception):
    """Raised by a rule when result rows that it needs are absent; the message says which."""


class OtherNorm(NotJudged):
    """Raised where this run's numbers are of another norm than the paper's claims."""
