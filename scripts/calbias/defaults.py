"""Numbers, words and a correction that the whole package agrees on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

N_BINS = 15
"""Bins of the ECE that other packages and papers print."""
CONFIDENCE_LEVEL = 0.95
SIGNIFICANT = 0.05
"""The level of a test: a p-value of at most this is a finding."""
Z_95 = 1.959963984540054
"""The normal quantile of 0.975."""
ENOUGH_POWER = 0.8
FORMS = PROBABILITIES, PERCENT, COUNTS, ODDS, LOGITS = (
    *("probabilities", "percent", "counts", "odds", "logits"),
)  # fmt: skip
"""What scores, or columns of classes, can be."""
MISCALIBRATED, TOO_SMALL, NONE_FOUND = "miscalibrated", "too small to tell", "none found"


def p_digits(p_value: float) -> str:
    """Return a p-value with two digits, or as many as show on which side of 0.05 it is.

    >>> p_digits(0.0504), p_digits(0.0496), p_digits(0.312)
    ('0.0504', '0.05', '0.31')
    """
    is_found = p_value <= SIGNIFICANT
    texts = (f"{p_value:.{digits}g}" for digits in range(2, 17))
    return next(text for text in texts if (float(text) <= SIGNIFICANT) == is_found)


def holm(p_values: ArrayLike) -> np.ndarray:
    """Return Holm's (1979) corrected p-values, in the order given; a NaN stays and does not count.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    import numpy as np  # a command line starts without it

    values = np.asarray(p_values, float)
    corrected = np.full(values.shape, np.nan)
    finite = np.flatnonzero(~np.isnan(values))
    order = finite[np.argsort(values[finite], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return np.round(corrected, 15)
