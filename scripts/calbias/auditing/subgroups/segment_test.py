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

Where s is the rate of a calibration curve, strata are rows of neighbouring scores. The weights of
the residuals are then made orthogonal, under s(1 − s), to a constant in each stratum: an error of
the curve moves no statistic, and what is left is the difference of a segment from the other rows
of its scores. All rows together have none.

Westfall, Young, *Resampling-based multiple testing* (1993).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from calbias.auditing.subgroups.segment_rows import SegmentRows
from calbias.auditing.subgroups.segments import Segments
from calbias.auditing.verdict.clusters import LEAST_CLUSTERS
from calbias.auditing.verdict.groups import Groups
from calbias.auditing.verdict.redraws import widening
from calbias.samples.by_score import Floats, Ints

_SLOPE_PAYS = 0.3
"""Less than |w| of a slope, so that three quarters of the level are for gaps."""
_FEWEST_UNLIKELY = 5.0
"""Fewer expected clusters with a miss, or a hit, give no interval."""
_BLOCK, _DIGITS = 1 << 22, 9
_CLOSE = 1e-6  # share of a variance that is none
_TINY = 1e-300


class Ordered(NamedTuple):
    """All rows (n,) by cell: ``starts`` has where each cell begins, and n; ``order`` sorts them.

    The unlikely outcome is as in ``Groups``; ``clusters`` and ``strata`` are numbers from 0, or
    None. Rows of stratum 0 are judged by their log odds as they are. ``are_means`` is where hits
    are outcomes that are right on average: without clusters each row is one.
    """

    order: Ints
    starts: Ints
    log_odds: Floats
    sign: Floats
    unlikely: Floats
    chance: Floats
    clusters: Ints | None
    strata: Ints | None = None
    are_means: bool = False

    @classmethod
    def of(
        cls, groups: Groups, group: Ints, hits: Floats, segments: Segments, clusters: Ints | None,
        chance: Floats, are_means: bool = False,
    ) -> Ordered:  # fmt: skip
        """Return the rows of each row's group in an order that depends on no row's place.

        ``chance`` (n,) is of the unlikely outcome.
        """
        cell, keys = segments.cell, (hits, group, segments.cell)
        order = np.lexsort(keys if clusters is None else (clusters, *keys))
        log_odds, sign = groups.x[group[order]], groups.sign[group[order]]
        if clusters is not None:
            clusters = np.asarray(clusters)[order]
        elif are_means:
            clusters = np.arange(order.size)
        return cls(
            order,
            np.searchsorted(cell[order], np.arange(segments.members.shape[1] + 1)),
            log_odds,
            sign,
            np.where(sign > 0, hits[order], 1.0 - hits[order]),
            chance[order],
            clusters,
            are_means=are_means,
        )

    @property
    def residual(self) -> Floats:
        """The hit less the score."""
        return self.sign * (self.unlikely - self.chance)

    def beyond(self, log_odds: Floats, strata: Ints) -> Ordered:
        """Return the same rows judged by other log odds (n,) of a hit, within strata (n,)."""
        log_odds, hits = (
            log_odds[self.order],
            np.where(self.sign > 0, self.unlikely, 1 - self.unlikely),
        )
        sign = np.where(log_odds > 0, -1.0, 1.0)
        return self._replace(
            log_odds=log_odds,
            sign=sign,
            unlikely=np.where(sign > 0, hits, 1.0 - hits),
            chance=expit(-np.abs(log_odds)),
            strata=strata[self.order],
        )

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
    """S₁ and S₂ of each segment: weights (2, Σ n) of its rows' residuals, and l̄ (m,).

    Blocks, which begin at ``starts``, are cells, or the strata of cells. ``members`` (m, blocks)
    makes the sums, less ``taken`` (2, m, strata) of those of the strata, which ``is_in`` (strata,
    blocks) makes; ``remaining`` (2, m) is the share of the variance that this leaves.
    """

    rows: Ordered
    members: Any
    weights: Floats
    middle: Floats
    starts: Ints
    is_in: Any
    taken: Floats
    remaining: Floats

    @classmethod
    def of(
        cls, rows: Ordered, segments: Segments, at: Ints, segment_rows: SegmentRows
    ) -> _Statistics:
        log_odds = rows.log_odds[at]
        middle = segment_rows.total(segment_rows.variance * log_odds) / segment_rows.total(
            segment_rows.variance
        )
        weights = np.stack([np.ones(at.size), log_odds - middle[segment_rows.segment]])
        m, starts = middle.size, rows.starts[:-1]
        from scipy import sparse

        if rows.strata is None:
            nothing = np.zeros((2, m, 0)), np.ones((2, m))
            return cls(rows, segments.members, weights, middle, starts, None, *nothing)
        is_first = np.append(True, np.diff(rows.strata) != 0)
        is_first[starts] = True
        starts = np.flatnonzero(is_first)
        cell = np.searchsorted(rows.starts, starts, side="right") - 1
        number, variance = int(rows.strata.max()) + 1, segment_rows.variance
        pair = segment_rows.segment * number + rows.strata[at]
        sums = [np.bincount(pair, variance * each, m * number) for each in weights]
        taken = np.reshape(sums, (2, m, number)).astype(np.float64)
        in_strata = np.bincount(rows.strata, rows.chance * (1.0 - rows.chance), number)
        in_strata = np.where(np.arange(number) > 0, np.maximum(in_strata, _TINY), np.inf)
        taken, lost = taken / in_strata, np.sum(taken**2 / in_strata, axis=2)
        variances = np.stack([segment_rows.total(variance * each**2) for each in weights])
        remaining = np.maximum(1.0 - lost / np.maximum(variances, _TINY), 0.0)
        remaining[:, 0] = 0.0  # all rows
        indices = rows.strata[starts], np.arange(starts.size)
        is_in = sparse.csr_matrix((np.ones(starts.size), indices), (number, starts.size))
        members = segments.members[:, cell]
        return cls(rows, members, weights, middle, starts, is_in, taken, remaining)

    @property
    def residual(self) -> Floats:
        """The residuals (n,) of the rows, less what is common to those of a stratum."""
        residual, strata = self.rows.residual, self.rows.strata
        if strata is None:
            return residual
        variance = self.rows.chance * (1.0 - self.rows.chance)
        common = np.bincount(strata, residual) / np.maximum(np.bincount(strata, variance), _TINY)
        common[0] = 0.0
        return residual - variance * common[strata]

    def of_all(self, redraws: Iterable[Floats]) -> Floats:
        """Return both (2, 1 + Σ b, m), first of the observed residuals, then of redraws (b, n).

        They are on the scale of sums whose weights are not made orthogonal.
        """
        residuals = (self.rows.residual[None], *redraws)
        sums = np.concatenate([self._sums(each) for each in residuals], axis=1)
        scale = np.where(
            self.remaining > _CLOSE, 1.0 / np.sqrt(np.maximum(self.remaining, _CLOSE)), 0.0
        )
        return np.round(sums * scale[:, None], _DIGITS)

    def _sums(self, residuals: Floats) -> Floats:
        weighted, starts = (residuals, residuals * self.rows.log_odds), self.starts
        blocks = [np.add.reduceat(each, starts, axis=1).T for each in weighted]
        first, second = ((self.members @ each).T for each in blocks)
        sums = np.stack([first, second - self.middle * first])
        if self.is_in is not None:
            sums -= np.swapaxes(self.taken @ (self.is_in @ blocks[0]), 1, 2)
        return sums


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
    at, segment_rows = rows.of_each(segments)
    statistics = _Statistics.of(rows, segments, at, segment_rows)
    n, block = rows.chance.size, max(_BLOCK // rows.chance.size, 1)
    counts = np.diff([*range(0, replicates, block), replicates])
    redrawn = () if rows.are_means else counts
    draws = (generator.random((k, n)) < rows.chance for k in redrawn)
    pool = statistics.of_all(rows.sign * (unlikely - rows.chance) for unlikely in draws)
    pairs = zip(statistics.weights, pool, strict=True)
    roots = np.stack([segment_rows.roots(weight, sums) for weight, sums in pairs])
    outcome = _found(np.abs(roots), level)
    if rows.clusters is not None:
        number = rows.clusters.max() + 1
        signs = (2.0 * generator.integers(0, 2, (k, number)) - 1.0 for k in counts)
        pool = statistics.of_all(each[:, rows.clusters] * statistics.residual for each in signs)
        weighted = statistics.weights * statistics.residual[at]
        scale = np.sqrt([segment_rows.spread(each) for each in weighted])[:, None]
        ratios = np.abs(pool) / np.maximum(scale, _TINY)
        ratios[:, 1:] *= np.array([widening(int(n)) for n in segment_rows.n_clusters])
        by_signs = _found(ratios, level)
        outcome = by_signs if rows.are_means else outcome.or_less(by_signs)
    return Tested(segments, segment_rows, rows.order[at], roots[:, 0], outcome)


def with_enough_clusters(rows: Ordered, segments: Segments) -> Segments:
    """Return the segments with ten clusters, and five in which a miss, or a hit, is expected."""
    if rows.clusters is None:
        return segments
    segment_rows = rows.of_each(segments)[1]
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
