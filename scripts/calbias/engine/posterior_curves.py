"""Calibration curves on cells by Laplace's approximation: Gaussian processes and piecewise lines.

**Gaussian processes.**

    y_k ~ Binomial(n_k, σ(L_k + f_k)),  f ~ N(0, C),  C_ij = τ²(1 + t_i t_j) + s² M(|u_i − u_j|/ℓ)

with the Matérn function M(d) = (1 + √5 d + 5d²/3) e^(−√5 d). All models are fitted at once, as one
stack of linear systems (Rasmussen and Williams 2006, algorithms 3.1 and 5.1): with the weights
W = n p(1 − p) and C a = f, Newton's next point solves (1 + W C) a = W f + y − n p. A step is halved
where the posterior falls. The evidence is the height of the mode less ½ log |1 + W C|.

**Piecewise curves.** Between change points a curve is calibrated or a line in the log odds,
h = x₀ + x₁ (L − mean L), x ~ N(0, s² 1), with s = 0.3 or 1 with probability ½; x₁ is 0 on fewer
than three cells. The evidence of a segment is by Laplace's approximation in two dimensions, all
segments at once. Backward sums give the evidence of all segmentations, forward draws with fixed
random numbers their posterior.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calbias.engine.posterior_cells import (
    HITS,
    LOG_ODDS,
    PLACE,
    SIZE,
    TILT,
    Errors,
    Floats,
    errors_of_curves,
)

Ints = NDArray[np.int64]

_ITERATIONS, _HALVINGS = 50, 25
_ENOUGH = 1e-8  # of log probability: steps that gain less are the last
_LEAST_WEIGHT = 1e-12


class Fits(NamedTuple):
    """Fitted curves on cells; each row is one model.

    Attributes
    ----------
    evidence : ndarray (M,)
        Log evidence relative to the calibrated model.
    modes, deviations : ndarray (M, K)
        Posterior mode and standard deviation of f, the curve's distance in log odds.
    covariances : ndarray (M, K, K)
        Of f.
    """

    evidence: Floats
    modes: Floats
    deviations: Floats
    covariances: Floats


def fit_curves(table: Floats, models: Floats) -> Fits:
    """Return the Fits of models (M, 3), rows of τ, s and ℓ, to the table of cells (8, K)."""
    prior = _covariances(table, models)
    f, height = _modes(table, prior)
    weight = _weights(table, f)[1]
    system = _systems(prior, weight)
    covariance = _solved(np.swapaxes(system, 1, 2), prior)
    evidence = height - 0.5 * np.linalg.slogdet(system)[1]
    spread = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 1e-300))
    return Fits(evidence, f, spread, covariance)


def _covariances(table: Floats, models: Floats) -> Floats:
    """Return C (M, K, K)."""
    line, rough, length = models.T[..., None, None]
    distance = abs(table[PLACE][:, None] - table[PLACE])
    d = np.sqrt(5.0) * distance / np.where(length > 0.0, length, 1.0)
    tilt = 1.0 + np.outer(table[TILT], table[TILT])
    return line**2 * tilt + rough**2 * (1.0 + d + d * d / 3.0) * np.exp(-d)


def _weights(table: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return y − n p and n p(1 − p), (M, K)."""
    p = expit(table[LOG_ODDS] + f)
    weight = table[SIZE] * p * (1.0 - p)
    return table[HITS] - table[SIZE] * p, np.maximum(weight, _LEAST_WEIGHT)


def _systems(prior: Floats, weight: Floats) -> Floats:
    """Return 1 + W C, (M, K, K)."""
    system = weight[..., None] * prior
    k = np.arange(prior.shape[1])
    system[:, k, k] += 1.0
    return system


def _solved(systems: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(systems, right), np.float64)


