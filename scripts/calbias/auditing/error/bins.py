"""Bins of neighbouring scores, with exact limits for a picture; the ECE and its noise floor.

The noise floor is the mean ECE of a calibrated model with the same scores: Σ_k E|K_k − μ_k|/n over
the bins, where K_k, the number of hits, is a sum of independent outcomes with the scores as
chances. E|K − μ| = 2 Σ_{j < μ} (μ − j) P(K = j), with the distribution of K from its Fourier
transform Π (1 + s (e^{it} − 1)); more than 256 scores of a bin are joined with their neighbours.
Where the variance V of K is above 500, E|K − μ| is √(2V/π): the relative error is below 0.001.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from calbias.defaults import CONFIDENCE_LEVEL, N_BINS
from calbias.samples.by_score import Floats, Ints, Scored, dot

MOST_BINS, ROWS_PER_BIN = 20, 20  # of a picture
_FEW_BINS, _FEW_ROWS = 5, 10  # of fewer rows
_NORMAL = 500.0
_MOST, _TINY = 256, 1e-300


class PictureBins(NamedTuple):
    """Neighbouring scores with their share of hits; arrays (b,), fractions.

    Attributes
    ----------
    lowest_score, highest_score : ndarray
        Of the rows in a bin.
    n_in_bin : ndarray of int
    mean_score, mean_hit : ndarray
    low, high : ndarray
        Exact binomial limits (Clopper and Pearson) of the share of hits; one bin at a time.
    """

    lowest_score: np.ndarray
    highest_score: np.ndarray
    n_in_bin: np.ndarray
    mean_score: np.ndarray
    mean_hit: np.ndarray
    low: np.ndarray
    high: np.ndarray


def picture_bins(
    scored: Scored, confidence_level: float = CONFIDENCE_LEVEL, design_effect: float = 1.0
) -> PictureBins:
    """Return bins in equal steps of half the share of ranks and half the score's distance.

    At most 20 steps, of 20 rows or more on average, or five of ten. Rows of equal scores stay in
    one bin. The limits are of the number of rows divided by the ``design_effect``.
    """
    scored = scored.by_score
    scores, rows, hits = scored.scores, scored.rows, scored.hits
    starts = _starts(scored, _steps(scored.n))
    size, n_hits = np.add.reduceat(rows, starts), np.add.reduceat(hits, starts)
    limits = binomial_limits(n_hits / design_effect, size / design_effect, confidence_level)
    return PictureBins(
        scores[starts],
        scores[np.r_[starts[1:], scores.size] - 1],
        np.maximum(np.rint(size), 1).astype(np.int64),  # weights are rounded
        np.add.reduceat(scores * rows, starts) / size,
        n_hits / size,
        *limits,
    )


def _steps(n: int) -> int:
    """Return the number of steps of the bins of a picture of n rows."""
    return max(min(MOST_BINS, n // ROWS_PER_BIN), min(_FEW_BINS, n // _FEW_ROWS), 1)


def _starts(sample: Scored, steps: int) -> np.ndarray:
    """Return where bins in so many steps of half the ranks and half the scores' distance begin."""
    scores, rows = sample.scores, sample.rows
    reach = max(float(scores[-1] - scores[0]), 1e-300)
    position = 0.5 * (np.cumsum(rows) - 0.5 * rows) / sample.n + 0.5 * (scores - scores[0]) / reach
    step = np.minimum((steps * position).astype(np.int64), steps - 1)
    return np.flatnonzero(np.diff(step, prepend=-1) > 0)


def joined_scores(sample: Scored, most: int) -> tuple[Floats, Ints]:
    """Return the mean scores and the rows of at most so many cells of a sample by score."""
    starts = _starts(sample, most)
    rows = np.add.reduceat(sample.rows, starts)
    return np.add.reduceat(sample.rows * sample.scores, starts) / rows, rows


def joined_bins(bins: PictureBins, most: int, level: float, design_effect: float) -> PictureBins:
    """Return neighbouring bins joined to groups of at least a ``most``-th of the rows."""
    least, starts, size = bins.n_in_bin.sum() / most, [0], 0
    for k, rows in enumerate(bins.n_in_bin.tolist()):
        if size >= least:
            starts.append(k)
            size = 0
        size += rows
    if size < least and len(starts) > 1:
        starts.pop()  # too few rows are left: they go with the group before
    rows = np.add.reduceat(bins.n_in_bin, starts)
    scores, hits = (
        np.add.reduceat(bins.n_in_bin * mean, starts) for mean in (bins.mean_score, bins.mean_hit)
    )
    limits = binomial_limits(hits / design_effect, rows / design_effect, level)
    stops = [*starts[1:], bins.n_in_bin.size]
    highest = bins.highest_score[np.array(stops) - 1]
    return PictureBins(
        bins.lowest_score[starts], highest, rows, scores / rows, hits / rows, *limits
    )


def binomial_limits(
    hits: Floats | float, rows: Floats | float, level: float
) -> tuple[Floats, Floats]:
    """Return the exact (Clopper-Pearson) limits of a share of hits; counts may be fractions."""
    hits, rows, tail = np.asarray(hits, float), np.asarray(rows, float), (1.0 - level) / 2.0
    hits = np.clip(hits, 0.0, rows)  # outcomes that are right on average may sum to less than 0
    misses = np.maximum(rows - hits, 0.0)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), misses + 1, tail), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1e-9), 1.0 - tail), 1.0)
    return low, high


def binned_ece(scored: Scored, n_bins: int = N_BINS) -> tuple[float, float]:
    """Return the ℓ1 ECE in bins of equal width, and its noise floor."""
    starts = scored.starts(n_bins, "equal_width")
    gaps = np.abs(np.add.reduceat(scored.gaps, starts))
    bins = zip(np.split(scored.scores, starts[1:]), np.split(scored.rows, starts[1:]), strict=True)
    noise = sum(mean_deviation(chances, rows) for chances, rows in bins)
    return float(gaps.sum() / scored.n), noise / scored.n


def mean_deviation(chances: np.ndarray, rows: np.ndarray) -> float:
    """Return E|K − E K| of the number K of outcomes with these chances, of so many rows (m,)."""
    if dot(2.0 * rows, chances) > rows.sum():
        chances = 1.0 - chances  # of the outcomes that fail: a shorter distribution
    variances = rows * chances * (1.0 - chances)
    variance = float(variances.sum())
    if variance > _NORMAL:
        return float(np.sqrt(2.0 * variance / np.pi))
    if chances.size > _MOST and variance > 0.0:  # neighbours of one chance
        step = np.floor(_MOST * (np.cumsum(variances) - 0.5 * variances) / variance)
        starts = np.flatnonzero(np.append(True, step[1:] != step[:-1]))
        sums, rows = (np.add.reduceat(x, starts) for x in (rows * chances, rows))
        chances = sums / rows
    mean, reach = dot(rows, chances), 7.0 * np.sqrt(variance) + 12.0
    low = max(int(mean - reach), 0)
    k = np.arange(low, min(int(mean + reach) + 1, int(rows.sum())) + 1)
    turn = 2.0 * np.pi * np.arange(k.size) / k.size
    factors = 1.0 + np.multiply.outer(chances, np.exp(1j * turn) - 1.0)
    factors[factors == 0.0] = _TINY  # its logarithm is wanted
    transform = np.exp(rows @ np.log(factors) - 1j * turn * low)
    p = np.fft.fft(transform).real / k.size
    return float(2.0 * np.sum((np.maximum(mean - k, 0.0)) * p))
