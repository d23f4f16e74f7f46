"""The averaged two-bin error ATB: squared sums of residuals below and above a random threshold.

    ATB = 1/n² ∫_0^1 [(Σ_{s_i < q} (s_i − y_i))² + (Σ_{s_i ≥ q} (s_i − y_i))²] dq

One cumulative sum. It is truthful: among all forecasts of independent events its expected value is
least for the events' true probabilities, where it is the variance of the sums and not 0. Hartline,
Hu and Wu, *A perfectly truthful calibration measure* (COLT 2026, PMLR 336:3185–3223; arXiv
2508.13100). The formula is that of a public formal statement of the definition in Lean, and a
public program of that name computes the same; of the paper only the abstract was at hand.
"""

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch

TARGET = "averaged_two_bin"
BINS = "none"


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,), for SortedBatch of m rows."""
    m, n = data.scores.shape
    lengths = np.diff(data.scores, axis=1, prepend=0.0, append=1.0)
    below = data.cum_gap
    squares = below**2 + (below[:, -1:] - below) ** 2
    return np.sum(lengths * squares, axis=1) / n**2, np.zeros(m, np.int64)
