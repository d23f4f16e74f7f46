"""Temperature scaling (Guo et al. 2017, section 4.2): softmax(z/T).

The most likely T is found by ``calbias.recalibration.temperature``.
"""

import numpy as np

from calbias.reading.top_label import row_blocks
from calbias.recalibration.temperature import TemperatureScaling, inverse_temperature

GRID = np.arange(1, 101) / 10
N_BINS = 15


def temperature_scaling(
    logits: np.ndarray, labels: np.ndarray, by: str = "likelihood"
) -> TemperatureScaling:
    """Fit 1/T to logits (n, K) and labels (n,), by likelihood or by ``ece``.

    By ``ece`` T is the one of 0.1, 0.2, …, 10 with the least ECE (15 bins of equal width; the
    smallest T of several), as Mukhoti et al. (2020) do.
    """
    if by == "ece":
        errors = [_ece(logits, labels, 1 / temperature) for temperature in GRID]
        return TemperatureScaling(float(1 / GRID[int(np.argmin(errors))]))
    return TemperatureScaling(inverse_temperature(logits, labels))


def _ece(logits: np.ndarray, labels: np.ndarray, inverse: float) -> float:
    """Return the ECE of the top label under softmax(inverse·z); bins include their upper edge."""
    totals = np.zeros(N_BINS)
    for rows in row_blocks(logits):
        z = logits[rows].astype(np.float64)
        top = z.argmax(axis=1)
        z = inverse * (z - z[np.arange(len(z)), top][:, None])
        scores = 1 / np.exp(z).sum(axis=1)
        gaps = scores - (top == labels[rows])
        bins = np.minimum(np.ceil(scores * N_BINS).astype(int) - 1, N_BINS - 1)
        totals += np.bincount(bins, gaps, N_BINS)
    return np.abs(totals).sum() / len(labels)
