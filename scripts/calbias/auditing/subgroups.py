"""Whom does the model fail? One test over all subgroups, and an interval of the gap of each.

The test is of ``segment_test``: exact over all segments, and corrected for all in each.

The interval of a gap, mean score minus share of hits, holds the shifts of the segment's log odds
whose deviance is at most ρ q², with half a hit more on each side. q is the quantile of T, at least
the one of Bonferroni for the gaps alone. ρ is the squared error of the fitted shift over its
variance, at least 1: the width rests neither on calibration nor on the shape of the curve. With
clusters ρ is summed over clusters, and q is of Student's distribution.

Where all rows have a fault, subgroups are judged beyond it: a second test asks which of them differ
from the curve of all rows. These, or else those that are miscalibrated, are apart: sentences,
advice and picture name them, and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr, ndtri, stdtrit

from calbias.auditing.gate import Answer
from calbias.auditing.segment_rows import SegmentRows
from calbias.auditing.segment_test import Ordered, Tested, tested, with_enough_clusters
from calbias.auditing.segments import LEAST_ROWS, By, ending, segments_of
from calbias.auditing.shared_fault import Rows, apart
from calbias.auditing.subgroup_lines import subgroup_lines
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.auditing.verdict.groups import groups_of_rows
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.result import CalibrationVerdict
from calbias.auditing.verdict.words import EXTREMENESS, HEIGHT
from calbias.conventions import (
    CONFIDENCE_LEVEL,
    ENOUGH_POWER,
    MISCALIBRATED,
    NONE_FOUND,
    SIGNIFICANT,
    TOO_SMALL,
    p_digits,
)
from calbias.engine.seeding import stream
from calbias.scored import Floats, Ints, Scored

if TYPE_CHECKING:
    import pandas as pd

RISKS = "risks"
REPLICATES = 1999
TELLABLE = 0.05
"""A segment is too small to tell if a shift of 5 points is found with less than 80 % power."""
_LISTED = 3  # subgroups that are too small, in a sentence
_TINY = 1e-300


BEYOND = ("others_gap", "difference_p_value")
"""Columns that have values where all rows have a fault."""


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
    """

    p_value: float
    table: pd.DataFrame
    small: tuple[str, ...]
    what: str = "scores"
    cut: tuple[str, ...] = ()
    difference_p_value: float | None = None
    others_p_value: float | None = None

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

    def within(self, x: float) -> tuple[Answer, str]:
        """Return whether no subgroup fails by more than ``x``, and which one decides, in words.

        By the limits that hold for all subgroups at once: "no" where a subgroup has a gap above x,
        "undecided" where a miscalibrated one may have. The others do not stand against "yes".
        """
        parts = self.table[self.table["segment"] != ALL]
        least = np.maximum(np.maximum(parts["low"], -parts["high"]), 0.0)
        most = np.maximum(-parts["low"], parts["high"])
        may_fail = parts.index.isin(self.faulty.index) & (most > x)
        decisive: tuple[tuple[Answer, pd.Series, pd.Series], ...] = (
            ("no", least > x, least),
            ("undecided", may_fail, most),
        )
        for answer, is_decisive, size in decisive:
            if is_decisive.any():
                row = parts.loc[size[is_decisive].idxmax()]
                limits = sorted(100 * abs(row[name]) for name in ("low", "high"))
                if row["low"] * row["high"] < 0:
                    limits[0] = 0.0
                gap = "gap {:.1f} to {:.1f} points".format(*limits)
                return answer, f"where {row['segment']} ({gap})"
        return "yes", "and no subgroup fails by more" if len(parts) else ""

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
    def headline(self) -> str:
        """The subgroups apart, in a few words after the verdict on all rows; "" without any."""
        if self.apart.empty:
            return ""
        n, p_value = len(self.table) - 1, self.difference_p_value
        p_of_others = self.others_p_value
        if p_value is None:
            bad = len(self.faulty)
            verb = "is" if bad == 1 else "are"
            return f"{bad} of {n} subgroups {verb} miscalibrated (p = {p_digits(self.p_value)})"
        if p_of_others is not None and self.others_are_fine:
            return (
                f"it is a fault of the rows where {self.where} (p = {p_digits(p_value)}), and "
                f"none was found in the other rows (p = {p_digits(p_of_others)})"
            )
        bad = len(self.apart)
        verb = "differs" if bad == 1 else "differ"
        return (
            f"{bad} of {n} subgroups {verb} from the other rows (p = {p_digits(p_value)}): "
            f"where {self.where}"
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

    def _statement(self, n: int) -> str:
        """Return which of n subgroups are apart, in words."""
        apart = self.apart
        parts = self.table.loc[self.table["segment"] != ALL, "p_value"]
        p_value = p_digits(self.difference_p_value or float(parts.min()))
        if apart.empty:
            what = "difference from the fault of all rows" if self.is_shared else "fault"
            return f"No {what} was found in {n} subgroups (p = {p_value})"
        first = apart.iloc[0]
        where = f"where {first['segment']} ({first['n']} rows): {self._fault(first)}"
        where += "".join(f", and where {name}" for name in apart["segment"][1:_LISTED])
        if not self.is_shared:
            bad = f"{len(self.faulty)} of {n} subgroups (p = {p_value})"
            return f"The {self.what} are wrong for {bad}, most clearly {where}"
        verb, most = ("differs", "") if len(apart) == 1 else ("differ", " most clearly")
        bad = f"{len(apart)} of {n} subgroups {verb}"
        return f"{bad} from the other rows (p = {p_value}),{most} {where}"

    def _fault(self, row: pd.Series) -> str:
        """Return the fault of a subgroup apart in words, with the size of a gap."""
        if not row["fault"].endswith(HEIGHT):
            return f"{row['fault']}{', compared with the other rows' if self.is_shared else ''}"
        height = HEIGHT[int(row["gap"] < 0)]
        limits = sorted(np.copysign(100.0, row["gap"]) * row[name] for name in ("low", "high"))
        size = f"{100 * abs(row['gap']):.1f} points ({limits[0]:.1f} to {limits[1]:.1f})"
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


ALL = "all rows"


def subgroups(
    scores: ArrayLike,
    hits: ArrayLike,
    by: By,
    clusters: Ints | None = None,
    *,
    log_scores: Floats | None = None,
    log1m_scores: Floats | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
    what: str = "scores",
    verdict: CalibrationVerdict | None = None,
) -> Subgroups:
    """Return the Subgroups of scores (n,), hits (n,) and one or several columns ``by`` (n,).

    ``clusters`` (n,) are numbers from 0; ``log_scores`` and ``log1m_scores`` are as of ``judge``;
    ``what`` names the scores in sentences. ``verdict`` on all rows says whether they have a fault;
    by default the segment of all rows does. Nothing depends on the order of the rows. InputError as
    of ``segments_of``.
    """
    scores, hits = np.asarray(scores, np.float64), np.asarray(hits).astype(np.float64)
    segments = segments_of(by, scores.size)
    groups, group = groups_of_rows(scores, hits, log_scores, log1m_scores)
    chance = groups.chance[group]
    if groups.reach.any():  # the density, and what rounding does, differs from cell to cell
        for inside in (segments.cell == k for k in range(segments.members.shape[1])):
            logs = (x if x is None else x[inside] for x in (log_scores, log1m_scores))
            local, at = groups_of_rows(scores[inside], hits[inside], *logs)
            moved = local.reach[at] > 0.0
            chance[inside] = np.where(moved, local.chance[at], chance[inside])
    rows = Ordered.of(groups, group, hits, segments, clusters, chance)
    segments = with_enough_clusters(rows, segments)
    generator = stream(seed, "subgroups", str(scores.size))
    options = confidence_level, replicates, generator
    test = tested(rows, segments, *options)
    p_values, clear = test.found.p_values, test.found.clear
    is_bad = p_values <= SIGNIFICANT
    is_shared = verdict.miscalibrated if verdict else bool(is_bad[0])
    table = _table(test, scores[test.at], confidence_level, what)
    table["others_gap"], table["difference_p_value"], table["apart"] = np.nan, np.nan, False
    difference, first = None, list[int]()
    if clear.size > 1 and (is_shared or is_bad[1:].any()):
        each = Rows(groups, group, chance, hits)
        beyond = apart(rows, segments, each, is_bad, options, is_shared=is_shared)
        first = beyond.first
    if is_shared and clear.size > 1:
        difference = float(beyond.p_values[1:].min())
        others = test.of_each.total(test.of_each.score - expit(beyond.others)[test.at])
        table["others_gap"] = others / test.of_each.size
        table.loc[1:, "difference_p_value"] = beyond.p_values[1:]
        is_level = np.abs(beyond.roots[0]) >= np.abs(beyond.roots[1])
        faults = _faults(is_level, table["gap"] - table["others_gap"], beyond.roots[1], what)
        table.loc[first, "fault"] = faults[first]
    table.loc[first, "apart"] = True
    if verdict is not None:
        judged = (MISCALIBRATED, verdict.sentence) if is_shared else (NONE_FOUND, "")
        table.loc[0, ["p_value", "finding", "fault"]] = verdict.p_value, *judged
    if what == RISKS:
        rows_of_each = scores[test.at], hits[test.at], test.of_each.segment
        has_clusters = clusters is not None
        table = table.assign(**subgroup_lines(*rows_of_each, confidence_level, has_clusters))
    others_p_value = None
    if first:
        inside = (segments.members[first].toarray() > 0).any(axis=0)[segments.cell]
        outside = np.flatnonzero(~inside)
        columns = (log_scores, log1m_scores, clusters)
        columns_outside: list[Any] = [x if x is None else x[outside] for x in columns]
        others_p_value = _p_value_of(scores[outside], hits[outside], *columns_outside)
    order = [*first, *(k for k in np.lexsort((-clear, p_values)) if k not in first)]
    table = table.iloc[order].reset_index(drop=True)
    return Subgroups(
        float(p_values.min()), table, segments.small, what, segments.cut, difference, others_p_value
    )


def _p_value_of(
    scores: Floats, hits: Floats, log_scores: Any, log1m_scores: Any, clusters: Ints | None
) -> float | None:
    """Return the p-value of the verdict on rows, None where they are too few."""
    are_few = clusters is not None and np.unique(clusters).size < LEAST_CLUSTERS
    if scores.size < LEAST_ROWS or are_few:
        return None
    return judge(Scored.of(scores, hits, log_scores, log1m_scores, clusters=clusters)).p_value


def _table(test: Tested, scores: Floats, level: float, what: str) -> pd.DataFrame:
    """Return a row for each segment, from the scores of segment after segment."""
    import pandas as pd

    rows, size = test.of_each, test.of_each.size
    reach = _reach(test, level)
    excess = rows.total(rows.residual)
    gap, best = -excess / size, rows.shift_to(excess)
    ratio = rows.ratio(best)
    low, high = rows.gap_limits(ratio * reach**2)
    effect = np.ones(size.size) if rows.clusters is None else ratio
    mean = rows.total(rows.score) / size  # as rounding may have moved it
    mean_score = rows.total(scores) / size
    gap, low, high = (x + mean_score - mean for x in (gap, low, high))
    table = pd.DataFrame(
        {
            "segment": test.segments.words,
            "n": size,
            "mean_score": mean_score,
            "accuracy": mean_score - gap,
            "gap": gap,
            "low": low,
            "high": high,
            "noise_floor": np.sqrt(2.0 / np.pi * effect * rows.total(rows.variance)) / size,
            "p_value": test.found.p_values,
        }
    )
    needed = _rows_needed(rows, mean, reach, effect)
    is_bad = test.found.p_values <= SIGNIFICANT
    unfound = np.where(size < needed, TOO_SMALL, NONE_FOUND)
    table["finding"] = np.where(is_bad, MISCALIBRATED, unfound)
    is_level = (table["low"] > 0) | (table["high"] < 0)
    is_level |= np.abs(test.roots[0]) >= np.abs(test.roots[1])
    faults = _faults(is_level, table["gap"], test.roots[1], what)
    table["fault"] = np.where(is_bad, faults, "")
    table["rows_needed"] = needed
    return table


def _reach(test: Tested, level: float) -> Floats:
    """Return how many standard errors the interval of each segment reaches, (m,)."""
    rows = test.of_each
    tail = min(ndtr(-test.found.critical), (1.0 - level) / (2 * rows.size.size))
    if rows.clusters is None:
        return np.full(rows.size.size, -ndtri(tail))
    return -stdtrit(rows.n_clusters - 1.0, tail)


def _faults(is_level: Any, gap: Any, slope: Floats, what: str) -> NDArray:
    """Return in words what each segment fails in: all its scores, or the extreme ones."""
    too_high = np.where(gap > 0, f"{what} {HEIGHT[0]}", f"{what} {HEIGHT[1]}")
    too_extreme = np.where(slope < 0, *(f"{what} {each}" for each in EXTREMENESS))
    return np.where(is_level, too_high, too_extreme)


def _rows_needed(rows: SegmentRows, mean: Floats, reach: Floats, effect: Floats) -> Ints:
    """Return with how many rows a shift of 5 points towards 1/2 is found with 80 % probability."""
    target = np.where(mean > 0.5, -TELLABLE, TELLABLE) * rows.size.astype(np.float64)
    shift = rows.shift_to(target)
    deviance = 2.0 * (shift * target - rows.cumulant(shift)) / rows.size
    needed = (reach + ndtri(ENOUGH_POWER)) ** 2 * effect / np.maximum(deviance, _TINY)
    return np.maximum(np.ceil(needed), LEAST_ROWS).astype(np.int64)
