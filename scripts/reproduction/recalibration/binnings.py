"""Binning methods for two classes (Guo et al. 2017, section 4.1).

**Histogram binning** (Zadrozny and Elkan 2001, Eq. 7): every score in a bin becomes its mean label.

**Isotonic regression**: see ``calbias.recalibration.isotonic``.

**Bayesian binning into quantiles, BBQ** (Naeini, Cooper and Hauskrecht 2015): an average of
equal-mass histogram binnings M with B = n^(1/3)/10 … 10·n^(1/3) bins, each weighted by its marginal
likelihood under a Beta(α_b, β_b) prior of each bin's rate:

    P(D | M) = Π_b  Γ(N'/B)/Γ(n_b + N'/B) · Γ(m_b + α_b)/Γ(α_b) · Γ(n_b - m_b + β_b)/Γ(β_b)

with n_b samples and m_b hits in bin b, N' = 2, α_b = N'/B·p_b, β_b = N'/B·(1 - p_b), p_b the middle
of the bin. A binning gives a score in bin b the posterior mean (m_b + α_b)/(n_b + N'/B).
"""

import numpy as np
from scipy.special import gammaln, softmax

from calbias.recalibration.isotonic import Interpolated, isotonic
from calbias.samples.by_score import Scored
from reproduction.recalibration.binary import Steps, bins_of

PRIOR_SAMPLES = 2.0  # N'
RANGE = 10.0  # of the numbers of bins, about the cube root of n


def histogram_binning(
    scores: np.ndarray,
    hits: np.ndarray,
    n_bins: int = 15,
    equal_mass: bool = False,
    empty_bins_zero: bool = False,
) -> Steps:
    """Return the ``Steps`` of the bins [k/b, (k+1)/b), with 1 in the last, or of equal mass.

    Of equal mass, bin k begins at the score of rank ceil(k·n/b); equal scores stay together, in the
    highest bin they reach; the lowest bin with samples reaches down to 0, as a₁ = 0 in Guo et al.
    The literature leaves open what a bin of equal width without samples gets: here its centre, or
    zero, as in the code published with the ten models.
    """
    inner = np.arange(1, n_bins)
    edges = inner / n_bins
    if equal_mass:
        n = len(scores)
        first_ranks = np.minimum(-(-inner * n // n_bins), n - 1)
        edges = np.partition(scores, first_ranks)[first_ranks]
    bins = bins_of(scores, edges)
    count = np.bincount(bins, minlength=n_bins)
    n_hits = np.bincount(bins, weights=hits, minlength=n_bins)
    centre = (np.arange(n_bins) + 0.5) / n_bins
    empty_values = np.zeros(n_bins) if empty_bins_zero else centre
    values = np.where(count > 0, n_hits / np.maximum(count, 1), empty_values)
    if equal_mass:
        values[0] = values[np.argmax(count > 0)]  # below tied lowest scores no bin has samples
    return Steps(edges, values)


def isotonic_regression(
    scores: np.ndarray, hits: np.ndarray, step: bool = False
) -> Steps | Interpolated:
    """Return the isotonic map, outside the given scores constant.

    With ``step`` it keeps the value of the next lower score between the given ones, the piecewise
    constant function of Guo et al. (2017, section 4.1).
    """
    fitted = isotonic(Scored.of(*_without_leading_misses(scores, hits)))
    return Steps(fitted.knots[1:], fitted.values) if step else fitted


def _without_leading_misses(scores: np.ndarray, hits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and hits with one miss in place of all misses below the lowest hit.

    The fit is 0 on all of them. Of a thousand classes most scores are such: sorting took long.
    """
    lowest_hit = scores.min(where=hits > 0, initial=np.inf)
    inside = scores >= lowest_hit
    highest_miss = scores.max(where=~inside, initial=-np.inf)
    if highest_miss == -np.inf:
        return scores, hits
    return np.append(scores[inside], highest_miss), np.append(hits[inside], 0.0)


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
