"""T-Cal's debiased plug-in statistic of the squared error, equal-width bins.

    tcal      1/n Σ_b [(Σ_{i in b} r_i)² − Σ_{i in b} r_i²]/n_b,  r_i = y_i − s_i
    tcal_sun  1/n Σ_b [(Σ_{i in b} r_i)² − Σ_{i in b} r_i²]/(n_b − 1)

Lee, Huang, Hassani and Dobriban, *T-Cal: an optimal test for the calibration of predictive models*
(JMLR 2023). ``tcal_sun`` divides by n_b − 1, so that each term is unbiased (Sun, Chaudhari, Barnett
and Dobriban 2024); bins with one sample are dropped there. Both may be negative.
"""

import numpy as np

from calbias.defaults import N_BINS
from calbias.engine.jit import njit
from calbias.engine.sorted_batch import Estimates, SortedBatch

VARIANTS: dict[str, dict] = {"tcal": {}, "tcal_sun": {"divisor_loss": 1}}
TARGET = "lp_power"
NORMS = (2,)


def estimate_data_sets(
    data: SortedBatch, n_bins: int = N_BINS, norm: float = 2.0, divisor_loss: int = 0
) -> Estimates:
    """Return (estimates, bins used), each (m,), for SortedBatch of m rows."""
    estimates = np.empty(data.scores.shape[0])
    ranks = data.ranks(n_bins, "equal_width")
    _debiased(data.scores, data.cum_gap, data.cum_hit, ranks, divisor_loss, estimates)
    return estimates, np.full(estimates.shape, n_bins, np.int64)


@njit
def _debiased(
    scores: np.ndarray,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
    ranks: np.ndarray,
    divisor_loss: int,
    out: np.ndarray,
) -> None:
    """Fill ``out`` (m,); (s − y)² = s² + y(1 − 2s) also where y is a tied group's mean label."""
    n = scores.shape[1]
    for row in range(scores.shape[0]):
        total = 0.0
        for k in range(ranks.shape[1] - 1):
            start, end = ranks[row, k], ranks[row, k + 1]
            if end - start > divisor_loss:
                squares = 0.0
                for i in range(start, end):
                    label = cum_hit[row, i + 1] - cum_hit[row, i]
                    squares += scores[row, i] ** 2 + label * (1.0 - 2.0 * scores[row, i])
                gap = cum_gap[row, end] - cum_gap[row, start]
                total += (gap * gap - squares) / (end - start - divisor_loss)
        out[row] = total / n
