"""The binned estimate ECE_bin (Roelofs et al. 2022, Eq. 4).

    ECE_bin = (Σ_k n_k/n · |f_k - y_k|^p)^(1/p)

with the mean score f_k and the mean label y_k of the n_k samples in bin k. Empty bins count for
nothing.
"""

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.samples.by_score import BinSums

VARIANTS = {
    "ece_bin_ew": {"binning": "equal_width"},
    "ece_bin_em": {"binning": "equal_mass"},
}
TARGET = "lp"


def estimate_data_sets(data: SortedBatch, n_bins: int, norm: float, binning: str) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    from calbias.engine.bin_kernels import binned_error  # needs numba

    estimates, ranks = np.empty(data.scores.shape[0]), data.ranks(n_bins, binning)
    binned_error(data.cum_gap, ranks, norm, estimates)
    return estimates, data.bins_used(n_bins, binning)


def estimate_bins(bins: BinSums, norm: float) -> float:
    """Return the estimate from sums over bins: shares are shares of the weight."""
    total = np.sum(bins.rows * (np.abs(bins.gaps) / bins.rows) ** norm)
    return (total / bins.rows.sum()) ** (1.0 / norm)
