"""The error of the top label given its score s and the predicted class c.

    (E|P(Y = c | s, c) − s|^p)^(1/p)

Top-label calibration of Gupta and Ramdas (ICLR 2022).
"""

from calbias.multiclass.cells import Floats
from calbias.multiclass.rows import Rows
from calbias.multiclass.targets.smoothed import smoothed

NAMES = ("top_label_l1", "top_label_l2")


def value(name: str, rows: Rows, chances: Floats, groups: int) -> float:
    """Return the target of a population whose labels have the chances (N, K)."""
    if name == "top_label_l1":
        return smoothed(rows, chances, groups, 1, "weighted", "predicted_class")
    return smoothed(rows, chances, groups, 2, "root_weighted", "predicted_class")
