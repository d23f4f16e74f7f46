"""The ECE that other packages print, and its noise floor.

The noise floor is the mean ECE of a calibrated model with the same scores: Σ_k E|K_k − μ_k|/n over
the bins, where K_k, the number of hits, is a sum of independent outcomes with the scores as
chances. E|K − μ| = 2 Σ_{j < μ} (μ − j) P(K = j), with the law of K by adding row after row. Where
the variance V of K is above 500, E|K − μ| is √(2V/π): the relative error is below 0.001.
"""

from itertools import pairwise

import numpy as np

from calbias.auditing.sample import Sample
from calbias.conventions import N_BINS
from calbias.engine.jit import njit

_NORMAL = 500.0


def binned_ece(sample: Sample, n_bins: int = N_BINS) -> tuple[float, float]:
    """Return the ℓ1 ECE of a Sample in bins of equal width, and its noise floor."""
    ranks = np.unique(sample.data.ranks(n_bins, "equal_width")[0])
    gaps = np.abs(np.diff(sample.data.cum_gap[0, ranks]))
    noise = sum(mean_deviation(sample.scores[i:j]) for i, j in pairwise(ranks))
    return float(gaps.sum() / sample.n), noise / sample.n


def mean_deviation(chances: np.ndarray) -> float:
    """Return E|K − E K| of the number K of outcomes with these chances (m,)."""
    if 2.0 * chances.mean() > 1.0:
        chances = 1.0 - chances  # of the outcomes that fail: a shorter law
    mean, variance = chances.sum(), (chances * (1.0 - chances)).sum()
    if variance > _NORMAL:
        return float(np.sqrt(2.0 * variance / np.pi))
    return float(_mean_deviation(chances, 7.0 * np.sqrt(variance) + 12.0, mean))


@njit(error_model="numpy")
def _mean_deviation(chances: np.ndarray, reach: int, mean: float) -> float:
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
