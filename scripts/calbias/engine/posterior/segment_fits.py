"""The line of every segment of cells, by Newton's steps: eight segments at a time.

A line is h = x₀ + x₁ (L − mean L), x ~ N(0, s² 1); x₁ is 0 on fewer than three cells. The evidence
of a segment, relative to the calibrated curve, is by a Laplace approximation in two dimensions.
"""

from typing import Any

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.posterior.cells import HITS, LOG_ODDS, SIZE, Floats
from calbias.engine.posterior.functions import absolute, expit, log, softplus
from calbias.engine.simd import LANES, copies, first_true, load, select, store

EVIDENCE, X0, X1, S00, S01, S11 = range(6)  # columns of a fit: log evidence, mode, covariance
N_COLUMNS = 6
_ITERATIONS, _LONGEST_STEP, _ENOUGH = 20, 1.0, 1e-3
_LANE_NUMBERS = np.arange(float(LANES))


@njit(error_model="numpy")
def fit_segments(cells: Floats, spreads: Floats, fits: Floats, null: Floats, fit: Floats) -> None:
    """Fill ``fits`` (K, K, 2, 6) for the cells first to last, both included, and each spread.

    ``null``, at least (K + 8,), and ``fit`` (6, 8) are scratch. Each lane of a vector has another
    first cell; what a lane beyond the last cell holds is not stored.
    """
    n = cells.shape[1]
    for k in range(n):
        eta = cells[LOG_ODDS, k]
        null[k] = cells[HITS, k] * eta - cells[SIZE, k] * softplus(eta)
    numbers = load(_LANE_NUMBERS, 0)
    for s in range(spreads.shape[0]):
        precision = 1.0 / (spreads[s] * spreads[s])
        for first in range(0, n, LANES):
            x0 = x1 = total = calibrated = mean = copies(0.0)
            for more in range(n - first):
                last = first + more
                total = total + load(cells, LOG_ODDS * n + last)
                calibrated = calibrated + load(null, last)
                before, mean = mean, total / (more + 1.0)
                if more < 2:
                    x1 = copies(0.0)
                x0 = x0 + x1 * (mean - before)
                moving = numbers < float(n - last)
                x0, x1 = _climb(cells, first, more, mean, precision, x0, x1, moving, fit)
                height = -0.5 * precision * (x0 * x0 + x1 * x1) - calibrated
                for k in range(first, last + 1):
                    eta = load(cells, LOG_ODDS * n + k)
                    eta = eta + (x0 + x1 * (eta - mean))
                    size = load(cells, SIZE * n + k)
                    height = height + (load(cells, HITS * n + k) * eta - size * softplus(eta))
                store(fit, LANES * EVIDENCE, load(fit, LANES * EVIDENCE) + height)
                for lane in range(min(LANES, n - last)):
                    for column in range(N_COLUMNS):
                        fits[first + lane, last + lane, s, column] = fit[column, lane]


@njit(error_model="numpy", inline="always")
def _climb(
    cells: Floats,
    first: int,
    more: int,
    mean: Any,
    precision: float,
    x0: Any,
    x1: Any,
    moving: Any,
    fit: Floats,
) -> Any:
    """Return the modes by Newton's steps of bounded length; fill the rest of the segments' fits."""
    n, both = cells.shape[1], more >= 2
    nowhere = copies(1.0) < 0.0
    h00, h01, h11 = copies(1.0), copies(0.0), copies(1.0)
    for _ in range(_ITERATIONS):
        g0, g1 = -precision * x0, -precision * x1
        new00, new01, new11 = copies(precision), copies(0.0), copies(precision)
        for k in range(first, first + more + 1):
            eta, size = load(cells, LOG_ODDS * n + k), load(cells, SIZE * n + k)
            tilt = eta - mean
            p = expit(eta + x0 + x1 * tilt)
            weight = size * p * (1.0 - p)
            gap = load(cells, HITS * n + k) - size * p
            g0 = g0 + gap
            g1 = g1 + gap * tilt
            new00 = new00 + weight
            new01 = new01 + weight * tilt
            new11 = new11 + weight * tilt * tilt
        if not both:
            g1, new01, new11 = copies(0.0), copies(0.0), copies(precision)
        h00, h01 = select(moving, new00, h00), select(moving, new01, h01)
        h11 = select(moving, new11, h11)
        determinant = h00 * h11 - h01 * h01
        step0 = (h11 * g0 - h01 * g1) / determinant
        step1 = (h00 * g1 - h01 * g0) / determinant
        long0, long1 = absolute(step0), absolute(step1)
        longest = select(long0 > long1, long0, long1)
        share = _LONGEST_STEP / select(longest > _LONGEST_STEP, longest, _LONGEST_STEP)
        x0 = select(moving, x0 + share * step0, x0)
        x1 = select(moving, x1 + share * step1, x1)
        moving = select(step0 * g0 + step1 * g1 < _ENOUGH, nowhere, moving)
        if first_true(moving) == LANES:
            break
    determinant = h00 * h11 - h01 * h01
    store(fit, LANES * EVIDENCE, -0.5 * log(determinant / (precision * precision)))
    store(fit, LANES * X0, x0)
    store(fit, LANES * X1, x1)
    store(fit, LANES * S00, h11 / determinant)
    store(fit, LANES * S01, 0.0 - h01 / determinant)
    store(fit, LANES * S11, h00 / determinant if both else copies(0.0))
    return x0, x1
