"""Piecewise curves on cells: between change points a curve is calibrated or a line in the log odds.

A line is h = x₀ + x₁ (L − mean L), x ~ N(0, s² 1), with s = 0.3 or 1 with probability ½; x₁ is 0 on
fewer than three cells. The evidence of a segment is by Laplace's approximation in two dimensions,
all segments at once. Backward sums give the evidence of all segmentations, forward draws with fixed
random numbers their posterior.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calbias.engine.posterior_cells import HITS, LOG_ODDS, SIZE, Errors, Floats, errors_of_curves

Ints = NDArray[np.int64]

_SPREADS = np.array([0.3, 1.0])
_ITERATIONS, _LONGEST_STEP, _ENOUGH = 20, 1.0, 1e-3
_SEED = 0x5E97


@lru_cache(maxsize=8)
def _uniforms(n_cells: int, draws: int) -> Floats:
    """Return the random numbers of the draws, (D, 2K); the first column is stratified."""
    generator = np.random.Generator(np.random.Philox(_SEED))
    numbers = generator.random((draws, 2 * n_cells))
    numbers[:, 0] = (np.arange(draws) + 0.5) / draws
    numbers.flags.writeable = False
    return numbers


def segmentations(
    table: Floats, priors: Sequence[tuple[float, int]], draws: int
) -> tuple[Floats, Errors]:
    """Return log evidence (P,) and Errors (P, D) of drawn curves for cells (8, K).

    Of P priors (π, B): change points at B edges on average, and a segment calibrated with
    probability π. The evidence is relative to the calibrated model.
    """
    n = table.shape[1]
    if n == 0:
        return np.zeros(len(priors)), Errors(*np.zeros((3, len(priors), draws)))
    first, last = (cells.astype(np.int64) for cells in np.triu_indices(n))
    evidence, modes, covariance = _segments(table, first, last)
    place = np.zeros((n, n), np.int64)
    place[first, last] = np.arange(first.size)
    calibrated = np.array([pi for pi, _ in priors])[:, None]
    rate = np.minimum(np.array([count for _, count in priors]) / n, 0.5)
    stay, move = np.log1p(-rate)[:, None], np.log(rate)[:, None]
    with np.errstate(divide="ignore"):  # log 0
        each = np.stack(
            np.broadcast_arrays(
                np.log(calibrated), *(np.log(0.5 * (1.0 - calibrated)) + evidence[:, None, :])
            )
        )  # calibrated, or a line of either spread: (3, P, segments)
    whole = np.logaddexp.reduce(each, axis=0)
    backward = np.zeros((len(priors), n + 1))
    upto = np.ones((len(priors), n, n))  # share of segments from a cell that end at or before
    for cell in range(n - 1, -1, -1):
        ends = np.arange(cell, n)
        terms = whole[:, place[cell, cell:]] + stay * (ends - cell) + backward[:, cell + 1 :]
        terms = terms + np.where(ends < n - 1, move, 0.0)
        backward[:, cell] = np.logaddexp.reduce(terms, axis=1)
        upto[:, cell, :cell] = 0.0
        upto[:, cell, cell:] = np.cumsum(np.exp(terms - backward[:, cell, None]), axis=1)
    upto[:, :, -1] = 1.0
    prior, draw = (x.ravel() for x in np.indices((len(priors), draws)))
    numbers = _uniforms(n, draws)
    drawn = []  # draws, segments, spreads
    begin = np.zeros(prior.size, np.int64)
    for step in range(n):
        rows = np.flatnonzero(begin < n)
        if not rows.size:
            break
        k = prior[rows]
        u, v = numbers[draw[rows], 2 * step], numbers[draw[rows], 2 * step + 1]
        end = np.sum(upto[k, begin[rows]] <= u[:, None], axis=1)
        segment = place[begin[rows], end]
        shares = np.cumsum(np.exp(each[:, k, segment] - whole[k, segment]), axis=0)
        kind = np.sum(shares[:2] <= v, axis=0)
        drawn.append(np.stack([rows, segment, kind - 1])[:, kind > 0])
        begin[rows] = end + 1
    row, segment, spread = np.concatenate(drawn, axis=1)
    used, index = np.unique(segment * 2 + spread, return_inverse=True)
    of_used = _errors(table, first, last, modes, covariance, used)
    sums = np.array([np.bincount(row, x[index], prior.size) for x in of_used], np.float64)
    return backward[:, 0], Errors(*sums.reshape(3, len(priors), draws))


def _errors(
    table: Floats, first: Ints, last: Ints, modes: Floats, covariance: Floats, used: Ints
) -> Errors:
    """Return the Errors of the segments ``used``, each within its cells."""
    segment, spread = used // 2, used % 2
    inside, tilt = _basis(table, first[segment], last[segment])
    basis = np.stack([inside, tilt], axis=-1)  # (V, K, 2)
    f = (basis @ modes[spread, segment][..., None])[..., 0]
    s = basis @ covariance[spread, segment] @ np.swapaxes(basis, 1, 2)
    return errors_of_curves(table, f, s, inside)


def _basis(table: Floats, first: Ints, last: Ints) -> tuple[Floats, Floats]:
    """Return 1 in the cells of each segment, and there L − mean L, (S, K); 0 elsewhere."""
    cell = np.arange(table.shape[1])
    inside = ((cell >= first[:, None]) & (cell <= last[:, None])).astype(np.float64)
    mean = inside @ table[LOG_ODDS] / inside.sum(axis=1)
    return inside, inside * (table[LOG_ODDS] - mean[:, None])


def _segments(table: Floats, first: Ints, last: Ints) -> tuple[Floats, Floats, Floats]:
    """Return log evidence (2, S), mode (2, S, 2) and covariance (2, S, 2, 2) of lines."""
    inside, tilt = _basis(table, first, last)
    size, hits, log_odds = table[SIZE] * inside, table[HITS] * inside, table[LOG_ODDS]
    is_line = last - first >= 2
    precision = (1.0 / _SPREADS**2)[:, None]
    x0, x1 = np.zeros((2, len(_SPREADS), first.size))
    moving = np.ones(x0.shape, bool)
    for _ in range(_ITERATIONS):
        p = expit(log_odds + x0[..., None] + x1[..., None] * tilt)
        share = size * p
        weight, gap = share * (1.0 - p), hits - share
        g0 = gap.sum(axis=-1) - precision * x0
        g1 = is_line * (np.einsum("tsk,sk->ts", gap, tilt) - precision * x1)
        h00 = weight.sum(axis=-1) + precision
        h01 = is_line * np.einsum("tsk,sk->ts", weight, tilt)
        h11 = is_line * np.einsum("tsk,sk->ts", weight, tilt**2) + precision
        determinant = h00 * h11 - h01**2
        step0, step1 = (h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant
        longest = np.maximum(np.maximum(abs(step0), abs(step1)), _LONGEST_STEP)
        shorter = moving * _LONGEST_STEP / longest
        x0, x1 = x0 + shorter * step0, x1 + shorter * step1
        moving &= step0 * g0 + step1 * g1 >= _ENOUGH
        if not moving.any():
            break
    f = x0[..., None] * inside + x1[..., None] * tilt
    likelihood = hits * f - size * np.log1p(expit(log_odds) * np.expm1(f))
    evidence = np.sum(likelihood, axis=-1) - 0.5 * precision * (x0**2 + x1**2)
    evidence -= 0.5 * np.log(determinant / precision**2)
    entries = (h11, -h01, -h01, is_line * h00)
    covariance = np.stack([x / determinant for x in entries], axis=-1)
    return evidence, np.stack([x0, x1], axis=-1), covariance.reshape(*x0.shape, 2, 2)
