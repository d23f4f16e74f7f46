"""Whom does the model fail? One test over all subgroups, and an interval of the gap of each.

The test is of ``segment_test``: exact over all segments, and corrected for all in each. Where all
rows have a fault, a second test asks which subgroups differ from the curve of all rows
(``shared_fault``).

The interval of a gap, mean score minus share of hits, holds the shifts of the segment's log odds
whose deviance is at most ρ q², with half a hit more on each side. q is the quantile of T, at least
the one of Bonferroni for the gaps alone. ρ is the squared error of the fitted shift over its
variance, at least 1: the width rests neither on calibration nor on the shape of the curve. With
clusters ρ is summed over clusters, and q is of Student's distribution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr, ndtri

from calbias.auditing.subgroups.segment_rows import SegmentRows
from calbias.auditing.subgroups.segment_test import Ordered, Tested, tested, with_enough_clusters
from calbias.auditing.subgroups.segments import LEAST_ROWS, By, Segments, segments_of
from calbias.auditing.subgroups.shared_fault import Apart, GroupedRows, apart
from calbias.auditing.subgroups.subgroup_lines import COLUMNS as LINES
from calbias.auditing.subgroups.subgroup_lines import subgroup_lines
from calbias.auditing.subgroups.subgroups import RISKS, Subgroups
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.auditing.verdict.groups import Groups, groups_of_rows
from calbias.auditing.verdict.judge import judge
from calbias.auditing.verdict.verdict_result import CalibrationVerdict
from calbias.auditing.verdict.words import EXTREMENESS, HEIGHT
from calbias.defaults import (
    CONFIDENCE_LEVEL,
    ENOUGH_POWER,
    MISCALIBRATED,
    NONE_FOUND,
    SIGNIFICANT,
    TOO_SMALL,
)
from calbias.engine.seeding import stream
from calbias.outcomes.mean_outcomes import MeanOutcomes
from calbias.samples.by_score import Floats, Ints, Scored

if TYPE_CHECKING:
    import pandas as pd

REPLICATES = 1999
TELLABLE = 0.05
"""A segment is too small to tell if a shift of 5 points is found with less than 80 % power."""
_TINY = 1e-300


def audit_subgroups(
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
    outcomes: MeanOutcomes | None = None,
) -> Subgroups:
    """Return the Subgroups of scores (n,), hits (n,) and one or several columns ``by`` (n,).

    ``clusters`` (n,) are numbers from 0; ``log_scores`` and ``log1m_scores`` are as of ``judge``;
    ``what`` names the scores in sentences. ``verdict`` on all rows says whether they have a fault;
    by default the segment of all rows does. ``outcomes`` are those that are right on average, whose
    values the hits are: each row, or cluster, gets random signs alone. Nothing depends on the order
    of the rows. InputError as of ``segments_of``.
    """
    scores, hits = np.asarray(scores, np.float64), np.asarray(hits).astype(np.float64)
    columns = log_scores, log1m_scores, clusters
    segments = segments_of(by, scores.size)
    groups, group = groups_of_rows(scores, hits, log_scores, log1m_scores)
    chance = _chances(scores, hits, segments, groups, group, log_scores, log1m_scores)
    are_means = outcomes is not None
    rows = Ordered.of(groups, group, hits, segments, clusters, chance, are_means)
    segments = with_enough_clusters(rows, segments)
    options = confidence_level, replicates, stream(seed, "subgroups", str(scores.size))
    test = tested(rows, segments, *options)
    p_values, clear = test.found.p_values, test.found.clear
    table = _table(test, scores[test.at], confidence_level, what)
    table["others_gap"], table["difference_p_value"], table["apart"] = np.nan, np.nan, False
    is_bad = p_values <= SIGNIFICANT
    is_shared = verdict.miscalibrated if verdict else bool(is_bad[0])
    difference, others_p_value, first = None, None, list[int]()
    if clear.size > 1 and (is_shared or is_bad[1:].any()):
        each = GroupedRows(groups, group, chance, hits)
        beyond = apart(rows, segments, each, test, options, is_shared=is_shared)
        first = beyond.first
        if is_shared:
            difference = beyond.p_value
            _add_differences(table, test, beyond, what)
    if first:
        table.loc[first, "apart"] = True
        others_p_value = _p_value_outside(first, segments, scores, hits, *columns, outcomes)
    if verdict is not None:
        judged = (MISCALIBRATED, verdict.sentence) if is_shared else (NONE_FOUND, "")
        table.loc[0, ["p_value", "finding", "fault"]] = verdict.p_value, *judged
    if what == RISKS:
        rows_of_each = scores[test.at], hits[test.at], test.of_each.segment
        has_clusters = clusters is not None
        if are_means:
            table = table.assign(**dict.fromkeys(LINES, np.nan))
        else:
            table = table.assign(**subgroup_lines(*rows_of_each, confidence_level, has_clusters))
    order = [*first, *(k for k in np.lexsort((-clear, p_values)) if k not in first)]
    table = table.iloc[order].reset_index(drop=True)
    return Subgroups(
        float(p_values.min()), table, segments.small, what, segments.cut, difference,
        others_p_value, segments.columns,
    )  # fmt: skip


def _chances(
    scores: Floats,
    hits: Floats,
    segments: Segments,
    groups: Groups,
    group: Ints,
    *logs: Floats | None,
) -> Floats:
    """Return the chance of each row's unlikely outcome (n,), as rounding may have moved it.

    The density, and what rounding does, differs from cell to cell of the segments.
    """
    chance = groups.chance[group]
    if groups.reach.any():
        for inside in (segments.cell == k for k in range(segments.members.shape[1])):
            logs_inside = (x if x is None else x[inside] for x in logs)
            local, at = groups_of_rows(scores[inside], hits[inside], *logs_inside)
            moved = local.reach[at] > 0.0
            chance[inside] = np.where(moved, local.chance[at], chance[inside])
    return chance


def _add_differences(table: pd.DataFrame, test: Tested, beyond: Apart, what: str) -> None:
    """Write into the table how each segment differs from the curve of the other rows."""
    others = test.of_each.total(test.of_each.score - expit(beyond.others)[test.at])
    table["others_gap"] = others / test.of_each.size
    table.loc[1:, "difference_p_value"] = beyond.p_values[1:]
    is_level = np.abs(beyond.roots[0]) >= np.abs(beyond.roots[1])
    faults = _faults(is_level, table["gap"] - table["others_gap"], beyond.roots[1], what)
    table.loc[beyond.first, "fault"] = faults[beyond.first]


def _p_value_outside(
    first: list[int],
    segments: Segments,
    scores: Floats,
    hits: Floats,
    log_scores: Floats | None,
    log1m_scores: Floats | None,
    clusters: Ints | None,
    outcomes: MeanOutcomes | None,
) -> float | None:
    """Return the p-value of the verdict on the rows outside segments, None where they are few."""
    inside = (segments.members[first].toarray() > 0).any(axis=0)[segments.cell]
    rows = np.flatnonzero(~inside)
    clusters = clusters if clusters is None else clusters[rows]
    are_few = clusters is not None and np.unique(clusters).size < LEAST_CLUSTERS
    if rows.size < LEAST_ROWS or are_few:
        return None
    logs = (x if x is None else x[rows] for x in (log_scores, log1m_scores))
    sample = Scored.of(scores[rows], hits[rows], *logs, clusters=clusters)
    if outcomes is not None and log_scores is not None and log1m_scores is not None:
        columns = log_scores[rows], log1m_scores[rows], clusters
        sample = Scored.of_means(scores[rows], outcomes.of_rows(rows), *columns)
    return judge(sample).p_value


def _table(test: Tested, scores: Floats, level: float, what: str) -> pd.DataFrame:
    """Return a row for each segment, from the scores of segment after segment."""
    import pandas as pd

    rows, size = test.of_each, test.of_each.size
    one_tail = min(ndtr(-test.found.critical), (1.0 - level) / (2 * size.size))
    tail = np.full(size.size, one_tail)
    gap = -rows.total(rows.residual) / size
    low, high = rows.gap_limits(tail)
    effect = np.ones(size.size) if rows.clusters is None else rows.ratio
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
    needed = _rows_needed(rows, mean, rows.reach(tail), effect)
    is_bad = test.found.p_values <= SIGNIFICANT
    unfound = np.where(size < needed, TOO_SMALL, NONE_FOUND)
    table["finding"] = np.where(is_bad, MISCALIBRATED, unfound)
    is_level = (table["low"] > 0) | (table["high"] < 0)
    is_level |= np.abs(test.roots[0]) >= np.abs(test.roots[1])
    faults = _faults(is_level, table["gap"], test.roots[1], what)
    table["fault"] = np.where(is_bad, faults, "")
    table["rows_needed"] = needed
    return table


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
