"""``calib_err`` of language-model leaderboards: bins of 100 rows, the last dropped, RMS gap.

    calib_err = √(Σ_b 100/n · (f_b − y_b)²)  over bins of 100 consecutive ranks

The last bin holds the remainder too and is left out, though n counts its rows. As in the evaluation
scripts of Humanity's Last Exam and BrowseComp, which take it from Hendrycks, Mazeika and Dietterich
(ICLR 2019). With bins of a fixed size its value for a calibrated model does not fall as n grows. Of
fewer than 200 rows nothing is left: 0.
"""

import numpy as np

from calbias.engine.sorted_batch import Estimates, SortedBatch

TARGET = "lp"
NORMS = (2,)
BINS = "chosen"

_ROWS = 100  # of a bin


def estimate_data_sets(data: SortedBatch, n_bins: int = -1, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    n = data.scores.shape[1]
    n_used = max(n // _ROWS - 1, 0)
    sums = np.diff(data.cum_gap[:, : n_used * _ROWS + 1 : _ROWS], axis=1)
    estimates = np.sqrt(np.sum(sums**2, axis=1) / _ROWS / n)
    return estimates, np.full(estimates.shape, n_used, np.int64)
