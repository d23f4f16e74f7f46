"""ECE_bin with the number of bins that theory advises, b = ⌈n^(1/3)⌉.

    ECE_bin = (Σ_k n_k/n · |f_k - y_k|^p)^(1/p),  k = 1 … b,  b = ⌈n^(1/3)⌉

Sun, Song and Hero, *Minimum-risk recalibration of classifiers* (NeurIPS 2023); Futami and Fujisawa,
*Information-theoretic generalization analysis for expected calibration error* (NeurIPS 2024).
"""

from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.estimators import ece_bin

VARIANTS = {
    "ece_bin_cube_root_ew": {"binning": "equal_width"},
    "ece_bin_cube_root_em": {"binning": "equal_mass"},
}
TARGET = "lp"
BINS = "chosen"


def estimate_data_sets(
    data: SortedBatch, n_bins: int = -1, norm: float = 2.0, binning: str = "equal_mass"
) -> Estimates:
    """Return (estimates, bins used), each (m,): fractions, for SortedBatch of m rows."""
    return ece_bin.estimate_data_sets(data, cube_root(data.scores.shape[1]), norm, binning)


def cube_root(n: int) -> int:
    """Return ⌈n^(1/3)⌉, exactly."""
    root = round(n ** (1 / 3))
    return root if root**3 >= n else root + 1
