"""The smooth calibration error of a sample, exactly.

    smCE = max 1/n Σ η(s_i)(y_i − s_i) over 1-Lipschitz η with |η| ≤ 1

By the slope trick in O(n): see the target ``smooth_ce``. Błasiok, Gopalan, Hu and Nakkiran, *A
unifying theory of distance from calibration* (STOC 2023); Hu, Jambulapati, Tian and Yang, *Testing
calibration in nearly-linear time* (NeurIPS 2024).
"""

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import Estimates, SortedBatch
from evidence.targets import lipschitz_maximum

TARGET = "smooth_ce"
BINS = "none"

_lipschitz_maximum = njit(lipschitz_maximum)


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    masses = -np.diff(data.cum_gap, axis=1)
    rows = zip(data.scores, masses, strict=True)
    sums = np.array([_lipschitz_maximum(scores, mass) for scores, mass in rows])
    return sums / data.scores.shape[1], np.zeros(sums.shape, np.int64)
