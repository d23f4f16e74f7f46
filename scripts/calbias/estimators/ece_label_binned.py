"""The label-binned estimate ECE_lb: scores unbinned, labels binned (Roelofs et al. 2022, Eq. 3).

    ECE_lb = (1/n Σ_i |c_i - y_k(i)|^p)^(1/p)

with y_k(i) the mean label of the bin that sample i is in. By Jensen's inequality it is never below
ECE_bin with the same bins (Eq. 5).
"""

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.samples.by_score import Scored

VARIANTS = {
    "ece_label_binned_ew": {"binning": "equal_width"},
    "ece_label_binned_em": {"binning": "equal_mass"},
}
TARGET = "lp"


def estimate_data_sets(data: SortedBatch, n_bins: int, norm: float, binning: str) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    from calbias.engine.bin_kernels import label_binned_error  # needs numba

    estimates = np.empty(data.scores.shape[0])
    ranks = data.ranks(n_bins, binning)
    label_binned_error(data.scores, data.cum_hit, ranks, norm, estimates)
    return estimates, data.bins_used(n_bins, binning)


def estimate_scored(scored: Scored, n_bins: int, norm: float, binning: str) -> tuple[float, int]:
    """Return (estimate, bins used) of a Scored."""
    starts = scored.starts(n_bins, binning)
    hits, weight = (np.add.reduceat(column, starts) for column in (scored.hits, scored.rows))
    sizes = np.diff(np.append(starts, scored.scores.size))
    gaps = np.abs(scored.scores - np.repeat(hits / weight, sizes))
    used = scored.bins_used(starts, n_bins, binning)
    return (np.sum(scored.rows * gaps**norm) / scored.total) ** (1.0 / norm), used
