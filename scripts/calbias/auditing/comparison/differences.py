"""In which subgroups do two models differ? What was found, in a table and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from calbias.auditing.error.within import Gate, decisive, rows_in_words, rows_to_decide
from calbias.auditing.subgroups.segments import ending
from calbias.defaults import p_digits

if TYPE_CHECKING:
    import pandas as pd


LEAST_P = 1e-6


def p_text(p_value: float) -> str:
    """Return "p = " or "p < " with a p-value, which is at least ``LEAST_P``."""
    return f"p < {LEAST_P:g}" if p_value <= LEAST_P else f"p = {p_digits(p_value)}"


class Differences(NamedTuple):
    """The differences of two models by subgroup.

    Attributes
    ----------
    p_value : float
        Of the hypothesis that the mean gaps of both models are equally large in every subgroup.
    table : DataFrame
        A row for each subgroup, the clearest first: ``segment`` in words, ``n``, ``gap_first`` and
        ``gap_second`` (mean score minus share of hits), ``difference`` of their sizes with ``low``
        and ``high`` (an interval that holds for all subgroups at once), ``p_value`` (corrected for
        all subgroups) and ``better`` (the name of the model with the smaller gap; empty where no
        difference was found). Gaps are fractions.
    small : tuple of str
        The values with too few rows or clusters to be judged.
    cut : tuple of str
        The columns of numbers that were cut at their quartiles.
    """

    p_value: float
    table: pd.DataFrame
    small: tuple[str, ...]
    cut: tuple[str, ...] = ()

    def gate(self, x: float) -> Gate | None:
        """Return whether the first is worse by more than ``x`` in no subgroup, and which decides.

        "no" where the low end of a difference is above x, "undecided" where the first is found to
        be worse and the high end is above x. The others do not stand against "yes".
        """
        low, high = self.table["low"], self.table["high"]
        is_found = self.table["better"] != ""
        may_fail = is_found & (high > x)
        result = decisive(self.table, ("no", low > x, low), ("undecided", may_fail, high))
        if not len(self.table):
            return None
        if result is None:
            reason = "and in no subgroup by more"
            return Gate(x, "yes", None, float(low.min()), float(high.max()), None, reason=reason)
        answer, row = result
        ends = float(row["low"]), float(row["high"])
        rows = None
        if answer == "undecided":
            rows = rows_to_decide(float(row["difference"]), ends, x, float(row["n"]))
        reason = "where {} (gap larger by {:.1f} to {:.1f} points)".format(
            row["segment"], *(100 * end for end in ends)
        )
        reason += "" if rows is None else f", {rows_in_words(rows, 'rows of it')}"
        return Gate(x, answer, row["segment"], *ends, rows, reason=reason)

    @property
    def differing(self) -> pd.DataFrame:
        """The rows of subgroups in which one model is better, the clearest first."""
        return self.table[self.table["better"] != ""]

    def apart_from(self, better: str | None) -> str:
        """In how many subgroups another model than ``better`` is better, in words, or ""."""
        counts = self.differing["better"].value_counts().drop(better or "", errors="ignore")
        if not len(counts):
            return ""
        words = " and ".join(
            f"{name} {'' if k else 'is better '}in {count}"
            for k, (name, count) in enumerate(counts.items())
        )
        return f"but {words} of {len(self.table)} subgroups"

    @property
    def details(self) -> str:
        """What the sentence of the comparison does not say: all of it."""
        return self.sentence

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        end = ending(len(self.small), self.cut)
        if not len(self.table):
            return f"No subgroup has enough rows and clusters to be judged{end}."
        subgroups = f"{len(self.table)} subgroups ({p_text(self.p_value)})"
        if not len(self.differing):
            return f"No difference was found in {subgroups}{end}."
        first = self.differing.iloc[0]
        low, high = sorted(np.copysign(100.0, first["difference"]) * first[["low", "high"]])
        return (
            f"The models differ in {len(self.differing)} of {subgroups}, most clearly where "
            f"{first['segment']} ({first['n']} rows): the gap of {first['better']} is smaller by "
            f"{100 * abs(first['difference']):.1f} points ({low:z.1f} to {high:z.1f}){end}."
        )