def _modes(table: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return the modes (M, K) and the log posterior there, relative to f = 0."""
    p = expit(table[LOG_ODDS])

    def heights(a: Floats, f: Floats) -> Floats:
        with np.errstate(over="ignore"):  # a step too far has height -inf, and is halved
            likelihood = table[HITS] * f - table[SIZE] * np.log1p(p * np.expm1(f))
        return np.sum(likelihood - 0.5 * a * f, axis=1)

    f = a = np.zeros(prior.shape[:2])
    best = np.zeros(len(prior))
    for _ in range(_ITERATIONS):
        residual, weight = _weights(table, f)
        new_a = _solved(_systems(prior, weight), (weight * f + residual)[..., None])
        new_f = (prior @ new_a)[..., 0]
        new_a = new_a[..., 0]
        height = heights(new_a, new_f)
        for _ in range(_HALVINGS):
            falls = height < best
            if not falls.any():
                break
            new_a[falls] = 0.5 * (new_a + a)[falls]
            new_f[falls] = 0.5 * (new_f + f)[falls]
            height = heights(new_a, new_f)
        gain = np.maximum(height - best, 0.0)
        rises = height >= best
        f, a = np.where(rises[:, None], new_f, f), np.where(rises[:, None], new_a, a)
        best = best + gain
        if gain.max(initial=0.0) < _ENOUGH:
            break
    return f, best


_SPREADS = np.array([0.3, 1.0])
_ROUNDS, _LONGEST_STEP, _CLOSE = 20, 1.0, 1e-3
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
    index_of = np.zeros((n, n), np.int64)
    index_of[first, last] = np.arange(first.size)
    pi, count = np.array(priors, float).T[..., None]
    with np.errstate(divide="ignore"):  # log 0
        lines = np.log(0.5 * (1.0 - pi)) + evidence[:, None, :]
        kinds = np.stack(np.broadcast_arrays(np.log(pi), *lines))
    levels = np.logaddexp.reduce(kinds, axis=0)
    total, upto = _ends(levels, index_of, np.minimum(count / n, 0.5))
    row, segment, spread = _drawn(kinds - levels, upto, index_of, draws)
    used, index = np.unique(segment * 2 + spread, return_inverse=True)
    used_errors = _errors(table, first, last, modes, covariance, used)
    size = len(priors) * draws
    sums = np.array([np.bincount(row, x[index], size) for x in used_errors], np.float64)
    return total, Errors(*sums.reshape(3, len(priors), draws))


def _ends(levels: Floats, index_of: Ints, rate: Floats) -> tuple[Floats, Floats]:
    """Return log evidence (P,), and (P, K, K) how probably a segment ends at a cell or before.

    ``levels`` (P, S) are the log weights of segments, ``index_of`` (K, K) the number of the one
    from a cell to another, and ``rate`` (P, 1) the probability of a change at an edge.
    """
    n = len(index_of)
    stay, move = np.log1p(-rate), np.log(rate)
    backward = np.zeros((len(levels), n + 1))
    upto = np.ones((len(levels), n, n))
    for cell in range(n - 1, -1, -1):
        ends = np.arange(cell, n)
        terms = levels[:, index_of[cell, cell:]] + stay * (ends - cell) + backward[:, cell + 1 :]
        terms = terms + np.where(ends < n - 1, move, 0.0)
        backward[:, cell] = np.logaddexp.reduce(terms, axis=1)
        upto[:, cell, :cell] = 0.0
        upto[:, cell, cell:] = np.cumsum(np.exp(terms - backward[:, cell, None]), axis=1)
    upto[:, :, -1] = 1.0
    return backward[:, 0], upto


def _drawn(log_shares: Floats, upto: Floats, index_of: Ints, draws: int) -> Ints:
    """Return (3, V): draw, segment and spread of each line in drawn segmentations.

    ``log_shares`` (3, P, S) are of a calibrated segment and of lines of either spread.
    """
    n = len(index_of)
    prior, draw = (x.ravel() for x in np.indices((len(upto), draws)))
    numbers = _uniforms(n, draws)
    lines = []
    begin = np.zeros(prior.size, np.int64)
    for step in range(n):
        rows = np.flatnonzero(begin < n)
        if not rows.size:
            break
        k = prior[rows]
        u, v = numbers[draw[rows], 2 * step], numbers[draw[rows], 2 * step + 1]
        end = np.sum(upto[k, begin[rows]] <= u[:, None], axis=1)
        segment = index_of[begin[rows], end]
        shares = np.cumsum(np.exp(log_shares[:, k, segment]), axis=0)
        kind = np.sum(shares[:2] <= v, axis=0)
        lines.append(np.stack([rows, segment, kind - 1])[:, kind > 0])
        begin[rows] = end + 1
    return np.concatenate(lines, axis=1)


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
    for _ in range(_ROUNDS):
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
        moving &= step0 * g0 + step1 * g1 >= _CLOSE
        if not moving.any():
            break
    f = x0[..., None] * inside + x1[..., None] * tilt
    likelihood = hits * f - size * np.log1p(expit(log_odds) * np.expm1(f))
    evidence = np.sum(likelihood, axis=-1) - 0.5 * precision * (x0**2 + x1**2)
    evidence -= 0.5 * np.log(determinant / precision**2)
    entries = (h11, -h01, -h01, is_line * h00)
    covariance = np.stack([x / determinant for x in entries], axis=-1)
    return evidence, np.stack([x0, x1], axis=-1), covariance.reshape(*x0.shape, 2, 2)
