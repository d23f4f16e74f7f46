"""A quantile of |δ(S)|: the median E50, the 90 % quantile E90, and the supremum at level 1 (Emax).

Austin and Steyerberg, *The Integrated Calibration Index (ICI) and related metrics for quantifying
the calibration of logistic regression models* (Statistics in Medicine, 2019). Their ICI is the mean
of |δ|, the target ``lp`` with p = 1.
"""

import numpy as np


def functional(population, level=0.5):
    """Return the smallest x with P(|δ| ≤ x) ≥ level of a Population, a fraction."""
    sizes = np.abs(population.gaps)
    order = np.argsort(sizes)
    upto = np.cumsum(population.weights[order])
    at = np.searchsorted(upto, level * upto[-1] * (1.0 - 1e-12))
    return float(sizes[order][min(at, sizes.size - 1)])
