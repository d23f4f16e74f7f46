"""Scores and hits as saturated ends and at most K cells of scores between; errors of curves there.

The ends are the longest suffix of scores with Σ(1 − s) ≤ 0.1 and the longest prefix with
Σ s ≤ 0.1: in one of ten data sets a calibrated model has a miss at the top, or a hit at the bottom,
so that no curve can be fitted. With d = Σ(y − s), m of these outcomes and e rows an end adds |d|/n
to the ℓ1 error and (d² − m)/(e n), if positive, to the square of the ℓ2 error. Only outcomes beyond
the expected ones add: d < 0 at the top, d > 0 at the bottom.

Rows may have weights w, with Σ w = Σ w² over all of them. A cell or an end then counts as
(Σ w)²/Σ w² rows, and d, m and e above as sums of weights times as much.

Cells have equal steps of u = ½ (share of the ranks) + ½ (share of Σ s(1 − s)).

**Errors.** With f ~ N(mode, S) on cells of weight w and score p, and the gaps
g_k(z) = σ(L_k + f_k + √S_kk z) − p_k, all means over z by 16 normal quantiles:

    ℓ1 = Σ_k w_k E|g_k|,   q = Σ_k w_k E g_k²

The variance of q is by the delta method: with d = σ(1 − σ) and g at the mode, G = d S dᵀ,

    var q  = Σ_ij w_i w_j (2 G_ij² + 4 g_i g_j G_ij)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

FEWEST_CELLS = 8
_END = 0.1  # misses at the top, or hits at the bottom, of a calibrated model
SIZE, HITS, SCORE, LOG_ODDS, INFORMATION, WEIGHT, PLACE, TILT = range(8)
L1, L1_VARIANCE, SQUARE, SQUARE_VARIANCE = range(4)
_LEAST_SHRINKAGE = 0.7
# normal quantiles at (j − ½)/16 above the median, scaled so that 16 of them have variance 1
_ABOVE = np.array(
    [
        0.08158754520790505, 0.2468070697447189, 0.41853826767225977, 0.6025828031870283,
        0.8078611960795813, 1.0508874261229404, 1.3713807536348692, 1.9381589616524153,
    ]
)  # fmt: skip
_NORMAL = np.concatenate([-_ABOVE, _ABOVE])


class PosteriorCells(NamedTuple):
    """One data set in cells.

    Attributes
    ----------
    n : float
        Rows of the data set, or the sum of their weights.
    table : ndarray (8, K)
        Per cell: SIZE, HITS, SCORE (mean score, at least 0.1/n from 0 and 1), LOG_ODDS of it,
        INFORMATION Σ s(1 − s), WEIGHT (share of all rows), PLACE u in [0, 1], TILT (LOG_ODDS minus
        their mean, weighted by INFORMATION).
    ends : ndarray (2, 4)
        Per end, the lower first: L1, L1_VARIANCE, SQUARE, SQUARE_VARIANCE that it adds.
    """

    n: float
    table: Floats
    ends: Floats


def most_cells(n: int) -> int:
    """Return the number of cells for n rows."""
    return min(30, max(FEWEST_CELLS, n // 5))


def cells_of(
    scores: Floats, rows: ArrayLike, hits: ArrayLike, most: int, squares: ArrayLike | None = None
) -> PosteriorCells:
    """Return ascending scores (m,) with rows and hits (m,) in at most ``most`` cells.

    With weighted rows ``rows`` and ``hits`` are sums of weights, and ``squares`` (m,) of their
    squares.
    """
    rows, hits = np.asarray(rows, np.float64), np.asarray(hits, np.float64)
    squares = rows if squares is None else np.asarray(squares, np.float64)
    n = float(rows.sum())
    lower = int(np.searchsorted(np.cumsum(rows * scores), _END, side="right"))
    above = np.cumsum((rows * (1.0 - scores))[::-1])
    upper = max(scores.size - int(np.searchsorted(above, _END, side="right")), lower)
    below, top = slice(lower), slice(upper, None)
    ends = np.array(
        [
            _end(rows[below], hits[below], scores[below], squares[below], n),
            _end(rows[top], (rows - hits)[top], (1.0 - scores)[top], squares[top], n),
        ]
    )
    inner = slice(lower, upper)
    scores, rows, hits, squares = scores[inner], rows[inner], hits[inner], squares[inner]
    if not scores.size:
        return PosteriorCells(n, np.zeros((8, 0)), ends)
    information = rows * scores * (1.0 - scores)
    position = 0.5 * _middles(rows) + 0.5 * _middles(information)
    cell = np.minimum((position * most).astype(np.int64), most - 1)
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))

    def sums(values: Floats) -> Floats:
        return np.add.reduceat(values, starts)

    inside = np.clip(scores, 0.1 / n, 1.0 - 0.1 / n)
    size = sums(rows)
    scale = sums(squares) / size
    score, information = sums(rows * inside) / size, sums(rows * inside * (1.0 - inside)) / scale
    log_odds = np.log(score) - np.log1p(-score)
    tilt = log_odds - np.sum(information * log_odds) / information.sum()
    columns = (size / scale, sums(hits) / scale, score, log_odds, information, size / n)
    table = np.array([*columns, sums(rows * position) / size, tilt])
    return PosteriorCells(n, table, ends)


def _middles(values: Floats) -> Floats:
    """Return the share of the sum up to the middle of each value."""
    upto = np.cumsum(values)
    return (upto - 0.5 * values) / max(float(upto[-1]), 1e-300)


def _end(
    rows: Floats, outcomes: Floats, chance: Floats, squares: Floats, n: float
) -> tuple[float, ...]:
    """Return what an end adds, by outcomes (m,) with a chance (m,) that is next to 0."""
    size, count, expected = rows.sum(), outcomes.sum(), np.sum(rows * chance)
    excess = count - expected
    if excess <= 0:
        return 0.0, 0.0, 0.0, 0.0
    count *= squares.sum() / size
    square = max(excess**2 - count, 0.0) / (size * n)
    return excess / n, count / n**2, square, 4.0 * excess**2 * count / (size * n) ** 2


class Errors(NamedTuple):
    """Means of the ℓ1 error and of the square of the ℓ2 error, and the square's variance, (M,)."""

    l1: Floats
    square: Floats
    variance: Floats

    def root(self, square: float = 0.0, variance: float = 0.0) -> Floats:
        """Return the means of the ℓ2 error, where the ends add to the square and its variance."""
        total = self.square + square
        shrinkage = (self.variance + variance) / (8.0 * np.maximum(total, 1e-150) ** 2)
        return np.sqrt(total) * np.maximum(1.0 - shrinkage, _LEAST_SHRINKAGE)


