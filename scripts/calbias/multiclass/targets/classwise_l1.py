"""The class-wise ℓ1 error: the mean over classes, or the sum, which is K times the mean.

    1/K Σ_k E|P(Y = k | p_k) − p_k|

Class-wise calibration of Kull et al. (NeurIPS 2019), whose §2 defines the mean and whose Table 3
prints the sum; Nixon et al. (2019) print the mean.
"""

from calbias.multiclass.cells import Floats
from calbias.multiclass.rows import Rows
from calbias.multiclass.targets.smoothed import smoothed

NAMES = ("classwise_l1", "classwise_l1_sum")


def value(name: str, rows: Rows, chances: Floats, groups: int) -> float:
    """Return the target of a population whose labels have the chances (N, K)."""
    return smoothed(rows, chances, groups, 1, "sum" if name.endswith("sum") else "mean")
