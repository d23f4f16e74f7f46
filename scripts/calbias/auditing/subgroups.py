"""Whom does the model fail? One test over all subgroups, and an interval of the gap of each.

The test is of ``segment_test``: exact over all segments, and corrected for all in each.

The interval of a gap, mean score minus share of hits, holds the shifts of the segment's log odds
whose deviance is at most ρ q², with half a hit more on each side. q is the quantile of T, at least
the one of Bonferroni for the gaps alone. ρ is the squared error of the fitted shift over its
variance, at least 1: the width rests neither on calibration nor on the shape of the curve. With
clusters ρ is summed over clusters, and q is of Student's distribution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr, ndtri, stdtrit

from calbias.auditing.gate import Answer
from calbias.auditing.segment_rows import SegmentRows
from calbias.auditing.segment_test import Ordered, Tested, tested
from calbias.auditing.segments import LEAST_ROWS, By, ending, segments_of
from calbias.auditing.subgroup_lines import subgroup_lines
from calbias.auditing.verdict.groups import groups_of_rows
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
from calbias.scored import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

RISKS = "risks"
REPLICATES = 1999
TELLABLE = 0.05
"""A segment is too small to tell if a shift of 5 points is found with less than 80 % power."""
_LISTED = 3  # subgroups that are too small, in a sentence
_TINY = 1e-300


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
        Of an event also ``shift`` (calibration in the large) and ``slope``, each with an
        interval, ``_low`` to ``_high``, that holds for one subgroup.
    small : tuple of str
        The values with too few rows or clusters to be judged.
    what : str
        "scores", or "risks" of an event.
    cut : tuple of str
        The columns of numbers that were cut at their quartiles.
    """

    p_value: float
    table: pd.DataFrame
    small: tuple[str, ...]
    what: str = "scores"
    cut: tuple[str, ...] = ()

    @property
    def miscalibrated(self) -> bool:
        """Whether the p-value is at most 5 %."""
        return self.p_value <= SIGNIFICANT

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
    def clearest_apart(self) -> str:
        """The clearest subgroup whose fault is not the one of all rows, in words, or ""."""
        overall = self.table[self.table["segment"] == ALL].iloc[0]
        bad = self.faulty
        is_other = bad["fault"] != overall["fault"]
        is_other |= (bad["low"] > overall["gap"]) | (bad["high"] < overall["gap"])
        return str(bad[is_other].iloc[0]["segment"]) if is_other.any() else ""

    @property
    def failing(self) -> str:
        """How many subgroups are miscalibrated, in words; "" where none is."""
        bad, n = len(self.faulty), len(self.table) - 1
        are = f"{'is' if bad == 1 else 'are'} miscalibrated (p = {p_digits(self.p_value)})"
        return f"{bad} of {n} subgroups {are}" if bad else ""

    @property
    def sentence(self) -> str:
        """What was found, for readers who do not know the method."""
        n = len(self.table) - 1
        if not n:
            more = len(self.small) - _LISTED
            few = ", ".join(self.small[:_LISTED]) + (f" and {more} more" if more > 0 else "")
            return f"No subgroup has enough rows and clusters to be judged: {few}."
        parts = self.table[self.table["segment"] != ALL]
        small = int((parts["finding"] == TOO_SMALL).sum()) + len(self.small)
        end = ending(small, self.cut)
        subgroups = f"{n} subgroups (p = {p_digits(self.p_value)})"
        if not self.miscalibrated:
            return f"No fault was found in {subgroups}{end}."
        bad = self.faulty
        if not len(bad):
            return (
                f"The {self.what} are wrong on the whole, and no subgroup of {n} shows it alone"
                f"{end}."
            )
        first = bad.iloc[0]
        size = ""
        if "extreme" not in first["fault"]:
            ends = sorted(100 * abs(first[name]) for name in ("low", "high"))
            size = f" by {100 * abs(first['gap']):.1f} points ({ends[0]:.1f} to {ends[1]:.1f})"
        return (
            f"The {self.what} are wrong for {len(bad)} of {subgroups}, "
            f"most clearly where {first['segment']} ({first['n']} rows): {first['fault']}{size}"
            f"{end}."
        )


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
) -> Subgroups:
    """Return the Subgroups of scores (n,), hits (n,) and one or several columns ``by`` (n,).

    ``clusters`` (n,) are numbers from 0; ``log_scores`` and ``log1m_scores`` are as of ``judge``;
    ``what`` names the scores in sentences.
    Nothing depends on the order of the rows. InputError as of ``segments_of``.
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
    generator = stream(seed, "subgroups", str(scores.size))
    test = tested(rows, segments, confidence_level, replicates, generator)
    table = _table(test, scores[test.at], confidence_level, what)
    if what == RISKS:
        rows_of_each = scores[test.at], hits[test.at], test.of_each.segment
        has_clusters = clusters is not None
        table = table.assign(**subgroup_lines(*rows_of_each, confidence_level, has_clusters))
    p_values, clear = test.found.p_values, test.found.clear
    table = table.iloc[np.lexsort((-clear, p_values))].reset_index(drop=True)
    return Subgroups(float(p_values.min()), table, test.segments.small, what, segments.cut)


def _table(test: Tested, scores: Floats, level: float, what: str) -> pd.DataFrame:
    """Return a row for each segment, from the scores of segment after segment."""
    import pandas as pd

    rows, size = test.of_each, test.of_each.size
    reach = _reach(test, level)
    excess = rows.total(rows.residual)
    gap, best = -excess / size, rows.shift_to(excess)
    chance = expit(rows.shifted(best)[0])
    variance = np.maximum(rows.total(chance * (1.0 - chance)), _TINY)
    ratio = np.maximum(rows.spread(rows.sign * (rows.unlikely - chance)) / variance, 1.0)
    high, low = (-rows.shifted(rows.shift_at(side, ratio * reach**2))[1] / size for side in (-1, 1))
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
    table["fault"] = np.where(is_bad, _faults(table, test.roots, what), "")
    table["rows_needed"] = needed
    return table


def _reach(test: Tested, level: float) -> Floats:
    """Return how many standard errors the interval of each segment reaches, (m,)."""
    rows = test.of_each
    tail = min(ndtr(-test.found.critical), (1.0 - level) / (2 * rows.size.size))
    if rows.clusters is None:
        return np.full(rows.size.size, -ndtri(tail))
    return -stdtrit(rows.n_clusters - 1.0, tail)


def _faults(table: pd.DataFrame, roots: Floats, what: str) -> NDArray:
    """Return in words what each segment fails in: all its scores, or the extreme ones."""
    is_level = (table["low"] > 0) | (table["high"] < 0) | (np.abs(roots[0]) >= np.abs(roots[1]))
    too_high = np.where(table["gap"] > 0, f"{what} {HEIGHT[0]}", f"{what} {HEIGHT[1]}")
    too_extreme = np.where(roots[1] < 0, *(f"{what} {each}" for each in EXTREMENESS))
    return np.where(is_level, too_high, too_extreme)


def _rows_needed(rows: SegmentRows, mean: Floats, reach: Floats, effect: Floats) -> Ints:
    """Return with how many rows a shift of 5 points towards 1/2 is found with 80 % probability."""
    target = np.where(mean > 0.5, -TELLABLE, TELLABLE) * rows.size.astype(np.float64)
    shift = rows.shift_to(target)
    deviance = 2.0 * (shift * target - rows.cumulant(shift)) / rows.size
    needed = (reach + ndtri(ENOUGH_POWER)) ** 2 * effect / np.maximum(deviance, _TINY)
    return np.maximum(np.ceil(needed), LEAST_ROWS).astype(np.int64)
