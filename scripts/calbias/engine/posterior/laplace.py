"""Laplace approximation of Gaussian curves on cells (Rasmussen and Williams 2006, algorithm 3.1).

    y_k ~ Binomial(n_k, σ(L_k + f_k)),  f ~ N(0, C),  C_ij = τ²(1 + t_i t_j) + s² M(|u_i − u_j|/ℓ)

with the Matérn function M(d) = (1 + √5 d + 5d²/3) e^(−√5 d); ℓ = 0 makes cells independent. ℓ = −a
is for M = h₀ h₀ᵀ + h₁ h₁ᵀ, with the distance in log odds, up to its sign and to first order, of the
curve a + (1 − a) p, h₀ = log(1 + a/p), and of (1 − a) p, h₁ = log(1 + a/(1 − p)). Loops go along
rows and sums have a fixed order, so that the bits do not depend on the processor.
"""

import math
from typing import Any

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.posterior.cells import (
    HITS,
    LOG_ODDS,
    PLACE,
    SCORE,
    SIZE,
    TILT,
    Floats,
)
from calbias.engine.posterior.functions import exp, expit, log, softplus
from calbias.engine.posterior.moments import fill_moments
from calbias.engine.simd import LANES, copies, load, select, store

LINE, ROUGHNESS, LENGTH = range(3)  # columns of models: τ, s, ℓ
_ITERATIONS, _HALVINGS = 50, 25
_ENOUGH = 1e-5  # of log probability: a step that gains less is the last
_LEAST_WEIGHT = 1e-12


@njit(error_model="numpy")
def fit_models(
    cells: Floats,
    models: Floats,
    evidence: Floats,
    modes: Floats,
    deviations: Floats,
    moments: Floats,
    square: Floats,
    rows: Floats,
) -> None:
    """Fit Gaussian curves, given by their rows of ``models`` (M, 3), to the table of cells (8, K).

    Fills ``evidence`` (M,), the log evidence relative to the calibrated model; ``modes`` and
    ``deviations`` (M, K), posterior mode and standard deviation of f; ``moments`` (M, 7), see
    ``fill_moments``. ``square`` (5, K, W) and ``rows`` (11, W) are zeros, for scratch; W is K
    rounded up to whole vectors, whose last lanes hold numbers that nothing depends on.
    """
    n_cells = cells.shape[1]
    matern, prior, factor, inverse = square[0], square[1], square[2], square[3]
    covariance, f, weight, root = square[4], rows[4], rows[5], rows[6]
    calibrated = _log_likelihood(cells, f, rows[7])
    length = -1.0
    first: Any = np.int64(0)  # 0 alone would be a type with kernels for itself
    for model in range(models.shape[0]):
        if models[model, LENGTH] != length:
            length = models[model, LENGTH]
            _fill_matern(cells, length, matern)
        _fill_prior(cells[TILT], matern, models[model], prior)
        best = _climb(cells, prior, calibrated, factor, rows)
        log_root = 0.0
        for k in range(n_cells):
            log_root += log(factor[k, k])
            root[k] = 1.0 / math.sqrt(weight[k])
        evidence[model] = best - log_root - calibrated
        _fill_covariance(factor, root, inverse, covariance)
        for k in range(n_cells):
            modes[model, k] = f[k]
            deviations[model, k] = math.sqrt(covariance[k, k])
        fill_moments(cells, first, n_cells, rows, covariance, moments[model])


@njit(error_model="numpy", inline="always")
def _fill_matern(cells: Floats, length: float, matern: Floats) -> None:
    places = cells[PLACE]
    for i in range(places.shape[0]):
        for j in range(places.shape[0]):
            if length < 0.0:
                p, q = cells[SCORE, i], cells[SCORE, j]
                low, high = log(1.0 - length / p), log(1.0 - length / (1.0 - p))
                matern[i, j] = low * log(1.0 - length / q) + high * log(1.0 - length / (1.0 - q))
            elif length > 0.0:
                d = math.sqrt(5.0) * abs(places[i] - places[j]) / length
                matern[i, j] = (1.0 + d + d * d / 3.0) * exp(-d)
            else:
                matern[i, j] = 1.0 if i == j else 0.0


@njit(error_model="numpy", inline="always")
def _fill_prior(tilts: Floats, matern: Floats, model: Floats, prior: Floats) -> None:
    line, rough = model[LINE] * model[LINE], model[ROUGHNESS] * model[ROUGHNESS]
    for i in range(tilts.shape[0]):
        for j in range(tilts.shape[0]):
            prior[i, j] = line * (1.0 + tilts[i] * tilts[j]) + rough * matern[i, j]


@njit(error_model="numpy", no_cpython_wrapper=True)
def _log_likelihood(cells: Floats, f: Floats, terms: Floats) -> float:
    """Return the log likelihood without the binomial coefficients; ``terms`` are scratch."""
    n = cells.shape[1]
    for k in range(0, n, LANES):
        eta = load(cells, LOG_ODDS * n + k) + load(f, k)
        size = load(cells, SIZE * n + k)
        store(terms, k, load(cells, HITS * n + k) * eta - size * softplus(eta))
    total = 0.0
    for k in range(n):
        total += terms[k]
    return total


