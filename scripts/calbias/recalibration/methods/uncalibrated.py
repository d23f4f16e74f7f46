"""No recalibration: the model's own probabilities, to compare the methods with."""


class Uncalibrated:
    """The identity."""

    def predict(self, logits):
        """Return the logits (n, K) as they are."""
        return logits


def fit(logits, labels):
    """Return the identity; logits (n, K) and labels (n,) are not used."""
    return Uncalibrated()
