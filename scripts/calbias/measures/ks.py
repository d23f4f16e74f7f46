"""The KS error of the top label (Gupta et al., ICLR 2021, Eq. 11-12; Tables 1 and 7)."""

from calbias.engine.sorted_batch import SortedBatch
from calbias.estimation.api import estimate_sorted

VARIANTS: dict[str, dict] = {"ks_top1": {}}
INPUT = "top_label"


def of_sorted(data: SortedBatch) -> float:
    """Return the KS error, a fraction, of one data set."""
    return estimate_sorted("ks", data)
