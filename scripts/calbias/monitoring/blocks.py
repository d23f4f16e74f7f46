"""What a monitor bets on, and what it remembers of its rows.

**Bets** are alternatives to P(hit) = s, and changes to them, with prior weights. An alternative
says P(hit) = σ(a + b·logit s), at all scores or at the scores of one band, and P(hit) = s
elsewhere. The ratio of a row is P(y | alternative)/P(y | s).

**Memory** is counts by cell of the score, in blocks that grow with age. A block (2 + 3 · cells) has
whole numbers: factors, rows; and for each cell rows, hits, and the sum of the scores' places in the
cell in 256ths of it. When there are too many blocks, the two neighbours that are shortest for their
age become one. A block is at most a third as long as the rows from its start to the last one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_TAILS = np.array([0.001, 0.01])
EDGES = np.unique(np.r_[0.0, _TAILS, np.arange(1, 40) / 40, 1.0 - _TAILS, 1.0])
"""Ends of the cells of the score; a band is a run of cells."""
N_CELLS = EDGES.size - 1
_LIMIT = float(np.log(1e6 - 1.0))  # log odds of 10⁻⁶ from 0 and from 1
_SLOPES = (0.6, 0.8, 1.25, 1.7)
# (a, b, weight): shifts, slopes, and both, which are less likely
_EVERYWHERE = [
    *((sign * a, 1.0, 1.0) for a in (0.12, 0.25, 0.5, 1.0) for sign in (-1, 1)),
    *((0.0, b, 1.0) for b in _SLOPES),
    *((a, b, 0.25) for a in (-0.75, -0.25, 0.25, 0.75) for b in _SLOPES),
]
# (low, high, ±a): bands of width 0.05, 0.1 and 0.2, and both ends
_BANDS = [
    *((k / 40, (k + 2) / 40, 1.2) for k in range(39)),
    *((k / 40, (k + 4) / 40, 0.9) for k in range(0, 37, 2)),
    *((k / 40, (k + 8) / 40, 0.6) for k in range(0, 33, 4)),
    *((0.0, tail, 1.2) for tail in (*_TAILS, 0.025)),
    *((1.0 - tail, 1.0, 1.2) for tail in (*_TAILS, 0.025)),
]
_SHIFT, _SLOPE, _LOW, _HIGH, _WEIGHT = np.array(
    [(a, b, 0.0, 1.0, weight) for a, b, weight in _EVERYWHERE]
    + [(sign * a, 1.0, low, high, 0.0) for low, high, a in _BANDS for sign in (-1, 1)]
).T
PRIOR = np.where(_WEIGHT, 0.75 * _WEIGHT / _WEIGHT.sum(), 0.125 / len(_BANDS))
"""Prior weights of the alternatives; one quarter is on bands."""
REACH = np.abs(_SHIFT) + np.abs(_SLOPE - 1.0) * _LIMIT
"""The largest |log ratio| of a row under each: at most its step in log odds."""
_MIDDLES = ((EDGES[1:] + EDGES[:-1]) / 2)[:, None]
_INSIDE = (_LOW < _MIDDLES) & (_MIDDLES < _HIGH)  # (cells, alternatives)


def cell_numbers(scores: Floats) -> NDArray[np.int64]:
    """Return the cell of each score; the last cell holds 1."""
    return np.minimum(np.searchsorted(EDGES, scores, side="right") - 1, N_CELLS - 1)


NO_ENDS = np.array([np.nan, 1.0, 1.0, 0.0, 0.0])
"""The last score in (0, 1); the nearest one to 0 that came twice running, of all; likewise to 1."""


def inside(scores: Floats, ends: Floats) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Return scores (n,) with 0 and 1 half a step inside, which were so, and the ends afterwards.

    The step is known from the scores before the row: it ends at the nearest score that came twice
    running among the scores inside (0, 1), or else at the nearest one.
    """
    is_end = (scores <= 0.0) | (scores >= 1.0)
    inner = scores[~is_end]
    twice = inner == np.append(ends[0], inner)[:-1]
    upto = np.append(0, np.cumsum(~is_end))
    reached = np.array(
        [
            np.minimum.accumulate(np.append(ends[1], np.where(twice, inner, 1.0))),
            np.minimum.accumulate(np.append(ends[2], inner)),
            np.maximum.accumulate(np.append(ends[3], np.where(twice, inner, 0.0))),
            np.maximum.accumulate(np.append(ends[4], inner)),
        ]
    )
    low_twice, low, high_twice, high = reached[:, upto[:-1]]
    low = np.minimum(np.where(low_twice < 1.0, low_twice, low), 0.98)
    high = np.maximum(np.where(high_twice > 0.0, high_twice, high), 0.02)
    moved = np.where(scores <= 0.0, 0.5 * low, np.where(scores >= 1.0, 0.5 + 0.5 * high, scores))
    last = inner[-1] if inner.size else ends[0]
    return moved, is_end, np.append(last, reached[:, -1])


