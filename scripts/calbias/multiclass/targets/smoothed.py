"""Conditional errors of a population by groups of neighbours, each given one number of a row.

    class-wise ℓ1          1/K Σ_k E|P(Y = k | p_k) − p_k|,  or the sum over k
    class-wise ℓ2          (1/K Σ_k E(P(Y = k | p_k) − p_k)²)^(1/2),  or its square
    thresholded ℓ1         1/K Σ_k E(|P(Y = k | p_k) − p_k|  |  p_k > ε),  ε = 0.01
    top label, ℓ1 and ℓ2   (E|P(Y = c | s, c) − s|^p)^(1/p),  s the score of the predicted class c
    confidence ℓ1          E|P(Y = c | s) − s|: what the rest of calbias estimates

Class-wise calibration: Kull et al. (NeurIPS 2019), whose §2 defines the mean and whose Table 3
prints the sum; Nixon et al. (CVPR workshops 2019) print the mean, and threshold it. The class-wise
ℓ2 error is the marginal calibration error of Kumar, Liang and Ma (NeurIPS 2019) with equal weights
of classes. Top label: Gupta and Ramdas (ICLR 2022).

The truth q = M(p) depends on all of p. In a population of N rows with chances q, the rows are
sorted by that number and cut into groups of equally many; within a group the error is the mean of q
− p. Where q depends on that number alone (identity, label noise) this is exact up to changes of
sign inside a group.
"""

from calbias.multiclass.binned import Binned, Join, Terms, absolute, square
from calbias.multiclass.cells import By, Floats, equal_mass
from calbias.multiclass.estimators.classwise import THRESHOLD
from calbias.multiclass.rows import Rows

FEWEST = 50  # rows in a group of a predicted class
NAMES: dict[str, tuple[Terms, Join, By, float]] = {
    "classwise_l1": (absolute, "mean", "class", -1.0),
    "classwise_l1_sum": (absolute, "sum", "class", -1.0),
    "classwise_l2": (square, "root_mean", "class", -1.0),
    "classwise_l2_squared": (square, "mean", "class", -1.0),
    "thresholded_l1": (absolute, "mean", "class", THRESHOLD),
    "top_label_l1": (absolute, "weighted", "predicted_class", -1.0),
    "top_label_l2": (square, "root_weighted", "predicted_class", -1.0),
    "confidence_l1": (absolute, "weighted", "all", -1.0),
}


def value(name: str, rows: Rows, chances: Floats, groups: int) -> float:
    """Return the target of a population whose labels have the chances (N, K)."""
    terms, join, by, threshold = NAMES[name]
    fewest = FEWEST if by == "predicted_class" else 1
    cells = equal_mass(rows, groups, by, threshold, fewest)
    return float(Binned(rows, cells, terms, join).expected(chances)[0])
