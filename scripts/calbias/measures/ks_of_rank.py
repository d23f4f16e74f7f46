"""The KS error of the r-th label and of the r best labels (Gupta et al., ICLR 2021, §4).

    ks_top2         score: the 2nd largest probability; hit: the label is the 2nd class
    ks_within_top2  score: the sum of the 2 largest; hit: the label is among the 2 best classes

Tables 2 and 4 there. Among classes of equal probability the first counts as the better one.
"""

import numpy as np

from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.api import estimate_sorted
from calbias.logits.ranked import ranked_hits, ranked_probabilities

VARIANTS = {
    "ks_top2": {"rank": 2, "within": False},
    "ks_within_top2": {"rank": 2, "within": True},
}
INPUT = "probabilities"


def reduced(
    probabilities: np.ndarray, labels: np.ndarray, rank: int, within: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the (scores, hits), each (n,), that the measure depends on."""
    scores = ranked_probabilities(probabilities, rank, within)
    return scores, ranked_hits(probabilities, labels, rank, within)


def of_sorted(data: SortedBatch, rank: int, within: bool) -> float:
    """Return the KS error, a fraction."""
    return estimate_sorted("ks", data)
