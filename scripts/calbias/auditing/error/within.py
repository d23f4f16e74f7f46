"""Is an error at most x? What an interval answers, and about how many rows would answer it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, Protocol

from calbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

Answer = Literal["yes", "no", "undecided"]
EXIT_STATUS: dict[Answer, int] = {"yes": 0, "no": 3, "undecided": 4}
_MOST = 1e7


def answer(interval: tuple[float, float], x: float) -> Answer:
    """Return "yes" where the interval is at most x, a fraction, "no" where it is above it."""
    if not 0.0 <= x <= 1.0:
        raise InputError(f"within needs an error between 0 and 1, a fraction, not {x!r:.60}")
    low, high = interval
    return "yes" if high <= x else "no" if low > x else "undecided"


class InParts(Protocol):
    """Subgroups that are asked too."""

    def within(self, x: float) -> tuple[Answer, str]:
        """Return their answer, and which one decides, in words."""


def decided(interval: tuple[float, float], parts: InParts | None, x: float) -> tuple[Answer, str]:
    """Return the answer on all rows and, if asked, on subgroups, and which of these decides."""
    on_all_rows = answer(interval, x)
    if parts is None or on_all_rows == "no":
        return on_all_rows, ""
    in_parts, which = parts.within(x)
    if in_parts == "no" or on_all_rows == "yes":
        return in_parts, which
    return on_all_rows, ""


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


def answer_in_words(
    estimate: float, interval: tuple[float, float], x: float, n: float, unit: str = "rows"
) -> str:
    """Return the answer, and where there is none the number of rows, or of clusters, for one."""
    decision = answer(interval, x)
    if decision != "undecided":
        return decision
    rows = rows_to_decide(estimate, interval, x, n)
    if rows > _MOST:
        return f"{decision}, ten million {unit} would not decide"
    return f"{decision}, about {float(f'{rows:.2g}'):.0f} {unit} would decide"
