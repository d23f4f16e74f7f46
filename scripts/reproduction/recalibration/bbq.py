"""Bayesian binning into quantiles, BBQ (Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017, §4.1).

An average of equal-mass histogram binnings M with B = n^(1/3)/10 … 10·n^(1/3) bins, each weighted
by its marginal likelihood under a Beta(α_b, β_b) prior of each bin's rate:

    P(D | M) = Π_b  Γ(N'/B)/Γ(n_b + N'/B) · Γ(m_b + α_b)/Γ(α_b) · Γ(n_b - m_b + β_b)/Γ(β_b)

with n_b samples and m_b hits in bin b, N' = 2, α_b = N'/B·p_b, β_b = N'/B·(1 - p_b), p_b the middle
of the bin. A binning gives a score in bin b the posterior mean (m_b + α_b)/(n_b + N'/B).
"""

import numpy as np
from scipy.special import gammaln, softmax

from reproduction.recalibration.binary import Steps

PRIOR_SAMPLES = 2.0  # N'
RANGE = 10.0  # of the numbers of bins, about the cube root of n


def bbq(scores: np.ndarray, hits: np.ndarray) -> Steps:
    """Return the ``Steps``, with edges midway between scores; equal scores share a bin."""
    n = len(scores)
    distinct, group, count = np.unique(scores, return_inverse=True, return_counts=True)
    between = (distinct[:-1] + distinct[1:]) / 2
    n_up_to = np.append(0, np.cumsum(count))
    hits_up_to = np.append(0.0, np.cumsum(np.bincount(group, weights=hits)))
    outer = np.concatenate([[0.0], between, [1.0]])
    models = [
        _binning(n_bins, n_up_to, hits_up_to, outer)
        for n_bins in range(
            max(1, int(n ** (1 / 3) / RANGE)), min(n, int(np.ceil(n ** (1 / 3) * RANGE))) + 1
        )
    ]
    weights = softmax([log_likelihood for _, _, log_likelihood in models])
    jumps = np.zeros(len(distinct))
    for (firsts, rates, _), weight in zip(models, weights, strict=True):
        jumps[firsts] += weight * np.diff(rates, prepend=0.0)
    changes = np.flatnonzero(jumps[1:])
    values = np.clip(np.cumsum(jumps)[np.append(0, changes + 1)], 0.0, 1.0)
    return Steps(between[changes], values)


def _binning(
    n_bins: int, n_up_to: np.ndarray, hits_up_to: np.ndarray, outer: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (first distinct score of each bin, its posterior mean, log marginal likelihood)."""
    ranks = np.arange(1, n_bins) * n_up_to[-1] / n_bins
    inner = np.searchsorted(n_up_to, ranks)
    ends = np.unique(np.concatenate([[0], inner, [len(n_up_to) - 1]]))
    n, m = np.diff(n_up_to[ends]), np.diff(hits_up_to[ends])
    prior = PRIOR_SAMPLES / len(n)
    middle = np.clip((outer[ends[:-1]] + outer[ends[1:]]) / 2, 2.0**-53, 1 - 2.0**-53)
    alpha, beta = prior * middle, prior * (1 - middle)
    terms = gammaln(prior) - gammaln(n + prior) + gammaln(m + alpha) - gammaln(alpha)
    terms += gammaln(n - m + beta) - gammaln(beta)
    return ends[:-1], (m + alpha) / (n + prior), terms.sum()
