"""A mixture of Gamma laws, each given by its mean and variance: distribution and quantiles."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, ndtri

from calbias.engine.posterior.cells import Floats

_PRECISION = 1e-9  # of a quantile relative to its bound, or of its probability as normal quantile
_FARTHEST = 9.0


class GammaMixture(NamedTuple):
    """Gamma laws with their weights; a law whose mean or variance is 0 is a point.

    Attributes
    ----------
    weights, shape, rate : ndarray (m,)
    point_weights, points : ndarray (k,)
    mean, variance : float
        Of the mixture.
    """

    weights: Floats
    shape: Floats
    rate: Floats
    point_weights: Floats
    points: Floats
    mean: float
    variance: float

    def distribution(self, x: float) -> float:
        """Return the probability of values up to ``x`` ≥ 0."""
        laws = float(self.weights @ gammainc(self.shape, self.rate * x))
        return laws + float(self.point_weights[self.points <= x].sum())

    def quantile(self, probability: float) -> float:
        """Return the quantile at a probability inside (0, 1).

        By false position (the Illinois way) between Cantelli's bounds. The cube root of a Gamma law
        is close to a normal law, so that its distance as a normal quantile is close to a line.
        """
        if self.distribution(0.0) >= probability:
            return 0.0
        odds, deviation = math.sqrt(probability / (1.0 - probability)), math.sqrt(self.variance)
        low = math.cbrt(max(self.mean - deviation / odds, 0.0))
        high = middle = math.cbrt(self.mean + deviation * odds)
        below, above = (self._distance(root, probability) for root in (low, high))
        precision, last = _PRECISION * high, 0.0
        while high - low > precision and above > 0.0:
            middle = min(max((low * above - high * below) / (above - below), low), high)
            value = self._distance(middle, probability)
            if abs(value) < _PRECISION:
                break
            if value > 0.0:
                below = below / 2 if last > 0.0 else below
                high, above = middle, value
            else:
                above = above / 2 if last < 0.0 else above
                low, below = middle, value
            last = value
        return middle**3

    def _distance(self, root: float, probability: float) -> float:
        z = float(ndtri(min(self.distribution(root**3), 1.0)))
        return min(max(z, -_FARTHEST), _FARTHEST) - float(ndtri(probability))


def gamma_mixture(weights: Floats, mean: Floats, variance: Floats) -> GammaMixture:
    """Return the mixture of laws (m,) with these weights, which sum to 1, means and variances."""
    laws = (mean > 0.0) & (variance > 0.0)
    rate = mean[laws] / variance[laws]
    of_all = float(weights @ mean)
    spread = float(weights @ (variance + (mean - of_all) ** 2))
    return GammaMixture(
        weights[laws],
        mean[laws] * rate,
        rate,
        weights[~laws],
        np.maximum(mean[~laws], 0.0),
        of_all,
        spread,
    )