def likelihood_ratios(
    scores: Floats, hits: NDArray, is_end: NDArray[np.bool_] | None = None
) -> Floats:
    """Return the ratio of each row under each alternative (n, alternatives).

    Where ``is_end``, no alternative is nearer to 0 or 1 than the score.

    Log odds are kept within ±_LIMIT, so that a miss at a score of 1 has a finite ratio. Beyond the
    limit the mean ratio of a calibrated row is linear in the score: 1 at the limit, and at a score
    of 1 σ(η)/σ(_LIMIT) <= 1.
    """
    with np.errstate(divide="ignore"):
        log_odds = np.clip(np.log(scores) - np.log1p(-scores), -_LIMIT, _LIMIT)[:, None]
    others = np.clip(_SHIFT + _SLOPE * log_odds, -_LIMIT, _LIMIT)
    others = np.where(_INSIDE[cell_numbers(scores)], others, log_odds)
    if is_end is not None:
        is_beyond = is_end[:, None] & (np.abs(others) > np.abs(log_odds)) & (others * log_odds > 0)
        others = np.where(is_beyond, log_odds, others)
    sign = np.where(hits, -1.0, 1.0)[:, None]
    return (1.0 + np.exp(sign * log_odds)) / (1.0 + np.exp(sign * others))


_LATER, _SCALE = 0.5, 500.0  # prior weight of a change after the first factor, and its decline


def weight_after(factors: NDArray) -> Floats:
    """Return the prior weight of a change after so many factors: 1 after 0, later 0.5 and less."""
    return np.where(factors == 0, 1.0, _LATER / np.sqrt(1.0 + factors / _SCALE))


def grown(sums: Floats, weight: float, ratios: Floats) -> Floats:
    """Return π_j Σ_u w_u R_j(u) … R_j(t) (…, alternatives) with w_t and R_j(t), at most 10³⁰⁰."""
    return np.minimum((sums + weight * PRIOR) * ratios, 1e300)


UNIT, MOST, STEPS = 20, 24, 256
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
    positions = (scores - EDGES[cells]) / (EDGES[cells + 1] - EDGES[cells])
    counts[rows, :, cells] = np.c_[np.ones_like(rows), hits, np.rint(positions * STEPS)]
    return counts.reshape(-1, 3 * N_CELLS)


def in_cells(blocks: Ints) -> tuple[Floats, Ints, Ints]:
    """Return mean scores, rows and hits of each cell, (…, cells); an empty one has its low end."""
    counts = blocks[..., 2:].reshape(*blocks.shape[:-1], 3, N_CELLS)
    rows, hits, positions = np.moveaxis(counts, -2, 0)
    return EDGES[:-1] + np.diff(EDGES) * (positions / STEPS / np.maximum(rows, 1)), rows, hits


def add(blocks: Ints, counts: Ints) -> Ints:
    """Return the blocks with factors (k, 3 · cells) added; the last block has room for them."""
    rows = counts[:, :N_CELLS].sum()
    blocks[-1] += np.r_[len(counts), rows, counts.sum(axis=0)]
    if blocks[-1, _FACTORS] < UNIT:
        return blocks
    if len(blocks) == MOST:
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
