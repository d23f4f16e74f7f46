"""The KS error, or ECCE-MAD: the largest cumulative deviation of hits from scores.

    KS = max_k |C_k|,  C_k = 1/n Σ_{i ≤ k} (y_i − s_i),  scores ascending

Equal scores are one step. Gupta et al., *Calibration of neural networks using splines* (ICLR 2021),
Eq. 11-12; Arrieta-Ibarra et al., *Metrics of calibration for probabilistic predictions* (JMLR
2022). No bins and no norm. For a calibrated model E[KS/σ] → √(π/2) with σ = √(Σ s(1 − s))/n.
"""

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.samples.by_score import Scored

TARGET = "max_deviation"
BINS = "none"


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    lowest, highest = cumulative_extremes(data)
    return np.maximum(highest, -lowest), np.zeros(lowest.shape, np.int64)


def cumulative_extremes(data: SortedBatch) -> tuple[np.ndarray, np.ndarray]:
    """Return (lowest, highest) of C_0 = 0, C_1, …, C_n, each (m,), for SortedBatch of m rows."""
    n = data.scores.shape[1]
    is_step = np.ones(data.scores.shape, bool)  # equal scores are one step
    is_step[:, :-1] = data.scores[:, 1:] != data.scores[:, :-1]
    gaps = np.where(is_step, data.cum_gap[:, 1:], 0.0)
    return (0.0 - gaps.max(axis=1, initial=0.0)) / n, (0.0 - gaps.min(axis=1, initial=0.0)) / n


def estimate_scored(scored: Scored, n_bins: int, norm: float) -> tuple[float, int]:
    """Return (estimate, bins used = 0) of a Scored: C_k are sums of w·(y − s)/Σ w."""
    lowest, highest = extremes_of_scored(scored)
    return max(highest, -lowest), 0


def extremes_of_scored(scored: Scored) -> tuple[float, float]:
    """Return (lowest, highest) of C_0 = 0 and the C_k of a Scored."""
    path = np.append(0.0, np.cumsum(-scored.gaps)) / scored.total
    return path.min(), path.max()
