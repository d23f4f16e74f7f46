"""The maximum calibration error: the largest gap of a bin that is not empty.

    MCE = max_b |f_b − y_b|

Naeini, Cooper and Hauskrecht (AAAI 2015); Guo et al. (ICML 2017), Eq. 5. The maximum is often that
of the bin with the fewest samples.
"""

import numpy as np

from calbias.conventions import N_BINS
from calbias.engine.jit import njit
from calbias.engine.sorted_batch import IS_EQUAL_MASS, Estimates, SortedBatch
from calbias.scored import Scored

VARIANTS = {"mce_ew": {"binning": "equal_width"}, "mce_em": {"binning": "equal_mass"}}
TARGET = "mce"


def estimate_data_sets(
    data: SortedBatch, n_bins: int = N_BINS, norm: float = 2.0, binning: str = "equal_width"
) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    estimates, ranks = np.empty(data.scores.shape[0]), data.ranks(n_bins, binning)
    _largest_gap(data.cum_gap, ranks, estimates)
    return estimates, data.bins_used(n_bins, binning)


@njit
def _largest_gap(cum_gap: np.ndarray, ranks: np.ndarray, out: np.ndarray) -> None:
    for row in range(out.shape[0]):
        largest = 0.0
        for k in range(ranks.shape[1] - 1):
            start, end = ranks[row, k], ranks[row, k + 1]
            if end > start:
                gap = abs(cum_gap[row, end] - cum_gap[row, start]) / (end - start)
                largest = max(largest, gap)
        out[row] = largest


def estimate_scored(scored: Scored, n_bins: int, norm: float, binning: str) -> tuple[float, int]:
    """Return (estimate, bins used) of a Scored."""
    starts = scored.starts(n_bins, binning)
    gaps, weight = scored.bin_sums(starts, scored.gaps, scored.rows)
    return np.max(np.abs(gaps) / weight), starts.size if IS_EQUAL_MASS[binning] else n_bins
