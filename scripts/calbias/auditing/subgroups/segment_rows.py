"""The rows of segments, and what a shift of their log odds does to them.

The unlikely outcome of a row is a miss at a score above 1/2 and a hit elsewhere, with log odds
``x``. The residual, y − s, is ``sign`` times (unlikely − chance): nothing is lost near 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, ndtri, stdtrit

from calbias.samples.by_score import Floats, Ints

_GRID, _FARTHEST, _STEPS = 64, 40.0, 60
_TINY, _CLOSE = 1e-300, 1e-9


@dataclass(frozen=True)
class SegmentRows:
    """Rows of segment after segment, flat arrays (Σ n,); ``starts`` (m,) is where each begins.

    ``clusters`` are numbers from 0, or None.
    """

    x: Floats
    sign: Floats
    unlikely: Floats
    segment: Ints
    starts: Ints
    clusters: Ints | None

    @cached_property
    def size(self) -> Ints:
        """The rows of each segment (m,)."""
        return np.diff(np.append(self.starts, self.x.size))

    @cached_property
    def chance(self) -> Floats:
        """The chance of the unlikely outcome in a calibrated model."""
        return expit(self.x)

    @property
    def score(self) -> Floats:
        """The chance of a hit."""
        return np.where(self.sign > 0, self.chance, 1.0 - self.chance)

    @cached_property
    def variance(self) -> Floats:
        """The variance of the residual of each row in a calibrated model."""
        return self.chance * (1.0 - self.chance)

    @property
    def residual(self) -> Floats:
        """The hit less the score."""
        return self.sign * (self.unlikely - self.chance)

    def total(self, values: Floats) -> Floats:
        """Return the sums over segments (m,)."""
        return np.add.reduceat(values, self.starts)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """The segment of each pair of segment and cluster, and each row's pair."""
        clusters = np.arange(self.x.size) if self.clusters is None else self.clusters
        number = int(clusters.max()) + 1
        pairs, pair = np.unique(self.segment * number + clusters, return_inverse=True)
        return pairs // number, pair

    @property
    def n_clusters(self) -> Ints:
        """The clusters of each segment (m,)."""
        return np.bincount(self.pairs[0])

    def spread(self, values: Floats) -> Floats:
        """Return the sums of squares (m,) of the clusters' sums, or of the rows."""
        if self.clusters is None:
            return self.total(values**2)
        segment, pair = self.pairs
        return np.bincount(segment, np.bincount(pair, values) ** 2).astype(np.float64)

    def roots(self, weight: Floats, sums: Floats) -> Floats:
        """Return the signed roots of S = Σ weight (y − s), for sums S (R, m), by interpolation.

        w = sign(S) √(2 max_a (a S − K(a))), and K is of two Poisson numbers of steps up and down
        with the variance and the third moments of the rows' steps. So w is S over its standard
        deviation, unless large steps are rare.
        """
        step, p = weight * self.sign, self.chance
        up = np.where(step > 0, p * (1.0 - p) ** 2, (1.0 - p) * p**2) * step**2
        down = self.variance * step**2 - up
        size_up = np.where(step > 0, 1.0 - p, p) * np.abs(step)
        size_down = np.abs(step) - size_up
        variances = [np.maximum(self.total(each), _TINY) for each in (up, down)]
        sizes = [
            np.maximum(self.total(each * size) / variance, _CLOSE)
            for each, size, variance in zip(
                (up, down), (size_up, size_down), variances, strict=True
            )
        ]
        near = 0.02 / np.sqrt(sum(variances))
        mean, root = np.zeros((2, 2 * _GRID + 1, near.size))
        for side, size in ((1, sizes[0]), (-1, sizes[1])):
            far = _FARTHEST / size
            steps = np.arange(1, _GRID + 1)[:, None] / _GRID
            a = side * np.minimum(near, far) * np.maximum(far / near, 1.0) ** steps
            total, exponent = np.zeros((2, *a.shape))
            for sign, variance, size in zip((1, -1), variances, sizes, strict=True):
                grown = np.expm1(np.minimum(sign * a * size, _FARTHEST))
                total += sign * variance / size * grown
                exponent += variance / size**2 * (grown - sign * a * size)
            at = _GRID + side * np.arange(1, _GRID + 1)
            mean[at] = total
            root[at] = side * np.sqrt(2.0 * np.maximum(a * total - exponent, 0.0))
        columns = [np.interp(sums[:, k], mean[:, k], root[:, k]) for k in range(near.size)]
        return np.stack(columns, axis=1)

    def shifted(self, shift: Floats) -> tuple[Floats, Floats]:
        """Return ``x`` (Σ n,) and Σ (c − s) (m,) where the log odds of hits are shifted."""
        x = self.x + self.sign * shift[self.segment]
        return x, self.total(self.sign * (expit(x) - self.chance))

    def shift_to(self, target: Floats) -> Floats:
        """Return the shift (m,) at which Σ (y − s) has the mean ``target`` (m,)."""

        def excess(shift: Floats) -> tuple[Floats, Floats]:
            x, mean = self.shifted(shift)
            return mean - target, self.total(expit(x) * expit(-x))

        ends = np.full(target.size, _FARTHEST)
        return _root(excess, -ends, ends, np.zeros(target.size))

    @cached_property
    def ratio(self) -> Floats:
        """The squared error of the fitted shifts (m,) over its variance, at least 1."""
        chance = expit(self.shifted(self.shift_to(self.total(self.residual)))[0])
        variance = np.maximum(self.total(chance * (1.0 - chance)), _TINY)
        return np.maximum(self.spread(self.sign * (self.unlikely - chance)) / variance, 1.0)

    def reach(self, tail: Floats) -> Floats:
        """Return how many standard errors (m,) leave out ``tail`` (m,), by Student of clusters."""
        return -ndtri(tail) if self.clusters is None else -stdtrit(self.n_clusters - 1.0, tail)

    def gap_limits(self, tail: Floats) -> tuple[Floats, Floats]:
        """Return the limits of the mean of s − c that each leave out ``tail`` (m,)."""
        most = self.ratio * self.reach(tail) ** 2
        high, low = (-self.shifted(self.shift_at(side, most))[1] / self.size for side in (-1, 1))
        return low, high

    def cumulant(self, shift: Floats) -> Floats:
        """Return log E exp(shift · Σ (y − s)) (m,) in a calibrated model."""
        x, _ = self.shifted(shift)
        grown = self.total(np.log1p(np.exp(x)) - np.log1p(np.exp(self.x)))
        return grown - shift * self.total(self.sign * self.chance)

    def shift_at(self, side: int, most: Floats) -> Floats:
        """Return the shift (m,) below (-1) or above (1) the fit with the deviance ``most`` (m,).

        The sum of hits counts as half a hit more on this side, which corrects for whole numbers.
        """
        sums = self.total(self.residual) + 0.5 * side
        best = self.shift_to(sums)
        peak, x = best * sums - self.cumulant(best), self.shifted(best)[0]
        width = np.sqrt(most / np.maximum(self.total(expit(x) * expit(-x)), 0.05))

        def excess(shift: Floats) -> tuple[Floats, Floats]:
            deviance = 2.0 * (peak - shift * sums + self.cumulant(shift))
            return side * (deviance - most), 2.0 * side * (self.shifted(shift)[1] - sums)

        far = np.full(best.size, side * _FARTHEST)
        return _root(excess, np.minimum(best, far), np.maximum(best, far), best + side * width)


def _root(
    function: Callable[[Floats], tuple[Floats, Floats]], low: Floats, high: Floats, start: Floats
) -> Floats:
    """Return the roots (m,) of increasing functions, by Newton's steps within (low, high)."""
    at = np.where((start > low) & (start < high), start, 0.5 * (low + high))
    for _ in range(_STEPS):
        excess, slope = function(at)
        low, high = np.where(excess < 0, at, low), np.where(excess > 0, at, high)
        step = at - excess / np.maximum(slope, _TINY)
        closer = np.where((step > low) & (step < high), step, 0.5 * (low + high))
        if np.all(np.abs(closer - at) <= _CLOSE):
            break
        at = closer
    return at
