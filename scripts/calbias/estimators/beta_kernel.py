"""The Beta-kernel estimate of Popordanoska, Sayer and Blaschko (NeurIPS 2022), leave-one-out.

    (1/n Σ |c_i − s_i|^p)^(1/p),  c_i = Σ_{j≠i} y_j k(s_i; s_j) / Σ_{j≠i} k(s_i; s_j)

k(s; t) is the density at s of Beta(t/h + 1, (1 − t)/h + 1). The bandwidth h is the one of greatest
leave-one-out likelihood of the scores among the authors' twenty, judged on at most 200 scores at
equal steps of rank. Scores are kept 2^-53 away from 0 and 1. Costs O(n²).
"""

import math

import numpy as np

from calbias.engine.jit import njit

VARIANTS = {"beta_kernel": {}}
TARGET = "lp"
BINS = "none"
QUADRATIC = True

BANDWIDTHS = np.concatenate([np.logspace(-5, -1, 15), np.linspace(0.2, 1.0, 5)])
_MOST_JUDGED = 200


def estimate_data_sets(data, n_bins=0, norm=2.0):
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    scores, labels = data.scores, data.hits()
    estimates = np.empty(scores.shape[0])
    step = -(-scores.shape[1] // _MOST_JUDGED)
    for row in range(scores.shape[0]):
        bandwidth = best_bandwidth(scores[row, ::step], BANDWIDTHS)
        estimates[row] = _mean_power(scores[row], labels[row], bandwidth, norm) ** (1.0 / norm)
    return estimates, np.zeros(estimates.shape, np.int64)


@njit(error_model="numpy")
def best_bandwidth(scores, bandwidths):
    """Return the bandwidth of greatest leave-one-out likelihood; the first for a single score."""
    best, best_likelihood = bandwidths[0], -np.inf
    n = scores.shape[0]
    fitted, density = np.empty(n), np.empty(n)
    for bandwidth in bandwidths:
        _leave_one_out(scores, scores, bandwidth, fitted, density)
        likelihood = 0.0
        for i in range(n):
            likelihood += math.log(density[i]) if density[i] > 0.0 else -np.inf
        if likelihood > best_likelihood:
            best, best_likelihood = bandwidth, likelihood
    return best


@njit(error_model="numpy")
def _mean_power(scores, labels, bandwidth, norm):
    n = scores.shape[0]
    fitted, density = np.empty(n), np.empty(n)
    _leave_one_out(scores, labels, bandwidth, fitted, density)
    total = 0.0
    for i in range(n):
        total += abs(fitted[i] - scores[i]) ** norm
    return total / n


@njit(error_model="numpy")
def _leave_one_out(scores, labels, bandwidth, fitted, density):
    """Fill the regression on the other samples, and the sum of their kernels, each (n,).

    Where no kernel reaches a score the regression is its neighbour's label. A single sample has
    no other: its fit is its own score.
    """
    n = scores.shape[0]
    log_beta, inside = np.empty(n), np.empty(n)
    for j in range(n):
        a, b = scores[j] / bandwidth, (1.0 - scores[j]) / bandwidth
        log_beta[j] = math.lgamma(a + 1.0) + math.lgamma(b + 1.0) - math.lgamma(a + b + 2.0)
        inside[j] = min(max(scores[j], 2.0**-53), 1.0 - 2.0**-53)
    for i in range(n):
        log_score, log1m_score = math.log(inside[i]), math.log1p(-inside[i])
        total = hits = 0.0
        for j in range(n):
            if j != i:
                power = (scores[j] * log_score + (1.0 - scores[j]) * log1m_score) / bandwidth
                if power - log_beta[j] > -750.0:  # else it is 0 in double precision
                    kernel = math.exp(power - log_beta[j])
                    total += kernel
                    hits += kernel * labels[j]
        density[i] = total
        if n == 1:
            fitted[i] = scores[i]
        elif total > 0.0:
            fitted[i] = hits / total
        else:
            fitted[i] = labels[i - 1] if i > 0 else labels[1]
