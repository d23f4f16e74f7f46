"""Isotonic regression, see ``calbias.recalibration``.

With ``step`` the map keeps the value of the next lower score between the given ones, the piecewise
constant function of Guo et al. (2017, section 4.1).
"""

import numpy as np

from calbias import recalibration
from calbias.recalibration import Interpolated
from reproduction.recalibration.binary import Steps

VARIANTS = {
    "isotonic_regression": {},
    "isotonic_regression_step": {"step": True},
    "isotonic_regression_top_label": {"top_label_only": True},
}


def fit_binary(scores: np.ndarray, hits: np.ndarray, step: bool = False) -> Steps | Interpolated:
    """Return the isotonic map, outside the given scores constant."""
    fitted = recalibration.fit_binary(scores, hits)
    return Steps(fitted.knots[1:], fitted.values) if step else fitted
