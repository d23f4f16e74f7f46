"""ECCE-R, the range of the cumulative deviations: max C − min C, the statistic of Kuiper.

    R = max_k C_k − min_k C_k,  C_k = 1/n Σ_{i ≤ k} (y_i − s_i),  C_0 = 0

Scores ascend, and equal scores are one step.

Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, *Metrics of calibration for probabilistic
predictions* (JMLR 2022). For a calibrated model E[R/σ] → 2√(2/π) with σ = √(Σ s(1 − s))/n.
"""

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.estimators.ks import cumulative_extremes

TARGET = "deviation_range"
BINS = "none"


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    lowest, highest = cumulative_extremes(data)
    return highest - lowest, np.zeros(lowest.shape, np.int64)
