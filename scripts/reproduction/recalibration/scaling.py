"""Scaling by one or two parameters: temperature scaling and Platt scaling.

**Temperature scaling** (Guo et al. 2017, section 4.2): softmax(z/T), see ``calbias.recalibration``.

**Platt scaling** (Platt 1999; Guo et al. 2017, section 4.1): q = σ(a·z + b). z is the log odds of a
class's probability, and a and b maximise the likelihood of the labels, which stand at
(N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1 and 0: Platt's guard against classes that the scores
separate.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from calbias.logits.top_label import row_blocks
from calbias.recalibration import inverse_temperature
from pipeline.logistic_line import fit_line

GRID = np.arange(1, 101) / 10
N_BINS = 15
_NEAREST = 2.0**-53, 1e-300  # to 1 and to 0: scores closer are taken there


class TemperatureScaling(NamedTuple):
    """The inverse temperature 1/T."""

    inverse: float

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return logits / T, (n, K) float64; the classes keep their order."""
        return logits.astype(np.float64) * self.inverse


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


class PlattScaling(NamedTuple):
    """The slope a and the intercept b."""

    slope: float
    intercept: float

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return σ(a·z + b) of scores (m,) in [0, 1]."""
        return expit(self.slope * _log_odds(scores) + self.intercept)


def platt_scaling(scores: np.ndarray, hits: np.ndarray) -> PlattScaling:
    """Return the ``PlattScaling`` of scores (n,) in [0, 1] and hits (n,), 0 or 1."""
    z = _log_odds(np.asarray(scores, dtype=np.float64))
    intercept, slope = fit_line(z, np.asarray(hits, dtype=np.float64), 1.0)
    return PlattScaling(slope, intercept)


def _log_odds(scores: np.ndarray) -> np.ndarray:
    near_one, near_zero = _NEAREST
    return np.log(np.maximum(scores, near_zero)) - np.log(np.maximum(1 - scores, near_one))
