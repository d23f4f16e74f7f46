"""Conditional errors of a population by groups of neighbours.

A target is an error given one number, such as p_k, while the truth q = M(p) depends on all of p. In
a population of N rows with chances q, the rows are sorted by that number and cut into groups of
equally many; within a group the error is the mean of q − p. Where q depends on that number alone
(identity, label noise) this is exact up to changes of sign inside a group.
"""

from calbias.multiclass.binned import Binned, Join, absolute, square
from calbias.multiclass.cells import By, Floats, equal_mass
from calbias.multiclass.rows import Rows

FEWEST = 50  # rows in a group of a predicted class


def smoothed(
    rows: Rows,
    chances: Floats,
    groups: int,
    norm: int,
    join: Join,
    by: By = "class",
    threshold: float = -1.0,
) -> float:
    """Return the error of a population of rows whose labels have the chances (N, K)."""
    fewest = FEWEST if by == "predicted_class" else 1
    cells = equal_mass(rows, groups, by, threshold, fewest)
    measure = Binned(rows, cells, absolute if norm == 1 else square, join)
    return float(measure.expected(chances)[0])
