"""The upper limit of an error from the gaps of bins; the inequality is in ``interval``.

Q = Σ p (d² − v)/w is a sum of squares of nearly normal gaps d with means δ and variances v. With
a = p/w its variance and third cumulant are

    Σ a² (2 v² + 4 δ² v),   Σ a³ (8 v³ + 24 δ² v²)

For the ℓ1 error δ is taken proportional to w, where Cauchy's and Schwarz's inequality is an
equality, and Q's lower quantile is that of Pearson's third law (a Gamma law, moved) with these
moments: sums of few squares have a short lower tail. For the ℓ2 error δ is proportional to the
gaps as estimated, and the quantile is normal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtr

from calbias.samples.by_score import Floats

_ROUNDS, _ENOUGH = 60, 1e-9
_STRAIGHT = 1e-3  # skewness below which a law is normal
TINY = 1e-12


class BinnedGaps(NamedTuple):
    """Bins (b,): share of the rows, weight w, d² − v, shape of δ; v (b,) or (b, b); n."""

    share: Floats
    weight: Floats
    square: Floats
    shape: Floats
    variance: Floats
    n: float

    def limit(self, z: float, norm: int) -> float:
        """Return the upper limit of the error, z standard errors of its square above.

        It is the greatest error that the squares do not refute: δ is the shape, scaled down from
        an error of 1 until its mean, or root mean square, is the limit.
        """
        a, total = self.share / self.weight, float(self.share @ self.weight)
        variance, third, variance_of_scale, third_of_scale = self._cumulants(a)
        mean, square, fourth = (float(self.share @ self.shape**k) for k in (1, 2, 4))
        observed, limit = float(a @ self.square), 1.0
        size = max(mean if norm == 1 else math.sqrt(square), TINY)
        for _ in range(_ROUNDS):
            before, scale = limit, (limit / size) ** 2
            variance_at_scale = variance + scale * variance_of_scale
            if norm == 1:
                spread = scale * max(square - mean**2, 0.0)
                variance_at_scale += scale * (2.0 * mean / total) ** 2 * spread / self.n
                skewness = (third + scale * third_of_scale) / max(variance_at_scale, TINY**2) ** 1.5
            else:
                variance_at_scale += scale**2 * max(fourth - square**2, 0.0) / self.n
                skewness = 0.0
            q = observed + lower_quantile(z, skewness) * math.sqrt(variance_at_scale)
            limit = min(math.sqrt(max(total * q, 0.0)), 1.0)
            if limit >= before * (1.0 - _ENOUGH):
                break
        return limit

    def _cumulants(self, a: Floats) -> tuple[float, float, float, float]:
        """Return the variance and third cumulant at δ = 0, and what the square of scale adds."""
        root = np.sqrt(a)
        x = root * self.shape
        if self.variance.ndim == 1:
            one = a * self.variance
            two, products = one**2, x**2
            sums = (two, two * one, products * one, products * two)
        else:
            one = self.variance * np.outer(root, root)
            two, products = one @ one, np.outer(x, x)
            sums = (one**2, two * one, products * one, products * two)
        values = (float(np.sum(each)) for each in sums)
        v, third, variance_of_scale, third_of_scale = values
        return 2.0 * v, 8.0 * third, 4.0 * variance_of_scale, 24.0 * third_of_scale


def lower_quantile(z: float, skewness: float) -> float:
    """Return how far below the mean Pearson's third law has the tail of z, in deviations."""
    if skewness < _STRAIGHT:
        return z
    k = 4.0 / skewness**2
    return (k - float(gammaincinv(k, ndtr(-z)))) / math.sqrt(k)
