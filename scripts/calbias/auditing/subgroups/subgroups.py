"""What the test over all subgroups found, in numbers and in words.

Where all rows have a fault, subgroups are judged beyond it: those that differ from the curve of all
rows, or else those that are miscalibrated, are apart. Sentences, advice and picture name them, and
no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from calbias.auditing.error.within import Gate, decisive, rows_in_words, rows_to_decide
from calbias.auditing.subgroups.segments import ending
from calbias.auditing.verdict.words import HEIGHT
from calbias.defaults import MISCALIBRATED, SIGNIFICANT, TOO_SMALL, p_digits

if TYPE_CHECKING:
    import pandas as pd

ALL = "all rows"
RISKS = "risks"
BEYOND = ("others_gap", "difference_p_value")
"""Columns that have values where all rows have a fault."""
_LISTED = 3  # subgroups that are too small, in a sentence


class Subgroups(NamedTuple):
    """What the test over all segments found.

    Attributes
    ----------
    p_value : float
        Of the hypothesis that the model is calibrated in every segment; exact over all of them.
    table : DataFrame
        A row for each segment, the clearest first: ``segment`` in words, ``n``, ``mean_score``,
        ``accuracy``, ``gap`` (mean score minus accuracy) with ``low`` and ``high`` (an interval
        that holds for all segments at once), ``noise_floor`` (the mean absolute gap of a calibrated
        model), ``p_value`` (corrected for all segments), ``finding`` ("miscalibrated", "none
        found" or "too small to tell"), ``fault`` (in words; empty where none was found) and
        ``rows_needed`` (to find a shift of 5 points with 80 % probability). Shares are fractions.
        ``apart`` is True for the subgroups that have a fault beyond the one of all rows, each of
        them found beyond those before it; they come first. ``difference_p_value`` is of that, and
        ``others_gap`` the gap of the rows outside them at the same scores; both are NaN where all
        rows have no fault.
        Of an event also ``shift`` (calibration in the large) and ``slope``, each with an
        interval, ``_low`` to ``_high``, that holds for one subgroup.
    small : tuple of str
        The values with too few rows or clusters to be judged.
    what : str
        "scores", or "risks" of an event.
    cut : tuple of str
        The columns of numbers that were cut at their quartiles.
    difference_p_value : float or None
        Of the hypothesis that all subgroups have the calibration curve of all rows; None where
        these have no fault.
    others_p_value : float or None
        Of the verdict on the rows outside the subgroups apart; None where none is, or fewer than
        50 rows are outside.
    columns : tuple of str
        The names of the columns that were given.
    """

    p_value: float
    table: pd.DataFrame
    small: tuple[str, ...]
    what: str = "scores"
    cut: tuple[str, ...] = ()
    difference_p_value: float | None = None
    others_p_value: float | None = None
    columns: tuple[str, ...] = ()

    @property
    def miscalibrated(self) -> bool:
        """Whether the p-value is at most 5 %."""
        return self.p_value <= SIGNIFICANT

    @property
    def is_shared(self) -> bool:
        """Whether all rows have a fault, beyond which the subgroups are judged."""
        return self.difference_p_value is not None

    @property
    def faulty(self) -> pd.DataFrame:
        """The rows of miscalibrated subgroups, the clearest first; none above 5 % over all."""
        is_bad = (self.table["segment"] != ALL) & (self.table["finding"] == MISCALIBRATED)
        return self.table[is_bad & self.miscalibrated]

    def gate(self, x: float) -> Gate | None:
        """Return whether no subgroup fails by more than ``x``, and which one decides.

        By the limits that hold for all subgroups at once: "no" where a subgroup has a gap above x,
        "undecided" where a miscalibrated one may have. The others do not stand against "yes".
        """
        parts = self.table[self.table["segment"] != ALL]
        least = np.maximum(np.maximum(parts["low"], -parts["high"]), 0.0)
        most = np.maximum(-parts["low"], parts["high"])
        may_fail = parts.index.isin(self.faulty.index) & (most > x)
        result = decisive(parts, ("no", least > x, least), ("undecided", may_fail, most))
        if not len(parts):
            return None
        if result is None:
            reason = "and no subgroup fails by more"
            return Gate(x, "yes", None, 0.0, float(most.max()), None, reason=reason)
        answer, row = result
        limits = sorted(abs(float(row[name])) for name in ("low", "high"))
        if row["low"] * row["high"] < 0:
            limits[0] = 0.0
        low, high = limits
        rows = None
        if answer == "undecided":
            rows = rows_to_decide(abs(float(row["gap"])), (low, high), x, float(row["n"]))
        reason = f"where {row['segment']} (gap {100 * low:.1f} to {100 * high:.1f} points)"
        reason += "" if rows is None else f", {rows_in_words(rows, 'rows of it')}"
        return Gate(x, answer, row["segment"], low, high, rows, reason=reason)

    @property
    def apart(self) -> pd.DataFrame:
        """The rows of the subgroups that have a fault beyond the one of all rows."""
        return self.table[self.table["apart"]]

    @property
    def where(self) -> str:
        """The subgroups apart in words, or ""."""
        return ", and where ".join(self.apart["segment"][:_LISTED])

    @property
    def others_are_fine(self) -> bool:
        """Whether no fault was found in the rows outside the subgroups apart."""
        return self.others_p_value is not None and self.others_p_value > SIGNIFICANT

    @property
    def deciding_p_value(self) -> float:
        """The p-value that decided whether a subgroup is apart."""
        parts = self.table.loc[self.table["segment"] != ALL, "p_value"]
        return float(parts.min()) if self.difference_p_value is None else self.difference_p_value

    @property
    def headline(self) -> str:
        """The subgroups apart, in a few words after the verdict on all rows; "" without any."""
        if self.apart.empty:
            return ""
        n, p_value = len(self.table) - 1, p_digits(self.deciding_p_value)
        p_of_others = self.others_p_value
        if not self.is_shared:
            bad = len(self.faulty)
            verb = "is" if bad == 1 else "are"
            return f"{bad} of {n} subgroups {verb} miscalibrated (p = {p_value})"
        if p_of_others is not None and self.others_are_fine:
            return (
                f"it is a fault of the rows where {self.where} (p = {p_value}), and "
                f"none was found in the other rows (p = {p_digits(p_of_others)})"
            )
        bad = len(self.apart)
        verb = "differs" if bad == 1 else "differ"
        return (
            f"{bad} of {n} subgroups {verb} from the other rows (p = {p_value}): where {self.where}"
        )

    @property
    def sentence(self) -> str:
        """What was found, for readers who do not know the method."""
        n = len(self.table) - 1
        if not n:
            more = len(self.small) - _LISTED
            few = ", ".join(self.small[:_LISTED]) + (f" and {more} more" if more > 0 else "")
            return f"No subgroup has enough rows and clusters to be judged: {few}."
        return f"{self._statement(n)}{ending(self.n_small, self.cut)}."

    @property
    def details(self) -> str:
        """What ``headline`` does not say of the subgroups apart; without any, the sentence."""
        if self.apart.empty:
            return self.sentence
        where = self._where_and_how
        return f"{where[0].upper()}{where[1:]}{ending(self.n_small, self.cut)}."

    def _statement(self, n: int) -> str:
        """Return which of n subgroups are apart, in words."""
        apart, p_value = self.apart, p_digits(self.deciding_p_value)
        if apart.empty:
            what = "difference from the fault of all rows" if self.is_shared else "fault"
            return f"No {what} was found in {n} subgroup{'s' * (n != 1)} (p = {p_value})"
        if not self.is_shared:
            bad = f"{len(self.faulty)} of {n} subgroups (p = {p_value})"
            return f"The {self.what} are wrong for {bad}, most clearly {self._where_and_how}"
        verb, most = ("differs", "") if len(apart) == 1 else ("differ", " most clearly")
        bad = f"{len(apart)} of {n} subgroups {verb}"
        return f"{bad} from the other rows (p = {p_value}),{most} {self._where_and_how}"

    @property
    def _where_and_how(self) -> str:
        """The subgroups apart, with the fault of the first."""
        first = self.apart.iloc[0]
        where = f"where {first['segment']} ({first['n']} rows): {self._fault(first)}"
        return where + "".join(f", and where {name}" for name in self.apart["segment"][1:_LISTED])

    def _fault(self, row: pd.Series) -> str:
        """Return the fault of a subgroup apart in words, with the size of a gap."""
        if not row["fault"].endswith(HEIGHT):
            return f"{row['fault']}{', compared with the other rows' if self.is_shared else ''}"
        height = HEIGHT[int(row["gap"] < 0)]
        limits = sorted(np.copysign(100.0, row["gap"]) * row[name] for name in ("low", "high"))
        size = f"{100 * abs(row['gap']):.1f} points ({limits[0]:z.1f} to {limits[1]:z.1f})"
        text = f"{self.what} {height} by {size}"
        if not self.is_shared:
            return text
        others = f"{100 * abs(row['others_gap']):.1f}"
        direction = HEIGHT[int(row["others_gap"] < 0)]
        return f"{text}, in other rows " + (
            "right on average" if others == "0.0" else f"{direction} by {others}"
        )

    @property
    def n_small(self) -> int:
        """How many subgroups are too small to tell, those with too few rows to be judged too."""
        parts = self.table[(self.table["segment"] != ALL) & ~self.table["apart"]]
        is_small = parts["n"] < parts["rows_needed"]
        if not self.is_shared:
            is_small = parts["finding"] == TOO_SMALL
        return int(is_small.sum()) + len(self.small)
