"""The expected calibration error of the top label under its usual name: p = 1, equal-width bins.

    ECE = Σ_k n_k/n · |f_k − y_k|

Naeini et al. (AAAI 2015); Guo et al. (ICML 2017), Eq. 3, with 15 bins; Gupta et al. (ICLR 2021,
Table 6) with 25. ``ece100`` shows how much the number of bins matters.
"""

from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.api import estimate_sorted

VARIANTS = {"ece": {"n_bins": 15}, "ece25": {"n_bins": 25}, "ece100": {"n_bins": 100}}
INPUT = "top_label"


def of_sorted(data: SortedBatch, n_bins: int) -> float:
    """Return the ECE, a fraction, of one data set."""
    return estimate_sorted("ece_bin_ew", data, n_bins=n_bins, norm=1)
