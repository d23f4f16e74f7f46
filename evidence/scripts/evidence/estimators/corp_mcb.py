"""The miscalibration MCB of the CORP decomposition: Brier(s) − Brier(isotonic fit to the hits).

    MCB = 1/n Σ [(s_i − y_i)² − (p_i − y_i)²],  p the nondecreasing fit by pooled adjacent violators

Never negative; equal scores are pooled. The fit is the one of Ayer et al. (1955). Dimitriadis,
Gneiting and Jordan, *Stable reliability diagrams for probabilistic classifiers* (PNAS 2021). With
the discrimination DSC = Brier(mean label) − Brier(p) and the uncertainty UNC = ȳ(1 − ȳ):
Brier(s) = MCB − DSC + UNC.
"""

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import Estimates, SortedBatch

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


@njit
def pooled_means(scores: np.ndarray, labels: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out`` (n,) with the nondecreasing fit to labels (n,) at ascending scores (n,).

    Equal scores are one point: they get one value.
    """
    n = scores.shape[0]
    starts = np.empty(n + 1, np.int64)
    sums = np.empty(n)
    blocks = 0
    start = 0
    while start < n:
        end = start + 1
        total = labels[start]
        while end < n and scores[end] == scores[start]:
            total += labels[end]
            end += 1
        first = start
        while blocks > 0 and sums[blocks - 1] * (end - first) >= total * (
            first - starts[blocks - 1]
        ):
            blocks -= 1
            total += sums[blocks]
            first = starts[blocks]
        starts[blocks], sums[blocks] = first, total
        blocks += 1
        start = end
    starts[blocks] = n
    for block in range(blocks):
        mean = sums[block] / (starts[block + 1] - starts[block])
        for i in range(starts[block], starts[block + 1]):
            out[i] = mean
