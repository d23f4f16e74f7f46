"""The difference of the sizes of two models' mean gaps in each subgroup, with its limits.

The gap of a model in a subgroup is a = mean score − share of hits, b is the one of the other model,
and the difference is |a| − |b|. Its limits are its least and greatest value on a region of (a, b)
that holds the true pair with the probability of the interval, in all subgroups at once, by
Bonferroni.

Of an event, a − b is known, since both models have the same outcomes, and a line is left. Its ends
are the limits of the gap of the mean of both scores: the shifts of the log odds whose deviance is
at most ρ q² (``subgroups``), with q of the normal or, with clusters, of Student's distribution.

With hits of each model, a and b have such limits, and a − b those of a mean of independent rows, or
clusters, to which one row of size 1 is added: where all hits are alike, that is not certainty. Each
of the three has a third of the level.

The p-value is the smallest level at which the interval leaves 0 out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logit, stdtrit

from calbias.auditing.comparison.differences import LEAST_P, Differences
from calbias.auditing.subgroups.segment_rows import SegmentRows
from calbias.auditing.subgroups.segments import Segments
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.defaults import SIGNIFICANT
from calbias.samples.by_score import Floats, Ints

_NEAREST = 1e-12  # score to 0 and 1
_STEPS = 24  # that halve the logarithm of the level
_CLOSE = 1e-12

Model = tuple[Floats, Floats]
Limits = tuple[Floats, Floats]


def differences(
    first: Model,
    second: Model,
    clusters: Ints | None,
    segments: Segments,
    level: float,
    names: tuple[str, str],
) -> Differences:
    """Return the Differences of two models, each scores and hits (n,), in the segments.

    ``clusters`` (n,) are numbers from 0, or None. The first segment, all rows, is left out.
    """
    import pandas as pd

    words, indices, small = [], [], list(segments.small)
    for text, cells in zip(segments.words[1:], segments.cells[1:], strict=True):
        rows = np.flatnonzero(np.isin(segments.cell, cells))
        number = LEAST_CLUSTERS if clusters is None else np.unique(clusters[rows]).size
        if number >= LEAST_CLUSTERS:
            words.append(text)
            indices.append(rows)
        else:
            small.append(f"{text} ({number} cluster{'s' * (number != 1)})")
    columns = ("n", "gap_first", "gap_second", "difference", "low", "high", "p_value")
    table = pd.DataFrame({name: np.zeros(0) for name in columns})
    if indices:
        size = np.array([rows.size for rows in indices])
        at = np.concatenate(indices)
        part, starts = np.repeat(np.arange(size.size), size), np.cumsum(size) - size
        parts = _Parts(at, part, starts, None if clusters is None else clusters[at])
        gaps = [parts.mean(scores - hits) for scores, hits in (first, second)]
        limits = _limits_of(first, second, parts)
        ends = limits(np.full(size.size, 1.0 - level))
        sizes = np.abs(gaps[0]) - np.abs(gaps[1])
        values = (size, *gaps, sizes, *ends, _p_values(limits, size.size))
        table = pd.DataFrame(dict(zip(columns, values, strict=True)))
    table.insert(0, "segment", words)
    winner = np.where(table["difference"] < 0, *names)
    table["better"] = np.where(table["p_value"] <= SIGNIFICANT, winner, "")
    order = np.lexsort((-table["difference"].abs(), table["p_value"]))
    table = table.iloc[order].reset_index(drop=True)
    p_value = float(table["p_value"].min()) if indices else 1.0
    return Differences(p_value, table, tuple(small), segments.cut)


def _p_values(limits: Callable[[Floats], Limits], number: int) -> Floats:
    """Return the smallest level at which the limits of each subgroup leave 0 out."""

    def leaves_0_out(level: Floats) -> np.ndarray:
        low, high = limits(level)
        return (low > 0) | (high < 0)

    below, above = np.full(number, np.log(LEAST_P)), np.zeros(number)
    is_found, is_least = (leaves_0_out(np.full(number, level)) for level in (1.0, LEAST_P))
    for _ in range(_STEPS):
        middle = 0.5 * (below + above)
        is_out = leaves_0_out(np.exp(middle))
        below, above = np.where(is_out, below, middle), np.where(is_out, middle, above)
    return np.select([is_least, is_found], [LEAST_P, np.exp(above)], 1.0)


class _Parts(NamedTuple):
    """The rows of subgroup after subgroup, flat: where each stood, its subgroup and its cluster."""

    at: Ints
    part: Ints
    starts: Ints
    clusters: Ints | None

    def mean(self, values: Floats) -> Floats:
        """Return the mean of values (n,) in each subgroup."""
        return np.add.reduceat(values[self.at], self.starts) / np.bincount(self.part)

    def rows(self, scores: Floats, hits: Floats) -> SegmentRows:
        """Return the rows of the subgroups with scores and hits (n,)."""
        log_odds = logit(np.clip(scores, _NEAREST, 1.0 - _NEAREST))[self.at]
        sign, outcome = np.where(log_odds > 0, -1.0, 1.0), hits[self.at]
        unlikely = np.where(sign > 0, outcome, 1.0 - outcome)
        return SegmentRows(-np.abs(log_odds), sign, unlikely, self.part, self.starts, self.clusters)

    def limits_of_mean(self, values: Floats, rows: SegmentRows, tail: Floats) -> Limits:
        """Return Student's limits of the mean of values (n,), with one row of size 1 more."""
        mean, number = self.mean(values), rows.n_clusters
        squares = rows.spread(values[self.at] - mean[self.part])
        error = np.sqrt(number / (number - 1.0) * squares + 1.0) / rows.size
        reach = -stdtrit(number - 1.0, tail) * error
        return mean - reach, mean + reach


def _limits_of(first: Model, second: Model, parts: _Parts) -> Callable[[Floats], Limits]:
    """Return the limits of the differences in m subgroups as a function of the level (m,)."""
    number = parts.starts.size
    difference = first[0] - second[0]
    if np.array_equal(first[1], second[1]):
        middle = parts.rows(0.5 * (first[0] + second[0]), first[1])
        apart = parts.mean(difference)

        def on_a_line(level: Floats) -> Limits:
            low, high = middle.gap_limits(level / (2 * number))
            half = 0.5 * apart
            return _ends((low + half, high + half), (low - half, high - half), (apart, apart))

        return on_a_line
    one, other = (parts.rows(*model) for model in (first, second))
    paired = difference - (first[1] - second[1])

    def on_a_region(level: Floats) -> Limits:
        tail = level / (6 * number)
        apart = parts.limits_of_mean(paired, one, tail)
        return _ends(one.gap_limits(tail), other.gap_limits(tail), apart)

    return on_a_region


def _ends(a: Limits, b: Limits, apart: Limits) -> Limits:
    """Return the least and greatest |a| − |b| where a, b and a − b are within limits, each (m,).

    They are at corners of the region, or where a side a or b of it meets 0.
    """
    zero = np.zeros_like(a[0])
    points = [(x, y) for x in (*a, zero) for y in (*b, zero)]
    points += [(x, x - distance) for x in a for distance in apart]
    points += [(y + distance, y) for y in b for distance in apart]
    x, y = (np.stack(each) for each in zip(*points, strict=True))
    is_inside = np.logical_and.reduce(
        [
            (each >= low - _CLOSE) & (each <= high + _CLOSE)
            for each, (low, high) in ((x, a), (y, b), (x - y, apart))
        ]
    )
    size = np.abs(x) - np.abs(y)
    return (
        np.where(is_inside, size, np.inf).min(axis=0),
        np.where(is_inside, size, -np.inf).max(axis=0),
    )
