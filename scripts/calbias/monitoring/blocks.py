"""What a monitor remembers of its rows: counts by cell of the score, in blocks that grow with age.

A block (2 + 3 · cells) has whole numbers: factors, rows; and for each cell rows, hits, and the sum
of the scores' places in the cell in 256ths of it. When there are too many blocks, the two
neighbours that are shortest for their age become one. A block is at most a third as long as the
rows from its start to the last one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbias.monitoring.alternatives import (
    EDGES,
    N_CELLS,
    PRIOR,
    Floats,
    cell_numbers,
    likelihood_ratios,
    weight_after,
)

Ints = NDArray[np.int64]
UNIT, _MOST, _STEPS = 20, 24, 256
_FACTORS, _ROWS = 0, 1
NONE = np.zeros((1, 2 + 3 * N_CELLS), np.int64)


class Since(NamedTuple):
    """When a change began: the likeliest row, counted from 1, and a 95 % interval of it."""

    row: int
    low: int
    high: int


def counts_of(scores: Floats, hits: NDArray) -> Ints:
    """Return the counts (n, 3 · cells) of single rows."""
    counts = np.zeros((scores.size, 3, N_CELLS), np.int64)
    rows, cells = np.arange(scores.size), cell_numbers(scores)
    places = (scores - EDGES[cells]) / (EDGES[cells + 1] - EDGES[cells])
    counts[rows, :, cells] = np.c_[np.ones_like(rows), hits, np.rint(places * _STEPS)]
    return counts.reshape(scores.size, -1)


def in_cells(blocks: Ints) -> tuple[Floats, Ints, Ints]:
    """Return mean scores, rows and hits of each cell, (…, cells); an empty one has its low end."""
    counts = blocks[..., 2:].reshape(*blocks.shape[:-1], 3, N_CELLS)
    rows, hits, places = np.moveaxis(counts, -2, 0)
    return EDGES[:-1] + np.diff(EDGES) * (places / _STEPS / np.maximum(rows, 1)), rows, hits


def add(blocks: Ints, counts: Ints) -> Ints:
    """Return the blocks with factors (k, 3 · cells) added; the last block has room for them."""
    rows = counts[:, :N_CELLS].sum()
    blocks[-1] += np.r_[len(counts), rows, counts.sum(axis=0)]
    if blocks[-1, _FACTORS] < UNIT:
        return blocks
    if len(blocks) == _MOST:
        factors = blocks[:, _FACTORS]
        ages = np.cumsum(factors[::-1])[::-1]
        k = int(np.argmin((factors[:-1] + factors[1:]) / ages[:-1]))
        blocks[k] += blocks[k + 1]
        blocks = np.delete(blocks, k + 1, axis=0)
    return np.append(blocks, NONE, axis=0)


def change(blocks: Ints) -> tuple[Since, Ints]:
    """Return when the change began, and the blocks since then.

    Posterior of the block at whose start the change came and of the alternative. A cluster counts
    as one row.
    """
    scores, rows, hits = in_cells(blocks)
    shape = len(blocks), N_CELLS, -1
    hit, miss = (
        np.log(likelihood_ratios(scores.ravel(), np.full(scores.size, y))).reshape(shape)
        for y in (1, 0)
    )
    logs = (hits[..., None] * hit + (rows - hits)[..., None] * miss).sum(axis=1)
    logs *= blocks[:, [_FACTORS]] / np.maximum(blocks[:, [_ROWS]], 1)
    factors, row = (np.append(0, np.cumsum(blocks[:, k])) for k in (_FACTORS, _ROWS))
    with np.errstate(divide="ignore"):  # an empty last block has no weight
        weights = np.log(-np.diff(weight_after(factors)))[:, None]
    logs = np.cumsum(logs[::-1], axis=0)[::-1] + np.log(PRIOR) + weights
    posterior = np.exp(logs - logs.max()).sum(axis=1)
    upto = np.cumsum(posterior / posterior.sum())
    low, high = np.searchsorted(upto, [0.025, 0.975])
    first = int(np.argmax(posterior))
    return Since(int(row[first]) + 1, int(row[low]) + 1, int(row[high + 1])), blocks[first:]
