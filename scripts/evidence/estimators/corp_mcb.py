"""The miscalibration MCB of the CORP decomposition: Brier(s) − Brier(isotonic fit to the hits).

    MCB = 1/n Σ [(s_i − y_i)² − (p_i − y_i)²],  p the nondecreasing fit by pooled adjacent violators

Never negative; equal scores are pooled. Dimitriadis, Gneiting and Jordan, *Stable reliability
diagrams for probabilistic classifiers* (PNAS 2021). With the discrimination DSC = Brier(mean label)
− Brier(p) and the uncertainty UNC = ȳ(1 − ȳ): Brier(s) = MCB − DSC + UNC.
"""

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import Estimates, SortedBatch
from evidence.pool_adjacent import pooled_means

TARGET = "isotonic_gain"
BINS = "none"
NORMS = (2,)


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,), for SortedBatch of m rows."""
    estimates = np.empty(data.scores.shape[0])
    _miscalibration(data.scores, data.hits(), estimates)
    return estimates, np.zeros(estimates.shape, np.int64)


@njit
def _miscalibration(scores: np.ndarray, labels: np.ndarray, out: np.ndarray) -> None:
    n = scores.shape[1]
    fitted = np.empty(n)
    for row in range(scores.shape[0]):
        pooled_means(scores[row], labels[row], fitted)
        total = 0.0
        for i in range(n):  # linear in the label, which may be a tied group's mean
            score, p = scores[row, i], fitted[i]
            total += score * score - p * p - 2.0 * labels[row, i] * (score - p)
        out[row] = max(total, 0.0) / n
