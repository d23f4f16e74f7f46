"""Logits of a made-up model, for the tests of recalibration and of measures."""

import numpy as np
from scipy.special import softmax

from calbias.logits.output_file import Fold


def drawn(n=600, n_classes=4, temperature=1.0, seed=0):
    """Return a Fold whose labels follow softmax(logits / temperature)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, (n, n_classes)).astype(np.float32)
    cumulative = softmax(logits.astype(float) / temperature, axis=1).cumsum(axis=1)
    labels = (rng.random(n)[:, None] > cumulative).sum(axis=1).clip(max=n_classes - 1)
    return Fold(logits, labels)
