"""Isotonic regression (Zadrozny and Elkan 2002; Guo et al. 2017, section 4.1).

The nondecreasing function of least squares, by the pool-adjacent-violators algorithm.
"""

from typing import NamedTuple

import numpy as np


class Interpolated(NamedTuple):
    """Values (k,) at ascending knots (k,), linear between them and constant outside."""

    knots: np.ndarray
    values: np.ndarray

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the interpolated values at scores (m,)."""
        return np.interp(scores, self.knots, self.values)


def fit_binary(scores: np.ndarray, hits: np.ndarray) -> Interpolated:
    """Return the isotonic map of scores (n,) and hits (n,) as scikit-learn predicts it."""
    scores, hits = _without_leading_misses(scores, hits)
    knots, group, count = np.unique(scores, return_inverse=True, return_counts=True)
    mean_label = np.bincount(group, weights=hits) / count
    return Interpolated(knots, nondecreasing(mean_label, count))


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
