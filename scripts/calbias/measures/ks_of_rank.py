"""The KS error of the r-th label and of the r best labels (Gupta et al., ICLR 2021, §4).

    ks_top2         score: the 2nd largest probability; hit: the label is the 2nd class
    ks_within_top2  score: the sum of the 2 largest; hit: the label is among the 2 best classes

Tables 2 and 4 there.
"""

import numpy as np

from calbias.estimation.api import estimate

VARIANTS = {
    "ks_top2": {"rank": 2, "within": False},
    "ks_within_top2": {"rank": 2, "within": True},
}
INPUT = "probabilities"


def measure(probabilities, labels, rank, within):
    """Return the KS error, a fraction, of probabilities (n, K ≥ rank) and labels (n,)."""
    return estimate("ks", *scores_of_rank(probabilities, labels, rank, within)).value


def scores_of_rank(probabilities, labels, rank, within):
    """Return (scores, hits), each (n,), of the ``rank``-th class or of the ``rank`` best classes.

    Among classes of equal probability the first counts as the better one.
    """
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :rank]
    sorted_scores = np.take_along_axis(probabilities, best, axis=1)
    hits = best == np.asarray(labels)[:, None]
    if within:
        return np.minimum(sorted_scores.sum(axis=1), 1.0), hits.any(axis=1).astype(int)
    return sorted_scores[:, -1], hits[:, -1].astype(int)
