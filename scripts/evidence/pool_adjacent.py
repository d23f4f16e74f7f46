"""Isotonic regression by pooling adjacent violators (Ayer et al. 1955), compiled."""

import numpy as np

from calbias.engine.jit import njit


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
