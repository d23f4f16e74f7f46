"""One test of calibration in all segments of the rows, with a p-value of each.

In a segment with scores s, hits y and log odds l there are two statistics,

    S₁ = Σ (y − s),    S₂ = Σ (y − s)(l − l̄),

with l̄ the mean of l under the weights s(1 − s), so that both are uncorrelated under calibration.
Each is put on the scale of a normal variable by the signed root of its Chernoff exponent,

    w = sign(S) √(2 max_a (a S − K(a))),    K(a) = log E exp(a S),

which is S over its standard deviation unless misses, or hits, are rare. T, the largest of |w₁| and
|w₂| − 0.3 of all segments, is compared with T of hits redrawn from the scores. So the p-value is
exact over all segments, and the p-value of one segment is corrected for all (Westfall and Young
1993).

With clusters S₁ and S₂ get random signs too, one per cluster (``auditing.verdict.redraws``), and
each p-value is the larger of both.

Westfall, Young, *Resampling-based multiple testing* (1993).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from calbias.auditing.segment_rows import SegmentRows
from calbias.auditing.segments import Segments
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.auditing.verdict.groups import Groups
from calbias.auditing.verdict.redraws import widening
from calbias.scored import Floats, Ints

_SLOPE_PAYS = 0.3
"""Less than |w| of a slope, so that three quarters of the level are for gaps."""
_FEWEST_UNLIKELY = 5.0
"""Fewer expected clusters with a miss, or a hit, give no interval."""
_BLOCK, _DIGITS = 1 << 22, 9
_TINY = 1e-300


class Ordered(NamedTuple):
    """All rows (n,) by cell: ``starts`` has where each cell begins, and n; ``order`` sorts them.

    The unlikely outcome is as in ``Groups``; ``clusters`` are numbers from 0, or None.
    """

    order: Ints
    starts: Ints
    log_odds: Floats
    sign: Floats
    unlikely: Floats
    chance: Floats
    clusters: Ints | None

    @classmethod
    def of(
        cls, groups: Groups, group: Ints, hits: Floats, segments: Segments, clusters: Ints | None,
        chance: Floats,
    ) -> Ordered:  # fmt: skip
        """Return the rows of each row's group in an order that depends on no row's place.

        ``chance`` (n,) is of the unlikely outcome.
        """
        cell, keys = segments.cell, (hits, group, segments.cell)
        order = np.lexsort(keys if clusters is None else (clusters, *keys))
        log_odds, sign = groups.x[group[order]], groups.sign[group[order]]
        return cls(
            order,
            np.searchsorted(cell[order], np.arange(segments.members.shape[1] + 1)),
            log_odds,
            sign,
            np.where(sign > 0, hits[order], 1.0 - hits[order]),
            chance[order],
            None if clusters is None else np.asarray(clusters)[order],
        )

    @property
    def residual(self) -> Floats:
        """The hit less the score."""
        return self.sign * (self.unlikely - self.chance)

    def of_each(self, segments: Segments) -> tuple[Ints, SegmentRows]:
        """Return the rows of segment after segment: their numbers, and what they are."""
        starts = self.starts
        rows = [
            np.concatenate([np.arange(starts[c], starts[c + 1]) for c in np.sort(cells)])
            for cells in segments.cells
        ]
        size, at = np.array([part.size for part in rows]), np.concatenate(rows)
        columns = (-np.abs(self.log_odds[at]), self.sign[at], self.unlikely[at])
        clusters = None if self.clusters is None else self.clusters[at]
        segment, begins = np.repeat(np.arange(size.size), size), np.cumsum(size) - size
        return at, SegmentRows(*columns, segment, begins, clusters)


class _Statistics(NamedTuple):
    """S₁ and S₂ of each segment: weights (2, Σ n) of its rows' residuals, and l̄ (m,)."""

    rows: Ordered
    members: Any
    weights: Floats
    middle: Floats

    @classmethod
    def of(
        cls, rows: Ordered, segments: Segments, at: Ints, segment_rows: SegmentRows
    ) -> _Statistics:
        log_odds = rows.log_odds[at]
        middle = segment_rows.total(segment_rows.variance * log_odds) / segment_rows.total(
            segment_rows.variance
        )
        weights = np.stack([np.ones(at.size), log_odds - middle[segment_rows.segment]])
        return cls(rows, segments.members, weights, middle)

    def of_all(self, redraws: Iterable[Floats]) -> Floats:
        """Return both (2, 1 + Σ b, m), first of the observed residuals, then of redraws (b, n)."""
        residuals = (self.rows.residual[None], *redraws)
        return np.concatenate([self._sums(each) for each in residuals], axis=1)

    def _sums(self, residuals: Floats) -> Floats:
        weighted, starts = (residuals, residuals * self.rows.log_odds), self.rows.starts[:-1]
        first, second = (
            (self.members @ np.add.reduceat(each, starts, axis=1).T).T for each in weighted
        )
        return np.round(np.stack([first, second - self.middle * first]), _DIGITS)


