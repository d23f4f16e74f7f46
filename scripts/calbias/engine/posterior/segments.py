"""Piecewise curves on cells: between change points a curve is calibrated or a line in the log odds.

``segment_fits`` has the line of a segment, for s = 0.3 or 1 with probability ½. Backward sums give
the evidence of all segmentations, forward draws their posterior.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.lane_functions import padded
from calbias.engine.posterior.cells import LOG_ODDS, Floats
from calbias.engine.posterior.functions import exp, log
from calbias.engine.posterior.moments import N_MOMENTS, fill_moments
from calbias.engine.posterior.segment_fits import (
    EVIDENCE,
    N_COLUMNS,
    S00,
    S01,
    S11,
    X0,
    X1,
    fit_segments,
)
from calbias.engine.simd import LANES

SPREADS = np.array([0.3, 1.0])
DRAWS = 400
_SEED = 0x5E97


@lru_cache(maxsize=8)
def uniforms(n_cells: int, draws: int = DRAWS) -> Floats:
    """Return the random numbers of the draws, (D, 2K); the first column is stratified."""
    generator = np.random.Generator(np.random.Philox(_SEED))
    numbers = generator.random((draws, 2 * n_cells))
    numbers[:, 0] = (np.arange(draws) + 0.5) / draws
    numbers.flags.writeable = False
    return numbers


def segmentations(
    table: Floats, priors: Sequence[tuple[float, int]], draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """Return log evidence (P,) and moments (P, D, 7) of drawn curves for cells (8, K), K ≥ 1.

    Of P priors (π, B): change points at B edges on average, and a segment calibrated with
    probability π. The evidence is relative to the calibrated model; ``fill_moments`` has the
    moments.
    """
    n = table.shape[1]
    fits = np.zeros((n, n, SPREADS.size, N_COLUMNS))
    moments = np.full((n, n, SPREADS.size, N_MOMENTS), np.nan)
    width = padded(n + 1)
    square, rows = np.zeros((3, n, width)), np.zeros((13, width))
    fit_segments(table, SPREADS, fits, np.zeros(n + LANES), np.zeros((N_COLUMNS, LANES)))
    evidence = np.empty(len(priors))
    drawn = np.empty((len(priors), draws, N_MOMENTS))
    for k, (calibrated, count) in enumerate(priors):
        rate = min(count / n, 0.5)
        numbers = uniforms(n, draws)
        evidence[k] = draw_segmentations(
            table, fits, float(calibrated), rate, numbers, moments, drawn[k], square, rows
        )
    return evidence, drawn


@njit(error_model="numpy")
def draw_segmentations(
    cells: Floats,
    fits: Floats,
    calibrated: float,
    rate: float,
    numbers: Floats,
    known: Floats,
    drawn: Floats,
    square: Floats,
    rows: Floats,
) -> float:
    """Fill ``drawn`` (D, 7) with moments of drawn segmentations; return their log evidence.

    A segment is calibrated with probability ``calibrated``; an edge between cells is a change point
    with probability ``rate``. ``known`` (K, K, 2, 7) keeps the moments of segments, NaN at first.
    ``square`` (3, K, W) and ``rows`` (13, W), which begins with zeros, are scratch; W is at least
    K + 1, in whole vectors.
    """
    n = cells.shape[1]
    backward, terms, segment, shares = rows[11], rows[12], square[0], square[2]
    stay, move = log(1.0 - rate), log(rate)
    for first in range(n - 1, -1, -1):
        for last in range(first, n):
            total = calibrated
            largest = max(fits[first, last, 0, EVIDENCE], fits[first, last, 1, EVIDENCE], 0.0)
            total *= exp(-largest)
            for s in range(2):
                total += 0.5 * (1.0 - calibrated) * exp(fits[first, last, s, EVIDENCE] - largest)
            segment[first, last] = largest + log(total)
            terms[last] = segment[first, last] + stay * (last - first) + backward[last + 1]
            terms[last] += move if last < n - 1 else 0.0
        backward[first] = _log_sum(terms, first, n)
        for last in range(first, n):
            log_share = segment[first, last] + stay * (last - first) + backward[last + 1]
            log_share += (move if last < n - 1 else 0.0) - backward[first]
            shares[first, last] = exp(log_share)
    start: Any = np.int64(0)  # 0 alone would be a type with kernels for itself
    for draw in range(drawn.shape[0]):
        for column in range(N_MOMENTS):
            drawn[draw, column] = 0.0
        first, used = start, 0
        while first < n:
            left, last = numbers[draw, used], first
            while True:
                left -= shares[first, last]
                if left < 0.0 or last == n - 1:
                    break
                last += 1
            share = 0.0 if calibrated == 0.0 else calibrated * exp(-segment[first, last])
            left = numbers[draw, used + 1] - share
            if left >= 0.0:
                evidence = fits[first, last, 0, EVIDENCE] - segment[first, last]
                s = 0 if left < 0.5 * (1.0 - calibrated) * exp(evidence) else 1
                if math.isnan(known[first, last, s, 0]):
                    fit, segment_moments = fits[first, last, s], known[first, last, s]
                    _fill_segment(cells, first, last, fit, segment_moments, square[1], rows)
                for column in range(N_MOMENTS):
                    drawn[draw, column] += known[first, last, s, column]
            first, used = last + 1, used + 2
    return backward[0]


@njit(error_model="numpy", inline="always")
def _log_sum(terms: Floats, first: int, n: int) -> float:
    largest = terms[first]
    for k in range(first, n):
        largest = max(largest, terms[k])
    total = 0.0
    for k in range(first, n):
        total += exp(terms[k] - largest)
    return largest + log(total)


@njit(error_model="numpy", inline="always")
def _fill_segment(
    cells: Floats,
    first: int,
    last: int,
    fit: Floats,
    moments: Floats,
    covariance: Floats,
    rows: Floats,
) -> None:
    """Fill the moments of one segment's line."""
    n = last - first + 1
    f, mean = rows[4], 0.0
    for k in range(first, last + 1):
        mean += cells[LOG_ODDS, k] / n
    for i in range(n):
        a = cells[LOG_ODDS, first + i] - mean
        f[i] = fit[X0] + fit[X1] * a
        for j in range(n):
            b = cells[LOG_ODDS, first + j] - mean
            covariance[i, j] = fit[S00] + (a + b) * fit[S01] + a * b * fit[S11]
        covariance[i, i] = max(covariance[i, i], 1e-300)
    fill_moments(cells, first, n, rows, covariance, moments)
