"""Vector scaling (Guo et al. 2017, section 4.2): softmax(w ∘ z + b), a weight and an intercept a
class, of greatest likelihood."""

import numpy as np

from reproduction.recalibration.softmax_regression import LinearCalibration, fit_linear


def fit(logits: np.ndarray, labels: np.ndarray) -> LinearCalibration:
    """Fit w and b to logits (n, K) and labels (n,)."""
    return fit_linear(logits, labels, diagonal=True)
