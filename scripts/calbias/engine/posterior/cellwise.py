"""Errors finer than the cells: independent deviations of fine cells from a smooth curve.

    y_j ~ Binomial(n_j, σ(L_j + f(u_j) + δ_j)),  δ_j = 0 with probability π, else ~ N(±m, (m/2)²)

f is the posterior mean of a class of curves on the coarse cells; π = 0 … 0.99 and m = 0.15 … 1.2
are averaged by their evidence. Fine cells are the distinct scores where these have ten rows each on
average, else cells of about 50 rows; at most 1000. They show a fault at a single value of a forest,
or in a narrow range of scores, which the coarse cells average away.
"""

import math

import numpy as np
from scipy.special import expit, logsumexp

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
    scores: Floats,
    cum_hit: Floats,
    cum_row: Floats | None,
    cum_square: Floats | None,
    coarse: Cells,
) -> Cells:
    """Return fine cells of arrays as of ``cells_of``, or the ``coarse`` ones if there are more."""
    most, most_values = (
        min(_MOST, int((coarse.n + 1e-6) / rows)) for rows in (_ROWS, _ROWS_OF_VALUE)
    )
    cells = cells_of(scores, cum_hit, max(most, 1), most_values, cum_row, cum_square)
    return cells if cells.table.shape[1] > coarse.table.shape[1] else coarse


def deviating(
    table: Floats, shifts: Floats, shared: Floats, least: float
) -> tuple[Floats, Floats] | None:
    """Return the log evidence (m,) and the moments (m, 7) of deviations from a curve.

    None where the evidence, relative to the curve and averaged over π and m, is not above
    ``least``. The table (8, J) is of fine cells, which the curve meets at the distances ``shifts``
    (J,) in log odds; ``fill_moments`` has the moments. The curve's own moments ``shared`` (7,) give
    the part of the variance that all cells have in common.
    """
    score, weight, eta = table[SCORE], table[WEIGHT], table[LOG_ODDS] + shifts
    sides, modes, spreads = _free(table, eta)
    gain = np.logaddexp(*sides)
    free = np.log1p(-_CALIBRATED)[:, None, None] + gain
    with np.errstate(divide="ignore"):  # log 0
        total = np.logaddexp(np.log(_CALIBRATED)[:, None, None], free)
    evidence = total.sum(-1)
    if logsumexp(evidence) - math.log(evidence.size) <= least:
        return None
    gaps = expit(eta[:, None] + modes[..., None] + spreads[..., None] * _NORMAL) - score[:, None]
    laws = (abs(gaps), gaps**2, gaps**4, np.sign(gaps), gaps)
    absolute, square, fourth, sign, mean = (
        (law.mean(-1) * np.exp(sides - gain)).sum(0) for law in laws
    )
    fixed, back = abs(expit(eta) - score), table[HITS] / table[SIZE] - score - mean
    share = np.exp(free - total)
    first, second, power = (
        (1.0 - share) * fixed**k + share * law
        for k, law in ((1, absolute), (2, square), (4, fourth))
    )
    moments = np.empty((*evidence.shape, N_MOMENTS))
    moments[..., MEAN] = first @ weight
    moments[..., SQUARE_MEAN] = second @ weight
    moments[..., FOURTH] = power @ weight
    moments[..., VARIANCE] = (second - first**2) @ weight**2 + shared[VARIANCE]
    moments[..., SQUARE_VARIANCE] = (power - second**2) @ weight**2 + shared[SQUARE_VARIANCE]
    moments[..., STEP] = (share * sign * back) @ weight
    moments[..., SQUARE_STEP] = (share * 2.0 * mean * back) @ weight
    return evidence.ravel(), moments.reshape(-1, N_MOMENTS)


def _free(table: Floats, eta: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log evidence, mode and spread, (2, S, J), of deviations to either side.

    Relative to the curve with log odds ``eta`` (J,), by a Laplace approximation.
    """
    size, hits = table[SIZE], table[HITS]
    centre = np.array([-_SIZES, _SIZES])[..., None]
    precision = 4.0 / centre**2
    mode = np.broadcast_to(centre, (2, _SIZES.size, eta.size))
    for _ in range(_ITERATIONS):
        p = expit(eta + mode)
        slope = hits - size * p - precision * (mode - centre)
        step = slope / (size * p * (1.0 - p) + precision)
        mode = mode + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    p = expit(eta + mode)
    information = size * p * (1.0 - p)
    evidence = (
        math.log(0.5)
        + hits * mode
        + size * (np.logaddexp(0.0, eta) - np.logaddexp(0.0, eta + mode))
        - 0.5 * (precision * (mode - centre) ** 2 + np.log1p(information / precision))
    )
    return evidence, mode, 1.0 / np.sqrt(information + precision)