class Found(NamedTuple):
    """What a test found in m segments.

    p_values   (m,) corrected for all segments
    clear      (m,) the larger statistic, so that segments of one p-value have an order
    critical   the quantile of T
    """

    p_values: Floats
    clear: Floats
    critical: float

    def or_less(self, other: Found) -> Found:
        """Return what both tests found."""
        return Found(
            np.maximum(self.p_values, other.p_values),
            np.minimum(self.clear, other.clear),
            max(self.critical, other.critical),
        )


class Tested(NamedTuple):
    """Segments that were tested, those with enough clusters.

    ``of_each`` are the rows, ``at`` where they stood, ``roots`` (2, m) the observed statistics.
    """

    segments: Segments
    of_each: SegmentRows
    at: Ints
    roots: Floats
    found: Found


def tested(
    rows: Ordered,
    segments: Segments,
    level: float,
    replicates: int,
    generator: np.random.Generator,
) -> Tested:
    """Return the test at a confidence level."""
    if rows.clusters is not None:
        segments = _with_enough_clusters(segments, rows.of_each(segments)[1])
    at, segment_rows = rows.of_each(segments)
    statistics = _Statistics.of(rows, segments, at, segment_rows)
    n, block = rows.chance.size, max(_BLOCK // rows.chance.size, 1)
    counts = np.diff([*range(0, replicates, block), replicates])
    draws = (generator.random((k, n)) < rows.chance for k in counts)
    pool = statistics.of_all(rows.sign * (unlikely - rows.chance) for unlikely in draws)
    pairs = zip(statistics.weights, pool, strict=True)
    roots = np.stack([segment_rows.roots(weight, sums) for weight, sums in pairs])
    outcome = _found(np.abs(roots), level)
    if rows.clusters is not None:
        number = rows.clusters.max() + 1
        signs = (2.0 * generator.integers(0, 2, (k, number)) - 1.0 for k in counts)
        pool = statistics.of_all(each[:, rows.clusters] * rows.residual for each in signs)
        weighted = statistics.weights * segment_rows.residual
        scale = np.sqrt([segment_rows.spread(each) for each in weighted])[:, None]
        ratios = np.abs(pool) / np.maximum(scale, _TINY)
        ratios[:, 1:] *= np.array([widening(int(n)) for n in segment_rows.n_clusters])
        outcome = outcome.or_less(_found(ratios, level))
    return Tested(segments, segment_rows, rows.order[at], roots[:, 0], outcome)


def _with_enough_clusters(segments: Segments, segment_rows: SegmentRows) -> Segments:
    """Return the segments with ten clusters, and five in which a miss, or a hit, is expected."""
    segment, pair = segment_rows.pairs
    mean_score_of_cluster = np.bincount(pair, segment_rows.score) / np.bincount(pair)
    with_hit, number = np.bincount(segment, mean_score_of_cluster), segment_rows.n_clusters
    rarer = np.minimum(with_hit, number - with_hit)  # expected clusters with the rarer outcome
    enough = (number >= LEAST_CLUSTERS) & (rarer >= _FEWEST_UNLIKELY)
    enough[0] = True  # all rows
    few = [
        f"{segments.words[k]} ({number[k]} cluster{'s' if number[k] != 1 else ''})"
        for k in np.flatnonzero(~enough)
    ]
    words = tuple(segments.words[k] for k in np.flatnonzero(enough))
    small = (*segments.small, *few)
    return segments._replace(words=words, members=segments.members[enough], small=small)


def _found(pool: Floats, level: float) -> Found:
    """Return what a pool (2, R + 1, m) finds, whose first row is the observed one."""
    pool = pool - np.array([0.0, _SLOPE_PAYS])[:, None, None]
    largest = np.sort(pool.max(axis=(0, 2)))
    observed = pool[:, 0].max(axis=0)
    as_large = largest.size - np.searchsorted(largest, observed, side="left")
    rank = min(int(np.ceil(level * largest.size)), largest.size) - 1
    return Found(as_large / largest.size, observed, float(largest[rank]))
