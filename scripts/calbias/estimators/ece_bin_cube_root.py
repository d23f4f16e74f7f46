"""ECE_bin with the number of bins that theory advises, b = ⌈n^(1/3)⌉.

Sun, Song and Hero, *Minimum-risk recalibration of classifiers* (NeurIPS 2023); Futami and Fujisawa,
*Information-theoretic generalization analysis for expected calibration error* (NeurIPS 2024).
"""

import numpy as np

from calbias.engine.binning import IS_EQUAL_MASS
from calbias.estimators.ece_bin import binned_error

VARIANTS = {
    "ece_bin_cube_root_ew": {"binning": "equal_width"},
    "ece_bin_cube_root_em": {"binning": "equal_mass"},
}
TARGET = "lp"
BINS = "chosen"


def estimate_data_sets(data, n_bins=-1, norm=2.0, binning="equal_mass"):
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    estimates = np.empty(data.scores.shape[0])
    n_used = cube_root(data.scores.shape[1])
    binned_error(data.scores, data.cum_gap, IS_EQUAL_MASS[binning], n_used, norm, estimates)
    return estimates, np.full(estimates.shape, n_used, np.int64)


def cube_root(n):
    """Return ⌈n^(1/3)⌉, exactly."""
    root = round(n ** (1 / 3))
    return root if root**3 >= n else root + 1
