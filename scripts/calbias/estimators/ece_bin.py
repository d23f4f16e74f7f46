"""The binned estimate ECE_bin (Roelofs et al. 2022, Eq. 4).

    ECE_bin = (Σ_k n_k/n · |f_k - y_k|^p)^(1/p)

with the mean score f_k and the mean label y_k of the n_k samples in bin k. Empty bins count for
nothing.
"""

import numpy as np

from calbias.engine.binning import IS_EQUAL_MASS, first_rank
from calbias.engine.jit import njit

VARIANTS = {
    "ece_bin_ew": {"binning": "equal_width"},
    "ece_bin_em": {"binning": "equal_mass"},
}
TARGET = "lp"


def estimate_data_sets(data, n_bins, norm, binning):
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    estimates = np.empty(data.scores.shape[0])
    binned_error(data.scores, data.cum_gap, IS_EQUAL_MASS[binning], n_bins, norm, estimates)
    return estimates, np.full(estimates.shape, n_bins, np.int64)


@njit
def binned_error(scores, cum_gap, equal_mass, n_bins, norm, out):
    """Fill ``out`` (m,) with ECE_bin of each row; a fraction."""
    for row in range(scores.shape[0]):
        out[row] = binned_error_of_row(scores[row], cum_gap[row], equal_mass, n_bins, norm)


@njit
def binned_error_of_row(scores, cum_gap, equal_mass, n_bins, norm):
    """Return ECE_bin of one data set with ``n_bins`` bins."""
    n = scores.shape[0]
    total = 0.0
    start = 0
    for k in range(1, n_bins + 1):
        end = first_rank(k, n_bins, scores, equal_mass)
        if end > start:
            gap = abs(cum_gap[end] - cum_gap[start]) / (end - start)
            total += (end - start) * (gap * gap if norm == 2.0 else gap**norm)
            start = end
    return (total / n) ** (1.0 / norm)
