"""A bootstrap resample of sorted rows as a SortedBatch: no row is sorted, none is copied."""

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores


def resampled_batch(
    scores: np.ndarray, hits: np.ndarray, counts: np.ndarray, ties: str = "average"
) -> SortedBatch:
    """Return the SortedBatch of rows that are drawn ``counts`` (n,) times each.

    ``scores`` (n,) ascend; ``hits`` (n,) are theirs. The bits are those of ``of_sorted_scores``.
    """
    n = int(counts.sum())
    if ties == "average":
        drawn, sums, ends = np.empty(n), np.zeros((2, n + 1)), np.zeros((2, n + 1), np.int64)
        if _grouped(scores, hits.astype(np.float64), counts, drawn, sums, ends) > 1:
            return SortedBatch(drawn[None], *sums[:, None], *ends[:, None])
    rows = np.repeat(np.arange(len(scores)), counts)
    return of_sorted_scores(scores[rows], hits[rows][None], ties)


@njit
def _grouped(
    scores: np.ndarray,
    hits: np.ndarray,
    counts: np.ndarray,
    drawn: np.ndarray,
    sums: np.ndarray,
    ends: np.ndarray,
) -> int:
    """Fill what a SortedBatch has, with equal scores as groups; return the size of the largest."""
    first, largest = 0, 0
    below, gap = 0.0, 0.0
    row = 0
    while row < scores.shape[0]:
        score, size, group_hits = scores[row], 0, 0.0
        while row < scores.shape[0] and scores[row] == score:
            size += counts[row]
            group_hits += counts[row] * hits[row]
            row += 1
        if size == 0:
            continue
        last = first + size
        for rank in range(first, last):
            drawn[rank] = score
            gap += score - group_hits / size
            share = (rank + 1 - first) / size
            sums[0, rank + 1] = gap
            sums[1, rank + 1] = below + share * group_hits
            ends[0, rank + 1] = last if rank + 1 == last else first
            ends[1, rank + 1] = last
        below += group_hits
        first = last
        largest = max(largest, size)
    return largest
