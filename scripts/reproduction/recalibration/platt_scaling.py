"""Platt scaling (Platt 1999; Guo et al. 2017, section 4.1): q = σ(a·z + b).

z is the log odds of a class's probability, and a and b maximise the likelihood of the labels, which
stand at (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1 and 0: Platt's guard against classes that the
scores separate.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from calbias.recalibration.logistic import fit_shift, newton_line

_NEAREST = 2.0**-53, 1e-300  # to 1 and to 0: scores closer are taken there


class PlattScaling(NamedTuple):
    """The slope a and the intercept b."""

    slope: float
    intercept: float

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return σ(a·z + b) of scores (m,) in [0, 1]."""
        return expit(self.slope * _log_odds(scores) + self.intercept)


def platt_scaling(scores: np.ndarray, hits: np.ndarray) -> PlattScaling:
    """Return the ``PlattScaling`` of scores (n,) in [0, 1] and hits (n,), 0 or 1.

    Where all scores are equal the slope is 1.
    """
    z, hits = _log_odds(np.asarray(scores, np.float64)), np.asarray(hits, np.float64)
    n_hits = hits.sum()
    targets = np.where(hits > 0, (n_hits + 1) / (n_hits + 2), 1 / (hits.size - n_hits + 2))
    for centre, scale in ((0.0, 1.0), (z.mean(), z.std() or 1.0)):  # far outliers want the second
        if line := newton_line((z - centre) / scale, targets):
            slope = line[1] / float(scale)
            return PlattScaling(slope, line[0] - slope * float(centre))
    return PlattScaling(1.0, fit_shift(z, targets))


def _log_odds(scores: np.ndarray) -> np.ndarray:
    near_one, near_zero = _NEAREST
    return np.log(np.maximum(scores, near_zero)) - np.log(np.maximum(1 - scores, near_one))
