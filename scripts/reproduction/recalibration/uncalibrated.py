"""No recalibration: the model's own probabilities, to compare the methods with."""

import numpy as np


class Uncalibrated:
    """The identity."""

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return the logits (n, K) as they are."""
        return logits


def fit(logits: np.ndarray, labels: np.ndarray) -> Uncalibrated:
    """Return the identity; logits (n, K) and labels (n,) are not used."""
    return Uncalibrated()
