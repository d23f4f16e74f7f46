"""The maximum calibration error of the top label, max_k |f_k − y_k| over 15 equal-width bins.

Naeini et al. (AAAI 2015); Guo et al. (ICML 2017), Eq. 5. ``mce25`` has the 25 bins of Gupta et al.
(ICLR 2021).
"""

from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.api import estimate_sorted

VARIANTS = {"mce": {"n_bins": 15}, "mce25": {"n_bins": 25}}
INPUT = "top_label"


def of_sorted(data: SortedBatch, n_bins: int) -> float:
    """Return the MCE, a fraction, of one data set."""
    return estimate_sorted("mce_ew", data, n_bins=n_bins)
