"""The class-wise ℓ2 error, a root mean square over classes and rows, and its square.

    (1/K Σ_k E(P(Y = k | p_k) − p_k)²)^(1/2)

The marginal calibration error of Kumar, Liang and Ma (NeurIPS 2019) with equal weights of classes.
"""

from calbias.multiclass.cells import Floats
from calbias.multiclass.rows import Rows
from calbias.multiclass.targets.smoothed import smoothed

NAMES = ("classwise_l2", "classwise_l2_squared")


def value(name: str, rows: Rows, chances: Floats, groups: int) -> float:
    """Return the target of a population whose labels have the chances (N, K)."""
    return smoothed(rows, chances, groups, 2, "mean" if name.endswith("squared") else "root_mean")
