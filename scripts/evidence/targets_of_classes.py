"""What the estimators of all classes estimate, for rows p whose labels have the chances q = M(p).

``classwise_l1``, ``classwise_l1_sum``
    1/K Σ_k E|P(Y = k | p_k) − p_k|, class-wise calibration of Kull et al. (NeurIPS 2019), whose §2
    defines the mean and whose Table 3 prints the sum, K times the mean; Nixon et al. (2019)
``classwise_l2``, ``classwise_l2_squared``
    (1/K Σ_k E(P(Y = k | p_k) − p_k)²)^(1/2) and its square: the marginal calibration error of Kumar
    et al. (NeurIPS 2019) with equal weights of classes
``confidence_l1``
    E|P(Y = c | s) − s|, s the score of the predicted class c: what the rest of calbias estimates
``kernel``
    E k(p, p′) (q(p) − p)·(q(p′) − p′) with k = exp(−‖p − p′‖/ν), p′ an independent copy of p: 0 for
    strong calibration alone. Widmann et al. (NeurIPS 2019). Exact, in N²·K steps
``thresholded_l1``
    1/K Σ_k E(|P(Y = k | p_k) − p_k| | p_k > 0.01), after Nixon et al.
``top_label_l1``, ``top_label_l2``
    (E|P(Y = c | s, c) − s|^p)^(1/p), top-label calibration of Gupta and Ramdas (ICLR 2022)

But for the kernel a target is an error given one number, such as p_k, while q depends on all of p.
The rows are sorted by that number and cut into groups of equally many; within a group the error is
the mean of q − p. Where q depends on that number alone (identity, label noise) this is exact up to
changes of sign inside a group.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from calbias.engine.jit import njit
from calbias.errors import looked_up
from calbias.multiclass.class_bins import Binned, By, Floats, Join, absolute, equal_mass, square
from calbias.multiclass.measures import THRESHOLD
from calbias.multiclass.rows import Rows
from calbias.multiclass.skce import median_distance

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


def kernel(rows: Rows, chances: Floats, groups: int) -> float:
    """Return the squared kernel error; ``groups`` have no part in it."""
    p = rows.probabilities
    gaps = chances - p
    if not gaps.any():
        return 0.0
    return float(_double_sum(p, p.T.copy(), gaps, gaps.T.copy(), median_distance(p)))


@njit
def _double_sum(
    p: Floats, p_columns: Floats, gaps: Floats, gap_columns: Floats, bandwidth: float
) -> float:
    n, n_classes = p.shape
    norms, products, dots = np.zeros(n), np.empty(n), np.empty(n)
    for k in range(n_classes):
        for j in range(n):
            norms[j] += p_columns[k, j] * p_columns[k, j]
    total = 0.0
    for i in range(n):
        products[: i + 1] = 0.0
        dots[: i + 1] = 0.0
        for k in range(n_classes):
            factor, gap = p[i, k], gaps[i, k]
            for j in range(i + 1):
                products[j] += factor * p_columns[k, j]
                dots[j] += gap * gap_columns[k, j]
        for j in range(i):
            square = max(norms[i] + norms[j] - 2.0 * products[j], 0.0)
            total += 2.0 * math.exp(-math.sqrt(square) / bandwidth) * dots[j]
        total += dots[i]
    return float(total / (n * n))


TARGETS: dict[str, Callable[[Rows, Floats, int], float]] = {
    "classwise_l1": partial(smoothed, norm=1, join="mean"),
    "classwise_l1_sum": partial(smoothed, norm=1, join="sum"),
    "classwise_l2": partial(smoothed, norm=2, join="root_mean"),
    "classwise_l2_squared": partial(smoothed, norm=2, join="mean"),
    "confidence_l1": partial(smoothed, norm=1, join="weighted", by="all"),
    "kernel": kernel,
    "thresholded_l1": partial(smoothed, norm=1, join="mean", threshold=THRESHOLD),
    "top_label_l1": partial(smoothed, norm=1, join="weighted", by="predicted_class"),
    "top_label_l2": partial(smoothed, norm=2, join="root_weighted", by="predicted_class"),
}


def target_value(name: str, rows: Rows, chances: Floats, groups: int = 100) -> float:
    """Return a target of the population ``rows`` whose labels have the chances (N, K).

    ``chances`` are in the order of the rows; ``groups`` is the resolution.
    """
    return looked_up("target", name, TARGETS)(rows, chances, groups)
