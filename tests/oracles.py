"""Textbook versions of every estimator, written from the definitions, and slow.

One data set at a time, as lists of scores and of hits. Labels and their means are exact fractions;
sums are correctly rounded. Nothing here is shared with the code that is tested.
"""

import itertools
import math
from fractions import Fraction

import numpy as np


def mean_labels(scores, hits):
    """Return the labels as Fractions: each sample has the mean hit of all that share its score."""
    groups = {}
    for score, hit in zip(scores, hits, strict=True):
        groups.setdefault(score, []).append(int(hit))
    return [Fraction(sum(groups[score]), len(groups[score])) for score in scores]


def bins_of(scores, labels, binning, n_bins):
    """Return the non-empty bins in ascending order, each a list of (score, label).

    A boundary of equal-mass bins inside a group of equal scores moves to the group's nearer end.
    """
    samples = sorted(zip(scores, labels, strict=True), key=lambda sample: sample[0])
    n, bins = len(samples), [[] for _ in range(n_bins)]
    if binning == "em":
        cuts = [0, *(_moved(samples, _first_rank(k, n_bins, n)) for k in range(1, n_bins)), n]
        bins = [samples[start:end] for start, end in itertools.pairwise(cuts)]
    else:
        for sample in samples:
            k = max(k for k in range(n_bins) if k == 0 or sample[0] >= k / n_bins)
            bins[k].append(sample)
    return [samples for samples in bins if samples]


def _first_rank(k, n_bins, n):
    """Return the first rank i with floor(i·b/n) of at least k, else n."""
    return next((i for i in range(n) if i * n_bins // n >= k), n)


def _moved(samples, rank):
    """Return the nearer end of the group of equal scores that a rank divides, or the rank."""
    if rank in (0, len(samples)) or samples[rank - 1][0] != samples[rank][0]:
        return rank
    equal = [i for i, sample in enumerate(samples) if sample[0] == samples[rank][0]]
    start, end = equal[0], equal[-1] + 1
    return start if rank - start < end - rank else end


def n_bins_of(scores, labels, binning, n_bins):
    """Return the number of bins that an estimate reports."""
    if binning == "em" and len(set(scores)) < len(scores):
        return len(bins_of(scores, labels, binning, n_bins))
    return n_bins


def _mean_score(samples):
    return math.fsum(score for score, _ in samples) / len(samples)


def _mean_label(samples):
    return sum((label for _, label in samples), Fraction(0)) / len(samples)


def ece_bin(scores, labels, binning, n_bins, norm=2):
    """Return (Σ n_k/n · |f_k - y_k|^p)^(1/p) (Eq. 4)."""
    total = math.fsum(
        len(samples) / len(scores) * abs(_mean_score(samples) - float(_mean_label(samples))) ** norm
        for samples in bins_of(scores, labels, binning, n_bins)
    )
    return total ** (1 / norm)


def ece_label_binned(scores, labels, binning, n_bins, norm=2):
    """Return (1/n Σ_i |c_i - y_k(i)|^p)^(1/p) (Eq. 3)."""
    total = math.fsum(
        abs(score - float(_mean_label(samples))) ** norm
        for samples in bins_of(scores, labels, binning, n_bins)
        for score, _ in samples
    )
    return (total / len(scores)) ** (1 / norm)


def debiased_square(scores, labels, binning, n_bins):
    """Return Σ n_k/n · [(f_k - y_k)² - y_k(1 - y_k)/(n_k - 1)] over bins of two or more."""
    terms = []
    for samples in bins_of(scores, labels, binning, n_bins):
        if len(samples) > 1:
            y = float(_mean_label(samples))
            gap = _mean_score(samples) - y
            terms.append(len(samples) / len(scores) * gap**2)
            terms.append(-len(samples) / len(scores) * y * (1 - y) / (len(samples) - 1))
    return math.fsum(terms)


def sweep_bins(scores, labels, binning):
    """Return the last b of 2, 3, …, n up to which the bins' mean labels never decrease, else 1."""
    for n_bins in range(2, len(scores) + 1):
        means = [_mean_label(samples) for samples in bins_of(scores, labels, binning, n_bins)]
        if any(after < before for before, after in itertools.pairwise(means)):
            return n_bins - 1
    return len(scores)


def ece_sweep(scores, labels, binning, norm=2):
    """Return (estimate, number of bins) of Algorithm 1."""
    n_bins = sweep_bins(scores, labels, binning)
    value = ece_bin(scores, labels, binning, n_bins, norm)
    return value, n_bins_of(scores, labels, binning, n_bins)


def draw_scores_slowly(alpha, beta, n, generator):
    """Return (log c, log(1 - c)), (n,), of Beta(alpha, beta) scores from two log-Gamma variates.

    log Gamma(a) variate = log Gamma(a + 1) variate + log(U)/a, which does not underflow at small a.
    """
    log_gamma = [
        np.log(generator.standard_gamma(a + 1.0, n)) + np.log1p(-generator.random(n)) / a
        for a in (alpha, beta)
    ]
    total = np.logaddexp(*log_gamma)
    return log_gamma[0] - total, log_gamma[1] - total
