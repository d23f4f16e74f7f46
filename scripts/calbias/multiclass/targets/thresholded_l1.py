"""The class-wise ℓ1 error of the probabilities above the threshold ε = 0.01.

    1/K Σ_k E(|P(Y = k | p_k) − p_k|  |  p_k > ε)

After thresholded adaptive calibration error, Nixon et al. (CVPR workshops 2019).
"""

from calbias.multiclass.cells import Floats
from calbias.multiclass.estimators.classwise import THRESHOLD
from calbias.multiclass.rows import Rows
from calbias.multiclass.targets.smoothed import smoothed

NAMES = ("thresholded_l1",)


def value(name: str, rows: Rows, chances: Floats, groups: int) -> float:
    """Return the target of a population whose labels have the chances (N, K)."""
    return smoothed(rows, chances, groups, 1, "mean", threshold=THRESHOLD)
