"""The maximum calibration error: the largest gap of a bin that is not empty.

    MCE = max_b |f_b − y_b|

Naeini, Cooper and Hauskrecht (AAAI 2015); Guo et al. (ICML 2017), Eq. 5. The maximum is often that
of the bin with the fewest samples.
"""

import numpy as np

from calbias.defaults import N_BINS
from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.samples.by_score import BinSums

VARIANTS = {"mce_ew": {"binning": "equal_width"}, "mce_em": {"binning": "equal_mass"}}
TARGET = "mce"


def estimate_data_sets(
    data: SortedBatch, n_bins: int = N_BINS, norm: float = 2.0, binning: str = "equal_width"
) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    from calbias.engine.bin_kernels import largest_gap  # needs numba

    estimates, ranks = np.empty(data.scores.shape[0]), data.ranks(n_bins, binning)
    largest_gap(data.cum_gap, ranks, estimates)
    return estimates, data.bins_used(n_bins, binning)


def estimate_bins(bins: BinSums, norm: float) -> float:
    """Return the estimate from sums over bins."""
    return np.max(np.abs(bins.gaps) / bins.rows)