def mean_rates(table: Floats, modes: Floats, deviations: Floats) -> Floats:
    """Return the posterior mean probability of a hit in each cell, (M, K)."""
    return _rates(table, modes, deviations).mean(axis=0)


def errors_of_curves(
    table: Floats, modes: Floats, covariance: Floats, inside: Floats | None = None
) -> Errors:
    """Return the Errors of M curves on cells (8, K), with modes (M, K) and covariance (M, K, K).

    Only of the cells where ``inside`` (M, K) is 1, if it is given; elsewhere it is 0.
    """
    score, weight = table[SCORE], table[WEIGHT]
    spread = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
    gap = _rates(table, modes, spread) - score
    if inside is not None:
        gap *= inside
    l1, square = np.abs(gap).mean(axis=0) @ weight, np.square(gap).mean(axis=0) @ weight
    p = expit(table[LOG_ODDS] + modes)
    slope = weight * p * (1.0 - p) * (1.0 if inside is None else inside)
    bend, pull = slope**2 / weight, slope * (p - score)
    variance = 2.0 * _form(covariance**2, bend) + 4.0 * _form(covariance, pull)
    return Errors(l1, square, variance)


def _rates(table: Floats, modes: Floats, deviations: Floats) -> Floats:
    return expit(table[LOG_ODDS] + modes + deviations * _NORMAL[:, None, None])


def _form(matrices: Floats, vectors: Floats) -> Floats:
    """Return vᵀ M v of each."""
    return np.sum((matrices @ vectors[..., None])[..., 0] * vectors, axis=1)
