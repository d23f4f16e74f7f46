"""Whether a sweep is used on scores whose calibration curve is clearly not monotone.

The sweep stops at the first number of bins whose hit rates fall somewhere. Where the curve itself
falls, as after histogram binning of one class against the rest, it stops at two or three bins, and
the error inside them is lost.
"""

import warnings
from typing import NamedTuple

import numpy as np

N_BINS = 15  # of equal mass
FEWEST_ROWS = 10  # in a bin
CLEAR = 4.0  # standard errors: all pairs of bins are looked at


class Fall(NamedTuple):
    """The clearest fall of the hit rate from a bin to one of higher scores, in standard errors."""

    size: float
    before: float
    after: float


def clearest_fall(scores: np.ndarray, hits: np.ndarray) -> Fall:
    """Return the Fall of scores and hits (n,); its size is 0 where the hit rate falls nowhere."""
    n = scores.size
    n_bins = max(min(N_BINS, n // FEWEST_ROWS), 1)
    _, group, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    rates = np.bincount(group, weights=hits) / sizes  # of equal scores
    cumulative = np.append(0.0, np.cumsum(np.repeat(rates, sizes)))
    ends = np.arange(n_bins + 1) * n // n_bins
    binned_hits, rows = np.diff(cumulative[ends]), np.diff(ends)
    rate = (binned_hits + 1) / (rows + 2)
    variance = rate * (1 - rate) / rows
    first, second = np.triu_indices(n_bins, 1)
    means = binned_hits / rows
    z = (means[first] - means[second]) / np.sqrt(variance[first] + variance[second])
    if not z.size or z.max() <= 0:
        return Fall(0.0, np.nan, np.nan)
    k = int(z.argmax())
    return Fall(float(z[k]), float(means[first[k]]), float(means[second[k]]))


def warn_of_a_fall(estimator: str, scores: np.ndarray, hits: np.ndarray, n_bins_used: int) -> None:
    """Warn where an estimator is a sweep and the curve falls clearly."""
    if not estimator.startswith("ece_sweep"):
        return
    fall = clearest_fall(scores, hits)
    if fall.size > CLEAR:
        warnings.warn(
            f"{estimator} stopped at {n_bins_used} bins and may report far too small an error: the "
            f"accuracy falls from {fall.before:.1%} to {fall.after:.1%} as the score grows "
            f"({fall.size:.1f} standard errors), and a sweep needs a curve that does not fall; "
            "compare ece_debias_em or averaged_posterior",
            stacklevel=3,
        )
