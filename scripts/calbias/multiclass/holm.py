"""What tests of many groups or classes find, with Holm's correction for their number (1979)."""

import numpy as np
from numpy.typing import ArrayLike

from calbias.conventions import SIGNIFICANT

MISCALIBRATED, TOO_SMALL, NONE_FOUND = "miscalibrated", "too small to tell", "none found"
ENOUGH_POWER = 0.8


def holm(p_values: ArrayLike) -> list[float]:
    """Return Holm's corrected p-values, in the order given; a NaN stays and does not count."""
    values = np.asarray(p_values, float)
    corrected = np.full(values.shape, np.nan)
    finite = np.flatnonzero(~np.isnan(values))
    order = finite[np.argsort(values[finite], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return [float(round(p, 15)) for p in corrected]


def findings(corrected: ArrayLike, power: ArrayLike) -> np.ndarray:
    """Return the finding of each of m tests, by its corrected p-value and its power."""
    unfound = np.where(np.asarray(power) < ENOUGH_POWER, TOO_SMALL, NONE_FOUND)
    return np.where(np.asarray(corrected) <= SIGNIFICANT, MISCALIBRATED, unfound)