@njit(error_model="numpy", inline="always")
def _climb(cells: Floats, prior: Floats, calibrated: float, factor: Floats, rows: Floats) -> float:
    """Move f to the mode by Newton's steps, halved where the posterior falls; return its height.

    Begins at f if its first step leads above the calibrated curve, else at that curve. Leaves the
    posterior weights W in ``weight`` and the Cholesky factor of 1 + √W C √W in ``factor``, upper.
    """
    a, new_a, new_f, b, f, weight = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    root, terms, n = rows[6], rows[7], cells.shape[1]
    best = -np.inf
    for _ in range(_ITERATIONS):
        for k in range(0, n, LANES):
            size, curve = load(cells, SIZE * n + k), load(f, k)
            p = expit(load(cells, LOG_ODDS * n + k) + curve)
            w = size * p * (1.0 - p)
            w = select(w > _LEAST_WEIGHT, w, _LEAST_WEIGHT)
            store(weight, k, w)
            store(b, k, w * curve + load(cells, HITS * n + k) - size * p)
        for k in range(n):
            root[k] = math.sqrt(weight[k])
        _factorise(prior, root, factor, n)
        _newton(prior, root, factor, b, new_a, n)
        _multiply(prior, new_a, new_f, n)
        height = _height(cells, new_a, new_f, terms)
        if best == -np.inf:
            if height < calibrated:
                for k in range(n):
                    a[k] = f[k] = 0.0
                best = calibrated
                continue
        else:
            for _ in range(_HALVINGS):
                if height >= best:
                    break
                for k in range(n):
                    new_a[k] = 0.5 * (new_a[k] + a[k])
                    new_f[k] = 0.5 * (new_f[k] + f[k])
                height = _height(cells, new_a, new_f, terms)
        gain = height - best
        if gain < 0.0:
            break
        for k in range(n):
            a[k], f[k] = new_a[k], new_f[k]
        best = height
        if gain < _ENOUGH:
            break
    return best


@njit(error_model="numpy", no_cpython_wrapper=True)
def _height(cells: Floats, a: Floats, f: Floats, terms: Floats) -> float:
    total = 0.0
    for k in range(cells.shape[1]):
        total += a[k] * f[k]
    return _log_likelihood(cells, f, terms) - 0.5 * total


@njit(error_model="numpy", inline="always")
def _factorise(prior: Floats, root: Floats, factor: Floats, n: int) -> None:
    """Fill the upper Cholesky factor of 1 + √W C √W, given ``root`` √W."""
    width = factor.shape[1]
    for i in range(n):
        start = i - i % LANES
        for k in range(start, n, LANES):
            store(factor, i * width + k, root[i] * load(prior, i * width + k) * load(root, k))
        factor[i, i] += 1.0
        for k in range(start, n, LANES):
            row = load(factor, i * width + k)
            for j in range(i):
                row = row - factor[j, i] * load(factor, j * width + k)
            store(factor, i * width + k, row)
        pivot = 1.0 / math.sqrt(max(factor[i, i], 1.0))
        for k in range(start, n, LANES):
            store(factor, i * width + k, load(factor, i * width + k) * pivot)


@njit(error_model="numpy", inline="always")
def _newton(prior: Floats, root: Floats, factor: Floats, b: Floats, a: Floats, n: int) -> None:
    """Fill a = b − √W (1 + √W C √W)⁻¹ √W C b, for which C a is Newton's next point."""
    _multiply(prior, b, a, n)
    for k in range(n):
        a[k] *= root[k]
    for i in range(n):
        a[i] /= factor[i, i]
        for k in range(i + 1, n):
            a[k] -= factor[i, k] * a[i]
    for i in range(n - 1, -1, -1):
        total = a[i]
        for k in range(i + 1, n):
            total -= factor[i, k] * a[k]
        a[i] = total / factor[i, i]
    for k in range(n):
        a[k] = b[k] - root[k] * a[k]


@njit(error_model="numpy", no_cpython_wrapper=True)
def _multiply(matrix: Floats, vector: Floats, out: Floats, n: int) -> None:
    """Fill the product of a symmetric matrix with a vector."""
    for k in range(0, n, LANES):
        total = copies(0.0)
        for i in range(n):
            total = total + load(matrix, i * matrix.shape[1] + k) * vector[i]
        store(out, k, total)


@njit(error_model="numpy", inline="always")
def _fill_covariance(factor: Floats, root: Floats, inverse: Floats, covariance: Floats) -> None:
    """Fill the posterior covariance W^−½ (1 − B⁻¹) W^−½ of B = UᵀU, U the ``factor``."""
    n, width = factor.shape
    for i in range(n):
        pivot = 1.0 / factor[i, i]
        for k in range(0, i + 1, LANES):
            store(inverse, i * width + k, copies(0.0))
        inverse[i, i] = 1.0
        for k in range(0, i + 1, LANES):
            row = load(inverse, i * width + k)
            for j in range(k, i):
                row = row - factor[j, i] * load(inverse, j * width + k)
            store(inverse, i * width + k, row * pivot)
    for j in range(n):
        for k in range(0, j + 1, LANES):
            total = copies(0.0)
            for i in range(j, n):
                total = total + inverse[i, j] * load(inverse, i * width + k)
            store(covariance, j * width + k, total)
    for i in range(n):
        for k in range(i + 1):
            value = ((1.0 if i == k else 0.0) - covariance[i, k]) * root[i] * root[k]
            covariance[i, k] = covariance[k, i] = value
        covariance[i, i] = max(covariance[i, i], 1e-300)
