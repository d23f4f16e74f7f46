"""Scores and hits as saturated ends and at most K cells of neighbouring scores between them.

The ends are the longest suffix of scores with Σ(1 − s) ≤ 0.1 and the longest prefix with
Σ s ≤ 0.1: a calibrated model has one surprise in ten data sets there (a miss at the top, a hit at
the bottom), so that no curve can be fitted. With d = Σ(y − s), m surprises and e rows an end adds
|d|/n to the ℓ1 error and (d² − m)/(e n), if positive, to the square of the ℓ2 error. Only surprises
add: d < 0 at the top, d > 0 at the bottom.

Rows may have weights w, with Σ w = Σ w² over all of them. A cell or an end then counts as
(Σ w)²/Σ w² rows, and d, m and e above as sums of weights times as much.

Cells have equal steps of u = ½ (share of the ranks) + ½ (share of Σ s(1 − s)). Equal scores are in
one cell, and no end divides them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calbias.engine.jit import njit
from calbias.engine.posterior.functions import log_odds
from calbias.engine.simd import LANES

Floats = NDArray[np.float64]

FEWEST_CELLS = 8
_END = 0.1  # surprises of a calibrated model in an end
SIZE, HITS, SCORE, LOG_ODDS, INFORMATION, WEIGHT, PLACE, TILT = range(8)
L1, L1_VARIANCE, SQUARE, SQUARE_VARIANCE = range(4)
_COLUMNS = 8


class Cells(NamedTuple):
    """One data set in cells.

    Attributes
    ----------
    n : int or float
        Rows of the data set, or the sum of their weights.
    table : ndarray (8, K)
        Per cell: SIZE, HITS, SCORE (mean score, at least 0.1/n from 0 and 1), LOG_ODDS of it,
        INFORMATION Σ s(1 − s), WEIGHT (share of all rows), PLACE u in [0, 1], TILT (LOG_ODDS minus
        their mean, weighted by INFORMATION).
    ends : ndarray (2, 4)
        Per end, the lower first: L1, L1_VARIANCE, SQUARE, SQUARE_VARIANCE that it adds.
    end_rows, surprises, expected : ndarray (2,)
        Per end: its rows, the surprises in it, and how many a calibrated model has on average.
    end_scale : ndarray (2,)
        Per end: the weight of a row as counted there, Σ w²/Σ w.
    bounds : ndarray (K + 1,)
        Score, by its place, with which each cell begins, and with which the last ends.
    """

    n: float
    table: Floats
    ends: Floats
    end_rows: Floats
    surprises: Floats
    expected: Floats
    end_scale: Floats
    bounds: NDArray[np.int64]


def most_cells(n: int) -> int:
    """Return the number of cells for n rows."""
    return min(30, max(FEWEST_CELLS, n // 5))


def cells_of(
    scores: Floats,
    cum_hit: Floats,
    most: int,
    most_values: int = 0,
    cum_row: Floats | None = None,
    cum_square: Floats | None = None,
) -> Cells:
    """Return one data set in at most ``most`` cells, or in one cell for each distinct score.

    The second where there are at most ``most_values`` distinct scores between the ends. ``scores``
    (g,) ascend; ``cum_hit`` (g + 1,) are the partial sums of the hits, and ``cum_row`` (g + 1,) of
    the rows where a score stands for several, or of their weights, and then ``cum_square`` of the
    squares of these.
    """
    if cum_row is None:
        cum_row = np.arange(scores.size + 1.0)
    size = max(most, most_values)
    table, bounds = np.zeros((_COLUMNS, size)), np.zeros(size + 1, np.int64)
    ends, counts = np.zeros((2, 4)), np.zeros((4, 2))
    n = int(cum_row[-1]) if cum_square is None else float(cum_row[-1])
    cum_square = cum_row if cum_square is None else cum_square
    k = _fill_cells(
        scores, cum_hit, cum_row, cum_square, most, most_values, table, bounds, ends, counts
    )
    numbers = np.zeros(_COLUMNS * k + LANES)  # whole vectors are loaded, also from the last cell on
    filled = numbers[: _COLUMNS * k].reshape(_COLUMNS, k)
    filled[:] = table[:, :k]
    return Cells._make((n, filled, ends, *counts, bounds[: k + 1]))


@njit(error_model="numpy")
def _fill_cells(
    scores: Floats,
    cum_hit: Floats,
    cum_row: Floats,
    cum_square: Floats,
    most: int,
    most_values: int,
    table: Floats,
    bounds: NDArray[np.int64],
    ends: Floats,
    counts: Floats,
) -> int:
    """Fill the arrays of a Cells; return the number of cells that hold rows."""
    n, lower, upper = cum_row[-1], 0, scores.shape[0]
    for side in range(2):
        end = _fill_end(scores, cum_hit, cum_row, cum_square, side, ends[side], counts)
        lower, upper = (lower, end) if side else (end, upper)
    nearest = 0.1 / n
    total, before, values = 0.0, -1.0, 0
    for i in range(lower, upper):
        total += (cum_row[i + 1] - cum_row[i]) * (scores[i] * (1.0 - scores[i]))
        values += scores[i] > before
        before = max(scores[i], before)
    # of no information, as of equal ranks
    below, rows_inside = cum_row[lower], cum_row[upper] - cum_row[lower]
    per_row, per_information = 0.5 / max(rows_inside, 1.0), 0.5 / max(total, 1e-300)
    k = last = -1
    i, before = lower, 0.0
    while i < upper:
        start, score = i, scores[i]
        while i < upper and scores[i] <= score:
            i += 1
        rows = cum_row[i] - cum_row[start]
        information = rows * (score * (1.0 - score))
        place = per_row * (cum_row[start] + cum_row[i] - 2.0 * below) * 0.5
        place += per_information * (before + 0.5 * information)
        before += information
        cell = min(int(place * most), most - 1)
        if cell > last or values <= most_values:
            last = cell
            k += 1
            bounds[k] = start
        inside = min(max(score, nearest), 1.0 - nearest)
        table[SIZE, k] += rows
        table[SCORE, k] += rows * inside
        table[INFORMATION, k] += rows * (inside * (1.0 - inside))
        table[PLACE, k] += rows * place
    bounds[k + 1] = upper
    information = tilt = 0.0
    for cell in range(k + 1):
        size, first, last = table[SIZE, cell], bounds[cell], bounds[cell + 1]
        scale = (cum_square[last] - cum_square[first]) / (cum_row[last] - cum_row[first])
        table[HITS, cell] = (cum_hit[last] - cum_hit[first]) / scale
        table[SCORE, cell] /= size
        table[PLACE, cell] /= size
        table[WEIGHT, cell] = size / n
        table[SIZE, cell] = size / scale
        table[INFORMATION, cell] /= scale
        table[LOG_ODDS, cell] = log_odds(table[SCORE, cell])
        information += table[INFORMATION, cell]
        tilt += table[INFORMATION, cell] * table[LOG_ODDS, cell]
    for cell in range(k + 1):
        table[TILT, cell] = table[LOG_ODDS, cell] - tilt / information
    return k + 1


@njit(error_model="numpy", inline="always")
def _fill_end(
    scores: Floats,
    cum_hit: Floats,
    cum_row: Floats,
    cum_square: Floats,
    side: int,
    end: Floats,
    counts: Floats,
) -> int:
    """Fill what the lower (0) or the upper (1) end adds; return the rank where it stops."""
    g, n = scores.shape[0], cum_row[-1]
    step = -1 if side else 1
    i = g - 1 if side else 0
    inside, expected, summed = (g if side else 0), 0.0, 0.0
    while 0 <= i < g:
        score = scores[i]
        surprise = 1.0 - score if side else score
        while 0 <= i < g and scores[i] == score:
            summed += surprise * (cum_row[i + 1] - cum_row[i])
            i += step
        if summed > _END:
            break
        inside, expected = (i + 1 if side else i), summed
    first, last = (inside, g) if side else (0, inside)
    rows = cum_row[last] - cum_row[first]
    hits = cum_hit[last] - cum_hit[first]
    surprises = rows - hits if side else hits
    scale = (cum_square[last] - cum_square[first]) / rows if rows > 0.0 else 1.0
    counts[0, side], counts[1, side] = rows / scale, surprises / scale
    counts[2, side], counts[3, side] = expected / scale, scale
    excess = surprises - expected
    if excess > 0.0:
        square = excess * excess
        surprises *= scale
        end[L1], end[L1_VARIANCE] = excess / n, surprises / n / n
        if square > surprises:
            end[SQUARE] = (square - surprises) / rows / n
        end[SQUARE_VARIANCE] = 4.0 * square * surprises / rows / n / rows / n
    return inside
