"""Errors finer than the cells: independent deviations of fine cells from a smooth curve.

    y_j ~ Binomial(n_j, σ(L_j + f(u_j) + δ_j)),  δ_j = 0 with probability π, else ~ N(±m, (m/2)²)

f is the posterior mean of a class of curves on the coarse cells; π = 0 … 0.99 and m = 0.15 … 1.2
are averaged by their evidence. Fine cells are the distinct scores where these have ten rows each on
average, else 50 rows each, at most 1000: a fault at a single value of a forest, or in a narrow
range of scores, is seen here that the coarse cells average away.
"""

import math

import numpy as np
from scipy.special import expit

from calbias.engine.posterior.cells import (
    HITS,
    LOG_ODDS,
    SCORE,
    SIZE,
    WEIGHT,
    Cells,
    Floats,
    cells_of,
)
from calbias.engine.posterior.moments import (
    FOURTH,
    MEAN,
    N_MOMENTS,
    QUANTILES,
    SQUARE_MEAN,
    SQUARE_STEP,
    SQUARE_VARIANCE,
    STEP,
    VARIANCE,
)

_MOST, _ROWS, _ROWS_OF_VALUE = 1000, 50, 10
_CALIBRATED = np.array([0.0, 0.5, 0.8, 0.9, 0.95, 0.99])  # π
_SIZES = np.array([0.15, 0.3, 0.6, 1.2])  # m
_ITERATIONS, _LONGEST_STEP = 8, 1.0
_NORMAL = np.concatenate([-QUANTILES, QUANTILES])


def fine_cells(
    scores: Floats, cum_hit: Floats, cum_row: Floats | None, cum_square: Floats | None, coarse: Cells
) -> Cells:
    """Return fine cells of arrays as of ``cells_of``, or the ``coarse`` ones where these are finer."""
    most, most_values = (min(_MOST, int(coarse.n / rows)) for rows in (_ROWS, _ROWS_OF_VALUE))
    cells = cells_of(scores, cum_hit, max(most, 1), most_values, cum_row, cum_square)
    return cells if cells.table.shape[1] > coarse.table.shape[1] else coarse


def deviating(table: Floats, shifts: Floats, shared: Floats) -> tuple[Floats, Floats]:
    """Return the log evidence (m,) and the moments (m, 7) of deviations from a curve.

    The evidence is relative to the curve, which the table (8, J) of fine cells meets at the
    distances ``shifts`` (J,) in log odds; ``fill_moments`` has the moments. The curve's own moments
    ``shared`` (7,) give the part of the variance that all cells have in common.
    """
    score, weight = table[SCORE], table[WEIGHT]
    gain, moments = _free(table, table[LOG_ODDS] + shifts)
    absolute, square, fourth, sign, mean = moments
    fixed = abs(expit(table[LOG_ODDS] + shifts) - score)
    back = table[HITS] / table[SIZE] - score - mean
    evidence = np.empty((_CALIBRATED.size, _SIZES.size))
    filled = np.empty((_CALIBRATED.size, _SIZES.size, N_MOMENTS))
    for i, calibrated in enumerate(_CALIBRATED):
        free = math.log1p(-calibrated) + gain
        total = np.logaddexp(math.log(calibrated), free) if calibrated else free
        evidence[i] = total.sum(-1)
        share = np.exp(free - total)
        first, second, power = (
            (1.0 - share) * fixed**k + share * law
            for k, law in ((1, absolute), (2, square), (4, fourth))
        )
        row = filled[i].T
        row[MEAN], row[SQUARE_MEAN], row[FOURTH] = first @ weight, second @ weight, power @ weight
        row[VARIANCE] = (second - first**2) @ weight**2 + shared[VARIANCE]
        row[SQUARE_VARIANCE] = (power - second**2) @ weight**2 + shared[SQUARE_VARIANCE]
        row[STEP] = (share * sign * back) @ weight
        row[SQUARE_STEP] = (share * 2.0 * mean * back) @ weight
    return evidence.ravel(), filled.reshape(-1, N_MOMENTS)


def _free(table: Floats, eta: Floats) -> tuple[Floats, Floats]:
    """Return log evidence (S, J) of deviations of each size, and moments (5, S, J) of their gaps g.

    Relative to the curve with log odds ``eta`` (J,), by a Laplace approximation. The moments are
    the means of |g|, g², g⁴, sign g and g.
    """
    size, hits = table[SIZE], table[HITS]
    centre = np.concatenate([-_SIZES, _SIZES])[:, None]
    precision = 4.0 / centre**2
    deviation = np.broadcast_to(centre, (centre.size, eta.size))
    for _ in range(_ITERATIONS):
        p = expit(eta + deviation)
        slope = hits - size * p - precision * (deviation - centre)
        step = slope / (size * p * (1.0 - p) + precision)
        deviation = deviation + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    p = expit(eta + deviation)
    information = size * p * (1.0 - p)
    gain = (
        math.log(0.5)
        + hits * deviation
        + size * (np.logaddexp(0.0, eta) - np.logaddexp(0.0, eta + deviation))
        - 0.5 * (precision * (deviation - centre) ** 2 + np.log1p(information / precision))
    )
    spread = 1.0 / np.sqrt(information + precision)
    gaps = expit((eta + deviation)[..., None] + spread[..., None] * _NORMAL)
    gaps -= table[SCORE][:, None]
    laws = [abs(gaps), gaps**2, gaps**4, np.sign(gaps), gaps]
    sides = np.array([law.mean(-1) for law in laws]).reshape(5, 2, _SIZES.size, -1)
    gain = gain.reshape(2, _SIZES.size, -1)
    both = np.logaddexp(*gain)
    return both, (sides * np.exp(gain - both)).sum(1)
