"""The binned estimate ECE_bin (Roelofs et al. 2022, Eq. 4).

    ECE_bin = (Σ_k n_k/n · |f_k - y_k|^p)^(1/p)

with the mean score f_k and the mean label y_k of the n_k samples in bin k. Empty bins count for
nothing.
"""

import numpy as np

from calbias.engine.binning import bins_used
from calbias.engine.jit import njit

VARIANTS = {
    "ece_bin_ew": {"binning": "equal_width"},
    "ece_bin_em": {"binning": "equal_mass"},
}
TARGET = "lp"


def estimate_data_sets(data, n_bins, norm, binning):
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    estimates = np.empty(data.scores.shape[0])
    _binned_error(data.cum_gap, data.ranks(n_bins, binning), norm, estimates)
    return estimates, bins_used(estimates.size, n_bins)


@njit
def _binned_error(cum_gap, ranks, norm, out):
    for row in range(out.shape[0]):
        out[row] = binned_error_of_row(cum_gap[row], ranks[row], norm)


@njit(error_model="numpy")
def binned_error_of_row(cum_gap, ranks, norm):
    """Return ECE_bin of one data set, for bins of the ranks from ranks[k] up to ranks[k + 1]."""
    total = 0.0
    for k in range(ranks.shape[0] - 1):
        start, end = ranks[k], ranks[k + 1]
        if end > start:
            gap = abs(cum_gap[end] - cum_gap[start]) / (end - start)
            total += (end - start) * (gap * gap if norm == 2.0 else gap**norm)
    return (total / (cum_gap.shape[0] - 1)) ** (1.0 / norm)
