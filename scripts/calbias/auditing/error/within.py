"""Is an error at most x? What an interval answers, and about how many rows would answer it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from calbias.engine.scores_and_hits import is_number
from calbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

Answer = Literal["yes", "no", "undecided"]
EXIT_STATUS: dict[Answer, int] = {"yes": 0, "no": 3, "undecided": 4}
_MOST = 1e7


class Gate(NamedTuple):
    """The answer to "is the error at most so large?", and what decided it. Errors are fractions.

    Attributes
    ----------
    limit : float
        The error that was asked about.
    answer : str
        ``yes`` where the deciding interval is at most the limit, ``no`` where it is above it, else
        ``undecided``.
    where : str or None
        The subgroup that decided, in words; None for all rows.
    low, high : float
        The deciding interval.
    rows_needed : float or None
        About how many rows of it, or clusters, would decide if the estimate is the truth; None
        where it is decided.
    unit : str
        What ``rows_needed`` counts, ``rows`` or ``clusters``.
    reason : str
        The same in words, empty where the answer alone says it.
    """

    limit: float
    answer: Answer
    where: str | None
    low: float
    high: float
    rows_needed: float | None
    unit: str = "rows"
    reason: str = ""

    @property
    def sentence(self) -> str:
        """The answer with its reason."""
        return f"{self.answer}{', ' if self.reason else ''}{self.reason}"


def answer(interval: tuple[float, float], x: float) -> Answer:
    """Return "yes" where the interval is at most x, a fraction, "no" where it is above it."""
    if not (is_number(x) and 0.0 <= x < 1.0):
        hint = f": {x:g} % is {x / 100:g}" if is_number(x) and 1.0 <= x <= 100.0 else ""
        raise InputError(f"within takes a fraction from 0 to below 1, not {x!r:.60}{hint}")
    low, high = interval
    return "yes" if high <= x else "no" if low > x else "undecided"


class InParts(Protocol):
    """Subgroups that are asked too."""

    def gate(self, x: float) -> Gate | None:
        """Return the Gate of the subgroup that decides, None where there are no subgroups."""


def gate_of(
    estimate: float,
    interval: tuple[float, float],
    x: float,
    size: tuple[float, str],
    parts: InParts | None = None,
) -> Gate:
    """Return the Gate of all rows and, if asked, of subgroups; ``size`` is (number, unit)."""
    decision = answer(interval, x)
    rows = None if decision != "undecided" else rows_to_decide(estimate, interval, x, size[0])
    reason = "" if rows is None else rows_in_words(rows, size[1])
    on_all_rows = Gate(x, decision, None, *interval, rows, size[1], reason)
    if parts is None or decision == "no":
        return on_all_rows
    in_parts = parts.gate(x)
    if in_parts and (in_parts.answer == "no" or decision == "yes"):
        return in_parts if in_parts.where else on_all_rows._replace(reason=in_parts.reason)
    return on_all_rows


def decisive(
    table: pd.DataFrame, *rules: tuple[Answer, NDArray | pd.Series, pd.Series]
) -> tuple[Answer, pd.Series] | None:
    """Return the answer of the first rule that a row meets, and the row of the largest size.

    A rule is (answer, whether each row meets it, the size of each row).
    """
    for decision, is_met, size in rules:
        if is_met.any():
            return decision, table.loc[size[is_met].idxmax()]
    return None


def rows_to_decide(estimate: float, interval: tuple[float, float], x: float, n: float) -> float:
    """Return how many rows would give an answer if the estimate is the truth; inf if none.

    The end of the interval then comes nearer to the estimate with the root of the rows. A low end
    of 0 is cut off, and is taken as far away as half of the interval.
    """
    low, high = interval
    end = high - estimate if estimate < x else max(estimate - low, (high - low) / 2)
    distance = abs(x - estimate)
    return n * max((end / distance) ** 2, 1.0) if distance > 0 else math.inf


def rows_in_words(rows: float, unit: str) -> str:
    """Return that so many rows, or clusters, would decide."""
    if rows > _MOST:
        return f"ten million {unit} would not decide"
    return f"about {float(f'{rows:.2g}'):.0f} {unit} would decide"
