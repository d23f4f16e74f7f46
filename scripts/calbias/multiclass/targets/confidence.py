"""The ℓ1 error of the top label given its score alone: what the rest of calbias estimates.

E|P(Y = c | s) − s|,   s the score of the predicted class c
"""

from calbias.multiclass.cells import Floats
from calbias.multiclass.rows import Rows
from calbias.multiclass.targets.smoothed import smoothed

NAMES = ("confidence_l1",)


def value(name: str, rows: Rows, chances: Floats, groups: int) -> float:
    """Return the target of a population whose labels have the chances (N, K)."""
    return smoothed(rows, chances, groups, 1, "weighted", "all")
