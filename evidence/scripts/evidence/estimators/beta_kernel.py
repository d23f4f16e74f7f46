"""The Beta-kernel estimate of Popordanoska, Sayer and Blaschko (NeurIPS 2022), leave-one-out.

    (1/n Σ |c_i − s_i|^p)^(1/p),  c_i = Σ_{j≠i} y_j k(s_i; s_j) / Σ_{j≠i} k(s_i; s_j)

k(s; t) is the density at s of Beta(t/h + 1, (1 − t)/h + 1). The bandwidth h is the one of greatest
leave-one-out likelihood of the scores among the authors' twenty, judged on at most 200 scores at
equal steps of rank, where the authors judge on all: above 200 samples h, and with it the estimate,
may differ from theirs (0.045 instead of 0.061 on 1500 rows of a network). Scores are kept 2^-53
away from 0 and 1. Costs O(n²), less where h is small.
"""

import math

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.simd import LANES, copies, first_true, load, store, sum_of_lanes
from calbias.engine.sorted_batch import Estimates, SortedBatch
from evidence.lane_functions import exp_of, log_gamma_of, padded

TARGET = "lp"
BINS = "none"
QUADRATIC = True

BANDWIDTHS = np.concatenate([np.logspace(-5, -1, 15), np.linspace(0.2, 1.0, 5)])
_MOST_JUDGED = 200
_NEGLIGIBLE = -45.0  # log of a kernel relative to a neighbour's


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    scores, labels = data.scores, data.hits()
    estimates = np.empty(scores.shape[0])
    step = -(-scores.shape[1] // _MOST_JUDGED)
    for row in range(scores.shape[0]):
        bandwidth = best_bandwidth(scores[row, ::step].copy(), BANDWIDTHS)
        estimates[row] = _mean_power(scores[row], labels[row], bandwidth, norm) ** (1.0 / norm)
    return estimates, np.zeros(estimates.shape, np.int64)


@njit(error_model="numpy")
def best_bandwidth(scores: np.ndarray, bandwidths: np.ndarray) -> float:
    """Return the bandwidth of greatest leave-one-out likelihood; the first for a single score."""
    best, best_likelihood = bandwidths[0], -np.inf
    fitted, log_density = np.empty(scores.shape[0]), np.empty(scores.shape[0])
    for bandwidth in bandwidths:
        _leave_one_out(scores, scores, bandwidth, fitted, log_density)
        likelihood = 0.0
        for i in range(log_density.shape[0]):
            likelihood += log_density[i]
        if likelihood > best_likelihood:
            best, best_likelihood = bandwidth, likelihood
    return best


@njit(error_model="numpy")
def _mean_power(scores: np.ndarray, labels: np.ndarray, bandwidth: float, norm: float) -> float:
    n = scores.shape[0]
    fitted, log_density = np.empty(n), np.empty(n)
    _leave_one_out(scores, labels, bandwidth, fitted, log_density)
    total = 0.0
    for i in range(n):
        total += abs(fitted[i] - scores[i]) ** norm
    return total / n


@njit(error_model="numpy")
def _leave_one_out(
    scores: np.ndarray,
    labels: np.ndarray,
    bandwidth: float,
    fitted: np.ndarray,
    log_density: np.ndarray,
) -> None:
    """Fill the regression on the other samples, and the log of the sum of their kernels, each (n,).

    Scores ascend. The log of a kernel is concave in its sample's score: kernels above e^-45 of a
    neighbour's are those of consecutive samples, and the others are left out. A single sample has
    no other: its fit is its own score.
    """
    n = scores.shape[0]
    if n == 1:
        fitted[0], log_density[0] = scores[0], -np.inf
        return
    size = padded(n)
    t, y, log_beta = np.empty(size), np.empty(size), np.empty(size)
    for j in range(size):
        t[j], y[j] = scores[min(j, n - 1)], labels[min(j, n - 1)]
    constant = math.lgamma(1.0 / bandwidth + 2.0)
    for k in range(0, size, LANES):
        a, b = load(t, k) / bandwidth + 1.0, (1.0 - load(t, k)) / bandwidth + 1.0
        store(log_beta, k, log_gamma_of(a) + log_gamma_of(b) - constant)
    for j in range(n, size):
        log_beta[j] = np.inf
    for i in range(n):
        inside = min(max(scores[i], 2.0**-53), 1.0 - 2.0**-53)
        at_0 = math.log1p(-inside) / bandwidth
        slope = math.log(inside) / bandwidth - at_0
        kept, log_beta[i] = log_beta[i], np.inf
        top = -np.inf
        if i > 0:
            top = t[i - 1] * slope + at_0 - log_beta[i - 1]
        if i + 1 < n:
            top = max(top, t[i + 1] * slope + at_0 - log_beta[i + 1])
        total = hits = copies(0.0)
        middle = i // LANES * LANES
        for start, end, step in ((middle, size, LANES), (middle - LANES, -1, -LANES)):
            for k in range(start, end, step):
                power = (load(t, k) * slope + (at_0 - top)) - load(log_beta, k)
                if k != middle and first_true(power > _NEGLIGIBLE) == LANES:
                    break
                kernel = exp_of(power)
                total, hits = total + kernel, hits + kernel * load(y, k)
        log_beta[i] = kept
        density = sum_of_lanes(total)
        fitted[i] = sum_of_lanes(hits) / density
        log_density[i] = top + math.log(density)
