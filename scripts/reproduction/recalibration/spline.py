"""Spline recalibration (Gupta et al. 2021, section 4) of one score of a model of many classes.

The fit of one score is ``calbias.recalibration.spline``; the classes keep their order.
"""

from typing import Any

import numpy as np

from calbias.recalibration.spline import fit_binary
from reproduction.recalibration.binary import fit_one_score


def fit(
    logits: np.ndarray,
    labels: np.ndarray,
    rank: int = 1,
    within: bool = False,
    n_knots: int = 6,
    add_score: bool = True,
) -> Any:
    """Fit to the score of rank ``rank``, or to the sum of the ``rank`` largest (``within``)."""
    return fit_one_score(
        lambda scores, hits: fit_binary(scores, hits, n_knots, add_score),
        logits,
        labels,
        rank,
        within,
    )
