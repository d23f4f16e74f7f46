"""The ECE that other packages print, and its noise floor.

The noise floor is the mean ECE of a calibrated model with the same scores: Σ_k E|K_k − μ_k|/n over
the bins, where K_k, the number of hits, is a sum of independent outcomes with the scores as
chances. E|K − μ| = 2 Σ_{j < μ} (μ − j) P(K = j), the distribution of K by adding row after row.
Where the variance V of K is above 500, E|K − μ| is √(2V/π): the relative error is below 0.001.
"""

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from calbias.conventions import N_BINS
from calbias.engine.jit import njit
from calbias.scored import Scored

_NORMAL = 500.0
_MOST_ROWS = 100_000


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
    n, mean, variance = rows.sum(), rows @ chances, rows @ (chances * (1.0 - chances))
    if variance > _NORMAL:
        return float(np.sqrt(2.0 * variance / np.pi))
    if n > _MOST_ROWS:  # as if all had the mean chance: de Moivre's formula
        p, k = mean / n, np.floor(mean) + 1.0
        log_ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return float(2.0 * k * np.exp(log_ways + xlogy(k, p) + xlog1py(n - k + 1.0, -p)))
    reach = 7.0 * np.sqrt(variance) + 12.0
    return float(_mean_deviation(np.repeat(chances, rows), float(reach), float(mean)))


@njit(error_model="numpy")
def _mean_deviation(chances: np.ndarray, reach: float, mean: float) -> float:
    most = min(int(mean + reach) + 1, chances.shape[0])
    law = np.zeros(most + 2)
    law[0] = 1.0
    so_far = 0.0
    for i in range(chances.shape[0]):
        p = chances[i]
        so_far += p
        first = max(int(so_far - reach), 0)
        for j in range(min(int(so_far + reach) + 1, i + 1, most), first, -1):
            law[j] += p * (law[j - 1] - law[j])
        law[first] *= 1.0 - p if first == 0 else 0.0
    below = 0.0
    for j in range(min(int(np.ceil(mean)), most + 1)):
        below += (mean - j) * law[j]
    return 2.0 * below
