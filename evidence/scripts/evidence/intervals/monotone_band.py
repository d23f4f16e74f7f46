"""A finite-sample upper bound of the ℓ1 error from a simultaneous band of a nondecreasing curve.

Yang and Barber, *Contraction and uniform convergence of isotonic regression* (2019); Dimitriadis,
Dümbgen, Henzi, Puke and Ziegel, *Honest calibration assessment for binary outcome predictions*
(Biometrika 2022). If the curve never decreases, the hits of the ranks [i, j) are at least as many
as those of a binomial of j − i trials at the curve's value at i, and at most as many as at its
value at j − 1. The Clopper–Pearson bounds of all runs of m blocks of equally many rows, each at
level α/(m(m + 1)), hold at once with probability 1 − α; a score's band is the best of the runs
above and of those below it. The bound is the largest ℓ1 error of a curve inside the band. It lets a
user conclude good calibration: "calibrated within x".

It assumes nothing but a nondecreasing curve, and no score distribution: the error is the mean over
the scores at hand.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from calbias.auditing.error.interval import Interval
from calbias.defaults import CONFIDENCE_LEVEL
from reproduction.judging import Sample

Floats = NDArray[np.float64]

MOST_BLOCKS = 100


def monotone_band(sample: Sample) -> Interval:
    """Return the Interval [0, bound] of the ℓ1 error of a Sample with a nondecreasing curve."""
    low, high = band(sample, CONFIDENCE_LEVEL)
    worst = np.maximum(np.abs(low - sample.scores), np.abs(high - sample.scores))
    return Interval(0.0, float(np.mean(worst)))


def band(sample: Sample, level: float, blocks: int | None = None) -> tuple[Floats, Floats]:
    """Return the lower and the upper end of the band at each score, (n,)."""
    n = sample.n
    m = min(blocks or int(np.ceil(4 * n ** (1 / 3))), MOST_BLOCKS, n)
    starts = np.arange(m) * n // m
    # A group of equal scores stays in one block: a block begins where a score begins.
    starts = np.unique(np.searchsorted(sample.scores, sample.scores[starts], side="left"))
    m, edges = starts.size, np.append(starts, n)
    cum = np.append(0.0, np.cumsum(sample.hits))[edges]
    alpha = (1 - level) / (m * (m + 1))
    first, last = np.triu_indices(m)
    trials, hits = edges[last + 1] - edges[first], cum[last + 1] - cum[first]
    below = np.where(hits > 0, betaincinv(np.maximum(hits, 1), trials - hits + 1, alpha), 0.0)
    above = np.where(
        hits < trials, betaincinv(hits + 1, np.maximum(trials - hits, 1), 1 - alpha), 1.0
    )
    # The lower end at the last score of block b: the best of the runs that end with b.
    at_last, at_first = np.zeros(m), np.ones(m)
    np.maximum.at(at_last, last, below)
    np.minimum.at(at_first, first, above)
    lower = np.maximum.accumulate(at_last)
    upper = np.minimum.accumulate(at_first[::-1])[::-1]
    block, scores = np.repeat(np.arange(m), np.diff(edges)), sample.scores
    lower_before, upper_next = np.append(0.0, lower), np.append(upper, 1.0)
    is_last, is_first = scores == scores[edges[1:] - 1][block], scores == scores[starts][block]
    return lower_before[block + is_last], upper_next[block + ~is_first]
