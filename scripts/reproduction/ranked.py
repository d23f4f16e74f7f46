"""The r-th largest score of each sample and the sum of the r largest (Gupta et al. 2021, §3).

Top-r: the score of the class of rank r, a hit where that class is the label. Within-top-r: the sum
of the r largest scores, a hit where the label is among their classes. Among tied classes the one
with the lower number ranks first.
"""

import numpy as np

from calbias.errors import InputError
from calbias.reading.top_label import row_blocks, top_label


def ranked_scores(logits: np.ndarray, rank: int = 1, within: bool = False) -> np.ndarray:
    """Return the scores (n,), fractions, of rank ``rank`` >= 1 of logits (n, K)."""
    _validate_rank(logits, rank)
    if rank == 1:
        return top_label(logits, np.zeros(len(logits), np.int64)).score
    scores = np.empty(len(logits))
    for rows in row_blocks(logits):
        z = logits[rows].astype(np.float64)
        z -= z.max(axis=1)[:, None]
        p = np.exp(z)
        scores[rows] = ranked_probabilities(p / p.sum(axis=1)[:, None], rank, within)
    return scores


def ranked_probabilities(probabilities: np.ndarray, rank: int, within: bool = False) -> np.ndarray:
    """Return the same of probabilities (n, K)."""
    _validate_rank(probabilities, rank)
    largest = np.partition(probabilities, -rank, axis=1)[:, -rank:]
    return np.minimum(largest.sum(axis=1), 1.0) if within else largest[:, 0]


def ranked_hits(
    logits: np.ndarray, labels: np.ndarray, rank: int = 1, within: bool = False
) -> np.ndarray:
    """Return the hits (n,), uint8, of labels (n,) that belong to ``ranked_scores``.

    ``logits`` (n, K) may be probabilities: their order counts.
    """
    _validate_rank(logits, rank)
    z_label = logits[np.arange(len(logits)), labels][:, None]
    before = np.arange(logits.shape[1]) < np.asarray(labels)[:, None]
    rank_of_label = 1 + np.sum((logits > z_label) | ((logits == z_label) & before), axis=1)
    return (rank_of_label <= rank if within else rank_of_label == rank).astype(np.uint8)


def _validate_rank(logits: np.ndarray, rank: int) -> None:
    if not 1 <= rank <= logits.shape[1]:
        raise InputError(f"rank {rank} of {logits.shape[1]} classes: choose 1 to that many")
