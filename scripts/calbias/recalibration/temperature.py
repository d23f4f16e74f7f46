"""Temperature scaling (Guo et al. 2017, section 4.2, Eq. 9).

softmax(z / T) with one T > 0 that minimises the negative log-likelihood of the validation fold. In
the inverse temperature the loss is convex, so Newton's method, kept inside a bracket, finds the one
minimum.
"""

import warnings
from typing import NamedTuple

import numpy as np

from calbias.reading.top_label import row_blocks

BOUNDS = (1e-3, 1e3)
"""Limits of the inverse temperature: T tends to 0 where every top label is a hit."""
_TOLERANCE = 1e-10


class TemperatureScaling(NamedTuple):
    """The inverse temperature 1/T."""

    inverse: float

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return logits / T, (n, K) float64; the classes keep their order."""
        return logits.astype(np.float64) * self.inverse


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
