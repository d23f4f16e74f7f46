"""The KDE-ECE of the top label: ∫ |c − accuracy(c)| · density(c) dc, both by kernel density.

Zhang, Kailkhura and Han (ICML 2020); Gupta et al. (ICLR 2021), Table 7. The estimator ``kde`` says
which kernel, bandwidth and grid.
"""

from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.api import estimate_sorted

VARIANTS: dict[str, dict] = {"kde_ece": {}}
INPUT = "top_label"


def of_sorted(data: SortedBatch) -> float:
    """Return the KDE-ECE, a fraction, of one data set."""
    return estimate_sorted("kde", data, norm=1)
