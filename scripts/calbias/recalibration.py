"""The maps of a score that an audit fits: isotonic regression and temperature scaling.

**Isotonic regression** (Zadrozny and Elkan 2002; Guo et al. 2017, section 4.1): the nondecreasing
function of least squares, by the pool-adjacent-violators algorithm.

**Temperature scaling** (Guo et al. 2017, section 4.2, Eq. 9): softmax(z / T) with one T > 0 that
minimises the negative log-likelihood of the validation fold. In the inverse temperature the loss is
convex, so Newton's method, kept inside a bracket, finds the one minimum.
"""

import warnings
from typing import NamedTuple

import numpy as np

from calbias.logits.top_label import row_blocks
from calbias.scored import Scored

BOUNDS = (1e-3, 1e3)
"""Limits of the inverse temperature: T tends to 0 where every top label is a hit."""
_TOLERANCE = 1e-10


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
    return Interpolated(sample.scores, nondecreasing(sample.hits / sample.rows, sample.rows))


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


def inverse_temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """Return 1/T of least negative log-likelihood; at one of the ``BOUNDS`` with a warning."""
    low, high = BOUNDS
    inverse = 1.0
    for _ in range(200):
        slope, curvature = _derivatives(logits, labels, inverse)
        if slope > 0:
            high = inverse
        else:
            low = inverse
        step = -slope / curvature if curvature > 0 else np.inf * -np.sign(slope)
        proposal = inverse + step
        if abs(step) <= _TOLERANCE * inverse:
            return float(np.clip(proposal, *BOUNDS))
        # Outside the bracket: halve it, on the logarithmic scale that it was set up on.
        inverse = proposal if low < proposal < high else float(np.sqrt(low * high))
        if high <= low * (1 + _TOLERANCE):
            break
    warnings.warn(
        f"temperature scaling: the likelihood has no maximum for T within "
        f"[{1 / BOUNDS[1]:g}, {1 / BOUNDS[0]:g}]; T = {1 / inverse:.4g} is taken",
        stacklevel=3,
    )
    return inverse


def _derivatives(logits: np.ndarray, labels: np.ndarray, inverse: float) -> tuple[float, float]:
    """Return Σ E z - z_label and Σ Var z under softmax(inverse·z): slope and curvature."""
    slope = curvature = 0.0
    for rows in row_blocks(logits):
        z = logits[rows].astype(np.float64)
        z -= z.max(axis=1)[:, None]
        weights = np.exp(z * inverse)
        weights /= weights.sum(axis=1)[:, None]
        mean = np.einsum("ij,ij->i", weights, z)
        slope += float(mean.sum() - z[np.arange(len(z)), labels[rows]].sum())
        z -= mean[:, None]
        z *= z
        curvature += float(np.einsum("ij,ij->", weights, z))
    return slope, curvature
