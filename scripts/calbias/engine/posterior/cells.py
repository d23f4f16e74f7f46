"""Scores and hits as saturated ends and at most K cells of neighbouring scores between them.

The ends are the longest suffix of scores with Σ(1 − s) ≤ 0.1 and the longest prefix with
Σ s ≤ 0.1: in one of ten data sets a calibrated model has a miss at the top, or a hit at the bottom,
so that no curve can be fitted. With d = Σ(y − s), m of these outcomes and e rows an end adds |d|/n
to the ℓ1 error and (d² − m)/(e n), if positive, to the square of the ℓ2 error. Only outcomes beyond
the expected ones add: d < 0 at the top, d > 0 at the bottom.

Rows may have weights w, with Σ w = Σ w² over all of them. A cell or an end then counts as
(Σ w)²/Σ w² rows, and d, m and e above as sums of weights times as much.

Cells have equal steps of u = ½ (share of the ranks) + ½ (share of Σ s(1 − s)).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

FEWEST_CELLS = 8
_END = 0.1  # misses at the top, or hits at the bottom, of a calibrated model
SIZE, HITS, SCORE, LOG_ODDS, INFORMATION, WEIGHT, PLACE, TILT = range(8)
L1, L1_VARIANCE, SQUARE, SQUARE_VARIANCE = range(4)


class Cells(NamedTuple):
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
    scores: Floats,
    rows: ArrayLike,
    hits: ArrayLike,
    most: int,
    squares: ArrayLike | None = None,
) -> Cells:
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
        return Cells(n, np.zeros((8, 0)), ends)
    information = rows * scores * (1.0 - scores)
    place = 0.5 * _middles(rows) + 0.5 * _middles(information)
    cell = np.minimum((place * most).astype(np.int64), most - 1)
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
    table = np.array([*columns, sums(rows * place) / size, tilt])
    return Cells(n, table, ends)


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
