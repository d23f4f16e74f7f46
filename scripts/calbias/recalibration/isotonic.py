"""Isotonic regression (Zadrozny and Elkan 2002; Guo et al. 2017, section 4.1).

The nondecreasing function of least squares, by the pool-adjacent-violators algorithm.
"""

from typing import NamedTuple

import numpy as np

from calbias.samples.by_score import Scored


class Interpolated(NamedTuple):
    """Values (k,) at ascending knots (k,), linear between them and constant outside."""

    knots: np.ndarray
    values: np.ndarray

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the interpolated values at scores (m,)."""
        return np.interp(scores, self.knots, self.values)


def isotonic(sample: Scored) -> Interpolated:
    """Return the isotonic map of a sample as scikit-learn predicts it."""
    sample = sample.by_score
    values = nondecreasing(sample.hits / sample.rows, sample.rows)
    return Interpolated(sample.scores, np.clip(values, 0.0, 1.0))


def nondecreasing(labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the nondecreasing fit (m,) to labels (m,) with weights (m,).

    Each round pools every run of violators; the order of pooling does not matter.
    """
    points, size = np.ones(labels.size, np.int64), weights.astype(np.float64)
    total = labels * size
    while True:
        means = total / size
        starts = np.flatnonzero(np.append(True, means[1:] > means[:-1]))
        if starts.size == means.size:
            return np.repeat(means, points)
        total, size, points = (np.add.reduceat(x, starts) for x in (total, size, points))
