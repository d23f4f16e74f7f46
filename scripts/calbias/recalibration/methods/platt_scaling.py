"""Platt scaling (Platt 1999; Guo et al. 2017, section 4.1): q = σ(a·z + b).

z is the log odds of a class's probability, and a and b maximise the likelihood of the labels,
which stand at (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1 and 0: Platt's guard against classes
that the scores separate.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

VARIANTS = {"platt_scaling": {}, "platt_scaling_top_label": {"top_label_only": True}}
_NEAREST = 2.0**-53, 1e-300  # to 1 and to 0: scores closer are taken there


class PlattScaling(NamedTuple):
    """The slope a and the intercept b."""

    slope: float
    intercept: float

    def predict(self, scores):
        """Return σ(a·z + b) of scores (m,) in [0, 1]."""
        return expit(self.slope * _log_odds(scores) + self.intercept)


def fit_binary(scores, hits):
    """Return the ``PlattScaling`` of scores (n,) in [0, 1] and hits (n,), 0 or 1."""
    z, n_hits = _log_odds(scores), hits.sum()
    target = np.where(hits > 0, (n_hits + 1) / (n_hits + 2), 1 / (len(hits) - n_hits + 2))
    # Of unit scale, so that the two parameters are comparable.
    centre, scale = z.mean(), z.std() or 1.0
    design = np.stack([(z - centre) / scale, np.ones_like(z)], axis=1)

    def loss(x):
        eta = design @ x
        return -np.mean(target * log_expit(eta) + (1 - target) * log_expit(-eta))

    def gradient(x):
        return design.T @ (expit(design @ x) - target) / len(z)

    def hessian(x):
        p = expit(design @ x)
        return (design.T * (p * (1 - p))) @ design / len(z)

    rate = target.mean()
    start = np.array([0.0, np.log(rate / (1 - rate))])
    found = minimize(
        loss, start, method="trust-exact", jac=gradient, hess=hessian, options={"gtol": 1e-10}
    )
    slope = found.x[0] / scale
    return PlattScaling(float(slope), float(found.x[1] - slope * centre))


def _log_odds(scores):
    near_one, near_zero = _NEAREST
    return np.log(np.maximum(scores, near_zero)) - np.log(np.maximum(1 - scores, near_one))
