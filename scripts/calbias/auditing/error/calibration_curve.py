"""The calibration curve: smooth where that fits the hits, and what was observed where it does not.

The averaged posterior's curve ĉ is smooth. In a bin of n rows with k hits and a mean score m let
d = k/n − mean ĉ, and v = p(1 − p)/n with p = (k + m)/(n + 1). The curve is moved in the bin by

    B d,  B = max(0, 1 − 2 v/d²)

so that it leaves the bin's share of hits by at most 1.42 standard errors. In a picture the deviance
of k hits at the chance mean ĉ replaces d²/v: two misses where 10⁻⁶ are expected contradict the
curve although their standard error is large. And 4 replaces 2: the noise of twenty bins would bend
the curve of a calibrated model. The smooth band shrinks to the share 1 − B of its width, and the
exact limits of k/n (Clopper and Pearson 1934) add the share B of theirs, as roots of sums of
squares. B is a positive-part shrinkage (Efron and Morris, *Journal of the American Statistical
Association* 1973, eq. 1.5): noise moves the curve little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from calbias.auditing.error.bins import PictureBins, binomial_limits
from calbias.engine.posterior import (
    Average,
    PosteriorCurve,
    Smooth,
    average_of,
    curve_of,
    smooth_of,
)
from calbias.engine.posterior_cells import SCORE
from calbias.samples.by_score import Floats, Ints

Counts = NDArray[np.float64] | NDArray[np.int64]
_TINY = 1e-12
_NOISE, _DRAWN = 2.0, 4.0  # d²/v, and the deviance, below which a bin does not move the curve
_ROWS, _SHARE = 30, 0.01  # of one score that is a bin by itself in a picture


class Bins(NamedTuple):
    """Rows, hits and mean score of bins (b,), and the bin (m,) of each point of a curve."""

    rows: Floats
    hits: Floats
    score: Floats
    bin_of: Ints


def posterior_average(scores: Floats, rows: Counts, hits: Counts, effect: float) -> Average:
    """Return the Average of rows and hits (m,) that count like 1/``effect`` as many."""
    return average_of(*_with_rows(scores, rows, hits, effect))


def smooth_average(scores: Floats, rows: Counts, hits: Counts, effect: float = 1.0) -> Smooth:
    """Return the part of the Average that its curve is made of, in a third of the time."""
    return smooth_of(*_with_rows(scores, rows, hits, effect))


def _with_rows(
    scores: Floats, rows: Counts, hits: Counts, effect: float
) -> tuple[Floats, Floats, Floats]:
    kept = rows > 0
    return scores[kept], rows[kept] / effect, hits[kept] / effect


def moved_to_bins(
    curve: PosteriorCurve,
    expected: Floats,
    bins: Bins,
    effect: float,
    level: float,
    *,
    by_deviance: bool = False,
) -> PosteriorCurve:
    """Return the curve after it was moved in each bin, in which its mean was ``expected`` (b,)."""
    rows = bins.rows / effect
    hits = np.clip(bins.hits / effect, 0.0, rows)  # of outcomes that are right on average
    rate = bins.hits / bins.rows
    gap = rate - expected
    if by_deviance:
        noise, squares = _DRAWN, _deviance(hits, rows, expected)
    else:
        p = (hits + bins.score) / (rows + 1.0)
        noise, squares = _NOISE, gap**2 * rows / np.maximum(p * (1.0 - p), 1e-300)
    share = np.maximum(1.0 - noise / np.maximum(squares, 1e-300), 0.0)
    limits = binomial_limits(hits, rows, level)
    below, above = (share * abs(rate - limit) for limit in limits)
    at = bins.bin_of
    mean = np.clip(curve.mean + (share * gap)[at], 0.0, 1.0)
    left = 1.0 - share[at]
    low = mean - np.hypot(left * (curve.mean - curve.low), below[at])
    high = mean + np.hypot(left * (curve.high - curve.mean), above[at])
    return PosteriorCurve(curve.scores, mean, np.maximum(low, 0.0), np.minimum(high, 1.0))


def _deviance(hits: Floats, rows: Floats, chance: Floats) -> Floats:
    """Return twice the log likelihood ratio of the shares of hits to a chance, (b,)."""
    misses = np.maximum(rows - hits, 0.0)
    expected = np.clip(chance, _TINY**2, 1.0 - 1e-16) * rows
    gain = xlogy(hits, hits / expected) + xlogy(misses, misses / (rows - expected))
    return np.asarray(2.0 * gain)


def sums_in(bin_of: Ints, values: Counts) -> Floats:
    """Return the sums (b,) of values (m,) in bins, ``bin_of`` (m,) the bin of each."""
    return np.bincount(bin_of, values).astype(np.float64)


def curve_in_bins(
    scores: Floats, rows: Floats, hits: Floats, bin_of: Ints, effect: float, level: float
) -> PosteriorCurve:
    """Return the curve at all scores (m,), moved in bins; some bins may be without rows."""
    smooth = curve_of(smooth_average(scores, rows, hits, effect), scores, level)
    columns = (rows, hits, rows * scores, rows * smooth.mean)
    size, count, score, expected = (sums_in(bin_of, x) for x in columns)
    size = np.maximum(size, _TINY)
    bins = Bins(size, count, score / size, bin_of)
    return moved_to_bins(smooth, expected / size, bins, effect, level)


def picture_curve(
    average: Average,
    bins: PictureBins,
    scores: Floats,
    rows: Counts,
    hits: Counts,
    effect: float,
    level: float,
) -> PosteriorCurve:
    """Return the curve at the scores that a picture shows, moved in the bins that it draws.

    Scores with at least 30 rows and a hundredth of all rows are bins by themselves.
    """
    frequent = np.flatnonzero(rows >= max(_ROWS * effect, _SHARE * rows.sum()))
    ends = scores[[0, -1]]
    points = np.unique(
        np.concatenate([average.cells.table[SCORE], bins.mean_score, scores[frequent], ends])
    )
    bin_of = np.minimum(np.searchsorted(bins.highest_score, points), bins.mean_score.size - 1)
    sizes = bins.n_in_bin.astype(np.float64)
    drawn = Bins(sizes, bins.mean_hit * sizes, bins.mean_score, bin_of)
    expected = curve_of(average, bins.mean_score, level).mean
    curve = moved_to_bins(
        curve_of(average, points, level), expected, drawn, effect, level, by_deviance=True
    )
    at = np.searchsorted(points, scores[frequent])
    size, count = (x[frequent].astype(np.float64) for x in (rows, hits))
    single = Bins(size, count, scores[frequent], np.arange(at.size))
    part = PosteriorCurve(*(values[at] for values in curve))
    moved = moved_to_bins(part, part.mean, single, effect, level, by_deviance=True)
    for values, new in zip(curve[1:], moved[1:], strict=True):
        values[at] = new
    return curve
