"""An interval of the l1 and the l2 calibration error, which stands on two inequalities.

With scores s, hits y, calibration curve c, δ(s) = c(s) − s and residuals r = y − s:

**Low end.** Whatever the curve is, E g(s) r ≤ E|δ| for every |g| ≤ 1, and E h(s) r ≤ √(E h² E δ²)
for every h, if chosen without the row's own hit. Rows are put into five folds at random; the
curve ĉ of the other four (``calibration_curve``) gives g, its gap ĉ − s divided by its standard
deviation and cut to [−1, 1], and h, the gap. The end is a one-sided limit of the mean T, whose
variance at the limit x lies between two Σ g² s(1 − s) at x = 0, where a calibrated model's folds
depend on each other through the curves, and the observed one at x = T.

**High end.** By Cauchy and Schwarz (E|δ|)² ≤ E w · E δ²/w for every weight w > 0, with equality for
w = |δ|. In bins with shares p of the rows and mean gaps d with variances v, with W = Σ p w,

    high² = W (Q + z·se),  Q = Σ p (d² − v)/w,
    se² = Σ (p/w)² (2 v² + 4 δ² v) + (2 ℓ1/W)² (ℓ2² − ℓ1²)/n,

the last term since the scores are a sample. w² is the sum of ĉ's squared gap, its variance and v.
For the l2 error w is 1 and the last term (E δ⁴ − ℓ2⁴)/n. ``binned_gaps`` has δ and the quantile.
One assumption: **no error changes its sign within a bin**; for l2 it also has about one size there.
For l1 there are 0.4 √n bins of equal mass, at most 1.5 n^0.35, and one more begins where ĉ crosses
the diagonal; for l2 3 n^0.35. Bins are three or nine times as many where these clearly show more; a
score with many rows is a bin. Where few rows allow few bins the inequality leaves room: the tail of
the high end for l1 is multiplied by 1 + min(500/n, 1). That is measured, not proved.

**Both ends** contain exact limits of the mean gap, since E|δ| ≥ |E δ|: the low end those of n rows,
the high end those of n/w rows, w the hits' variance within bins over that of all hits. Without them
few misses, whose squared gaps are far from normal, are not covered.

**Rounding** moves what a score says by up to |s' − s|, s' as in the verdict, and by the triangle
inequality the low end less the mean (for l2 the root mean square) of these moves is a low end of
the error that rounding does not explain.

**Clusters**: sums by cluster take the place of rows, v is a matrix over pairs of bins, quantiles
are Student's. Rows count as divided by the design effect: copies are not data.

Cross-fitting: Chernozhukov et al., *The Econometrics Journal* 21 (2018). Exact limits: Clopper and
Pearson, *Biometrika* 26 (1934); for unequal chances Hoeffding, *Ann. Math. Statist.* 27 (1956).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from calbias.auditing.error.binned_gaps import TINY, BinnedGaps
from calbias.auditing.error.bins import binomial_limits
from calbias.auditing.error.calibration_curve import curve_in_bins, sums_in
from calbias.auditing.verdict.rounding import unrounded_scores
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.engine.posterior import ONE_DEVIATION, PosteriorCurve
from calbias.engine.seeding import digest_of, stream
from calbias.samples.by_score import Floats, Ints, Scored, dot

_FOLDS = 5
_OF_CURVE, _OF_L2, _POWER = 1.5, 3.0, 0.35  # bins: this times rows to this power
_OF_ROOT = 0.4  # bins of the l1 error, times the root of the rows, at most those of the curve
_FINER, _CLEARLY = (1, 3, 9), 3.0
_ROOM = 500.0  # rows up to which the high end for l1 has twice the tail
_LEAST_ROWS, _LEAST_SHARE = 20, 0.25  # of a score that is a bin: rows, and share of a bin's
_AT_ONCE = 4096  # clusters


class Interval(NamedTuple):
    """Low and high end of an error, fractions."""

    low: float
    high: float


class CalibrationInterval(NamedTuple):
    """What the intervals of both norms and of all levels are made of.

    n, hits and mean score of the rows, the design effect of their mean, degrees of freedom (inf
    without clusters); for norms 1 and 2: Σ g r, Σ h r/√(E h²), each with its variances at 0 and as
    observed; the binned gaps; the size of what rounding explains. And the share of the hits'
    variance that is within bins.
    """

    n: float
    hits: float
    mean_score: float
    effect: float
    freedom: float
    sums: tuple[tuple[float, float, float], ...]
    gaps: tuple[BinnedGaps, ...]
    rounding: tuple[float, float]
    within: float

    def rows_per_bin(self, norm: float = 1) -> float:
        """Return the rows of a bin on average: an error that changes sign in it is lost."""
        return self.n / self.gaps[int(norm) - 1].share.size

    def at(self, norm: float = 1, level: float = CONFIDENCE_LEVEL) -> Interval:
        """Return the interval of the ℓ1 or the ℓ2 error of the population.

        The ends of the ℓ2 error are never below those of the ℓ1 error.
        """
        norms, tail = range(int(norm)), 0.5 * (1.0 - level)
        z = self._quantile(tail)
        low_of_mean, _ = self._mean_gap(self.effect, z, level)
        _, high_of_mean = self._mean_gap(self.effect * self.within, z, level)
        tail_factor = 1.0 + min(_ROOM / self.gaps[0].n, 1.0)
        z_of_norm = (self._quantile(tail_factor * tail), z)
        lows_of_curve = [_least(self.sums[k], z) / self.n for k in norms]
        highs_of_bins = [self.gaps[k].limit(z_of_norm[k], k + 1) for k in norms]
        lows = [max(low_of_mean, *lows_of_curve[: k + 1]) for k in norms]
        low = max(0.0, *(lows[k] - self.rounding[k] for k in norms))
        high = max(lows[-1], high_of_mean, *highs_of_bins)
        return Interval(min(low, 1.0), min(high, 1.0))

    def _quantile(self, tail: float) -> float:
        """Return how many standard errors leave this tail."""
        return float(stdtrit(self.freedom, 1.0 - tail))

    def _mean_gap(self, effect: float, z: float, level: float) -> tuple[float, float]:
        """Return exact limits of the size of the mean gap; the lower is below 0 if it may be 0."""
        effect *= (z / float(stdtrit(math.inf, 0.5 + 0.5 * level))) ** 2
        rates = binomial_limits(self.hits / effect, self.n / effect, level)
        below, above = (float(rate) - self.mean_score for rate in rates)
        return max(below, -above), max(above, -below)


def _least(sums: tuple[float, float, float], z: float) -> float:
    """Return x with (total − x)² = z² V(x), V a line from its value at 0 to that at the total."""
    total, at_zero, observed = sums
    if total <= 0.0 or total**2 <= z * z * at_zero:
        return 0.0
    middle = total + 0.5 * z * z * (observed - at_zero) / total
    return middle - math.sqrt(max(middle**2 - total**2 + z * z * at_zero, 0.0))


def calibration_interval(scored: Scored, effect: float = 1.0, seed: int = 0) -> CalibrationInterval:
    """Return the CalibrationInterval of a Scored; with clusters ``effect`` is the design effect.

    Nothing depends on the order of the rows, nor on the names of the clusters.

    >>> sample = Scored.of(np.full(200, 0.9), np.arange(200) < 160)
    >>> low, high = calibration_interval(sample).at()
    >>> round(low, 2), round(high, 2)
    (0.05, 0.16)
    """
    return _Sample(scored, effect).interval(seed)


class _Sample:
    """Scores (m,) with rows and hits; with clusters, sums r (q,) of each cluster at each score."""

    def __init__(self, scored: Scored, effect: float) -> None:
        clusters, self.number, self.effect = scored.clusters, 0, max(effect, 1.0)
        scored = scored.by_score if clusters is None else scored
        self.scores, self.n = scored.scores, float(scored.n)
        self.rows, self.hits = scored.rows.astype(float), scored.hits.astype(float)
        unrounded = unrounded_scores(scored.scores, scored.rows, scored.hits)
        self.moves = np.abs(unrounded - scored.scores)
        self.null, counted = self.scores * (1.0 - self.scores), self.n / self.effect
        self.power = counted**_POWER
        self.few = min(_OF_CURVE * self.power, _OF_ROOT * math.sqrt(counted))
        if clusters is None:
            return
        self.number, score = clusters.ids.size, self.scores[clusters.score]
        counts = clusters.hits, clusters.rows
        columns = [count * score**power for count in counts for power in (2, 1, 0)]
        rank = np.empty(self.number, np.int64)  # whatever the clusters are called
        rank[np.lexsort([np.bincount(clusters.cluster, x) for x in columns])] = np.arange(rank.size)
        order = np.lexsort((clusters.score, rank[clusters.cluster]))
        self.cluster, self.at = rank[clusters.cluster][order], clusters.score[order]
        self.own_rows, self.own_hits = clusters.rows[order], clusters.hits[order]
        self.residual = self.own_hits - self.own_rows * self.scores[self.at]

    def interval(self, seed: int) -> CalibrationInterval:
        """Return the CalibrationInterval."""
        curve, size = self.curve(self.rows, self.hits), 0.0
        sums = np.zeros((3, 3))  # of 1, g and h: Σ r, Σ r² and a calibrated model's Σ r²
        sums[0] = self.sums(np.ones(self.scores.size), self.rows, self.hits, slice(None))
        for rows, hits, members in self.folds(seed):
            if not 0.0 < rows.sum() < self.n:
                continue
            others = self.curve(self.rows - rows, self.hits - hits)
            gap = others.mean - self.scores
            size += dot(rows, gap**2)
            sums[1] += self.sums(others.signed_gap, rows, hits, members)
            sums[2] += self.sums(gap, rows, hits, members)
        unit = np.array([1.0, 1.0, max(math.sqrt(size / self.n), TINY)])
        total, squares, null = sums.T / [unit, unit**2, unit**2]
        total[0] = abs(total[0])
        count = self.number or self.n
        observed = np.maximum((squares - total**2 / count) * count / max(count - 1.0, 1.0), null)
        row_squares = dot(self.hits, (1.0 - self.scores) ** 2)
        row_squares += dot(self.rows - self.hits, self.scores**2)
        row_squares = max(row_squares - float(total[0] ** 2) / self.n, float(null[0]), TINY)
        effect = max(float(observed[0]) / row_squares, 1.0) if self.number else 1.0
        at_zero = (np.maximum(null, squares) if self.number else null) * (1.0, 2.0, 2.0)
        columns = total.tolist(), at_zero.tolist(), observed.tolist()
        gaps = tuple(self.binned_gaps(curve, norm) for norm in (1, 2))
        moved = dot(self.rows, self.moves) / self.n
        return CalibrationInterval(
            self.n, float(self.hits.sum()), dot(self.rows, self.scores) / self.n, effect,
            self.number - 1.0 if self.number else math.inf, tuple(zip(*columns, strict=True))[1:],
            gaps, (moved, math.sqrt(dot(self.rows, self.moves**2) / self.n)), self.within(gaps[0]),
        )  # fmt: skip

    def folds(self, seed: int) -> Iterator[tuple[Floats, Floats, Any]]:
        """Yield rows and hits (m,) of each fold, and which of the clusters' sums (q,) are in it."""
        digest = digest_of(self.scores, self.rows)
        generator = stream(seed, "folds of the interval", digest)
        if self.number:
            fold = generator.integers(_FOLDS, size=self.number)[self.cluster]
            for k in range(_FOLDS):
                at = self.at[fold == k]
                columns = (self.own_rows[fold == k], self.own_hits[fold == k])
                sums = (np.bincount(at, values, self.scores.size) for values in columns)
                yield *sums, fold == k
            return
        rows, hits = self.rows.astype(np.int64), self.hits.astype(np.int64)
        share, remainder = np.divmod(rows, _FOLDS)
        first = generator.integers(_FOLDS, size=rows.size)
        for k in range(_FOLDS):
            size = share + ((k - first) % _FOLDS < remainder)
            drawn = generator.hypergeometric(hits, rows - hits, size)
            rows, hits = rows - size, hits - drawn
            yield size.astype(float), drawn.astype(float), slice(None)

    def sums(self, weight: Floats, rows: Floats, hits: Floats, members: Any) -> list[float]:
        """Return Σ weight·r, its squares summed by row or cluster, and a calibrated model's."""
        each = hits * (1.0 - self.scores) ** 2 + (rows - hits) * self.scores**2
        squares = dot(weight**2, each)
        if self.number:
            values = weight[self.at[members]] * self.residual[members]
            cluster_sums = np.bincount(self.cluster[members], values)
            squares = float(cluster_sums @ cluster_sums)
        null = dot(weight**2 * rows, self.null)
        return [dot(weight, hits - rows * self.scores), squares, null]

    def curve(self, rows: Floats, hits: Floats) -> PosteriorCurve:
        """Return the curve at all scores with a band of one standard deviation to either side."""
        bin_of = self.bins(_OF_CURVE * self.power)
        return curve_in_bins(self.scores, rows, hits, bin_of, self.effect, ONE_DEVIATION)

    def bins(self, number: float, curve: PosteriorCurve | None = None) -> Ints:
        """Return the bin (m,) of each score, for bins of equal mass.

        Where a curve is given, a bin also begins where it crosses the diagonal.
        """
        middle = np.cumsum(self.rows) - 0.5 * self.rows
        mass = (max(number, 1.0) * middle / self.n).astype(np.int64)
        alone = self.rows >= max(_LEAST_ROWS * self.effect, _LEAST_SHARE * self.n / number)
        begins = (np.diff(mass, prepend=0) > 0) | alone
        begins[1:] |= alone[:-1]
        if curve is not None:
            begins |= np.diff(curve.mean > self.scores, prepend=False)
        begins[0] = False
        return np.cumsum(begins)

    def binned_gaps(self, curve: PosteriorCurve, norm: int) -> BinnedGaps:
        """Return the binned gaps for a norm: of the finest bins that clearly show more."""
        most, chosen = -math.inf, 0
        number = self.few if norm == 1 else _OF_L2 * self.power
        candidates = [self.bins(number * finer) for finer in _FINER]
        if norm == 1:
            candidates[0] = self.bins(number, curve)
        binned = [self.gaps(each) for each in candidates]
        for k, (size, gap, variance, _) in enumerate(binned):
            share = size / self.n
            square = float(share @ (gap**2 - variance))
            if square > most + _CLEARLY * math.sqrt(2.0 * float(share**2 @ variance**2)):
                most, chosen = square, k
        size, gap, variance, bin_of = binned[chosen]
        curve_gap = np.bincount(bin_of, self.rows * (curve.mean - self.scores)) / size
        spread = np.bincount(bin_of, self.rows * curve.deviation**2) / size
        if norm == 1:
            shape = weight = np.maximum(np.sqrt(curve_gap**2 + spread + variance), TINY)
        else:
            shape, weight = np.maximum(abs(curve_gap), abs(gap)), np.ones_like(size)
        return BinnedGaps(
            size / self.n, weight, gap**2 - variance, shape,
            self.covariance(bin_of, size, variance), self.n / self.effect,
        )  # fmt: skip

    def within(self, gaps: BinnedGaps) -> float:
        """Return the variance of the hits within bins over that of all hits; 1 with clusters."""
        hits = float(self.hits.sum())
        p = (hits + dot(self.rows, self.scores) / self.n) / (self.n + 1.0)
        variance = p * (1.0 - p) / self.n
        if self.number or variance <= TINY:
            return 1.0
        return min(max(float(gaps.share**2 @ gaps.variance) / variance, 1.0 / self.n), 1.0)

    def gaps(self, bin_of: Ints) -> tuple[Floats, Floats, Floats, Ints]:
        """Return rows, mean gaps and their variances of bins, and the bin (m,) of each score."""
        columns = (self.rows, self.hits, self.rows * self.scores)
        size, count, score = (sums_in(bin_of, x) for x in columns)
        gap, p = (count - score) / size, (count + score / size) / (size + 1.0)
        if not self.number:
            return size, gap, p * (1.0 - p) / size, bin_of
        pair, sums = self.pairs(bin_of, size.size)
        squares, least = sums_in(pair % size.size, sums**2), sums_in(bin_of, self.rows * self.null)
        return size, gap, np.maximum(squares, least) / size**2, bin_of

    def pairs(self, bin_of: Ints, n_bins: int) -> tuple[Ints, Floats]:
        """Return the pairs of a cluster and a bin, as cluster · n_bins + bin, and their Σ r."""
        code = self.cluster * n_bins + bin_of[self.at]  # ascending
        first = np.flatnonzero(np.diff(code, prepend=-1))
        return code[first], np.add.reduceat(self.residual, first)

    def covariance(self, bin_of: Ints, size: Floats, variance: Floats) -> Floats:
        """Return the variances (b,) of the gaps, with clusters their covariances (b, b)."""
        if not self.number:
            return variance
        pair, sums = self.pairs(bin_of, size.size)
        covariance = np.zeros((size.size, size.size))
        for begin in range(0, self.number, _AT_ONCE):
            first, last = np.searchsorted(pair, np.array([begin, begin + _AT_ONCE]) * size.size)
            table = np.zeros((_AT_ONCE, size.size))
            table.flat[pair[first:last] - begin * size.size] = sums[first:last]
            covariance += table.T @ table
        covariance /= np.outer(size, size)
        np.fill_diagonal(covariance, variance)
        return covariance
