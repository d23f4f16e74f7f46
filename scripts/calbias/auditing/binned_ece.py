"""The ECE that other packages print, and its noise floor.

The noise floor is the mean ECE of a calibrated model with the same scores: Σ_k E|K_k − μ_k|/n over
the bins, where K_k, the number of hits, is a sum of independent outcomes with the scores as
chances. E|K − μ| = 2 Σ_{j < μ} (μ − j) P(K = j), with the distribution of K from its Fourier
transform Π (1 + s (e^{it} − 1)); more than 256 scores of a bin are joined with their neighbours.
Where the variance V of K is above 500, E|K − μ| is √(2V/π): the relative error is below 0.001.
"""

import numpy as np

from calbias.conventions import N_BINS
from calbias.scored import Scored

_NORMAL = 500.0
_MOST, _TINY = 256, 1e-300


def binned_ece(scored: Scored, n_bins: int = N_BINS) -> tuple[float, float]:
    """Return the ℓ1 ECE in bins of equal width, and its noise floor."""
    starts = scored.starts(n_bins, "equal_width")
    gaps = np.abs(np.add.reduceat(scored.gaps, starts))
    bins = zip(np.split(scored.scores, starts[1:]), np.split(scored.rows, starts[1:]), strict=True)
    noise = sum(mean_deviation(chances, rows) for chances, rows in bins)
    return float(gaps.sum() / scored.n), noise / scored.n


def mean_deviation(chances: np.ndarray, rows: np.ndarray) -> float:
    """Return E|K − E K| of the number K of outcomes with these chances, of so many rows (m,)."""
    if 2.0 * rows @ chances > rows.sum():
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
    mean, reach = float(rows @ chances), 7.0 * np.sqrt(variance) + 12.0
    low = max(int(mean - reach), 0)
    k = np.arange(low, min(int(mean + reach) + 1, int(rows.sum())) + 1)
    turn = 2.0 * np.pi * np.arange(k.size) / k.size
    factors = 1.0 + np.multiply.outer(chances, np.exp(1j * turn) - 1.0)
    factors[factors == 0.0] = _TINY  # its logarithm is wanted
    transform = np.exp(rows @ np.log(factors) - 1j * turn * low)
    p = np.fft.fft(transform).real / k.size
    return float(2.0 * np.sum((np.maximum(mean - k, 0.0)) * p))
