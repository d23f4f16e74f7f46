"""A lower bound of the ℓ1 error from its variational form (Berta et al. 2026).

E |δ| = max over |η| ≤ 1 of E η(S)(Y − S). The rows are put into blocks at random. For each block
but the first a curve g is fitted on the blocks before it, and η = sign(g − s): the mean of
sign(g(s) − s)·(y − s) is never above E |δ| in expectation. The terms are martingale differences
about their means, so a normal lower bound comes with it. In a plain cross-validation the folds
judge each other's curves: their terms are correlated, and the bound of a calibrated model fails in
10 % of the data sets where 5 % are meant.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from calbias.auditing.error.interval import Interval
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.engine.seeding import stream
from calbias.recalibration.logistic import fit_cox, logits_of
from reproduction.judging import Sample

Floats = NDArray[np.float64]

BLOCKS = 5


def forward_terms(sample: Sample) -> Floats:
    """Return sign(g(s) − s)·(y − s) of the rows of all blocks but the first, g a Cox curve."""
    block = stream(sample.seed, "variational", str(sample.n)).permutation(sample.n) % BLOCKS
    terms, x = [], logits_of(sample.scores)
    for k in range(1, BLOCKS):
        here, past = block == k, block < k
        scores = sample.scores[here]
        a, b = fit_cox(x[past], sample.hits[past])
        curve = expit(a + b * x[here])
        terms.append(np.sign(curve - scores) * (sample.hits[here] - scores))
    return np.concatenate(terms)


def variational_bound(sample: Sample) -> Interval:
    """Return the Interval [bound, ∞) of the ℓ1 error of a Sample; 0 is the least bound."""
    terms = forward_terms(sample)
    if terms.size < 2:
        return Interval(0.0, np.inf)
    low = terms.mean() - ndtri(CONFIDENCE_LEVEL) * terms.std(ddof=1) / np.sqrt(terms.size)
    return Interval(max(float(low), 0.0), np.inf)
