"""The squared kernel calibration error of probability vectors, 0 for strong calibration alone.

    E k(p, p′) (q(p) − p)·(q(p′) − p′),   q(p) = P(Y = · | p), p′ an independent copy of p

with k(p, p′) = exp(−‖p − p′‖/ν). Widmann, Lindsten and Zachariah (NeurIPS 2019). Exact for a
population of N rows, in N²·K steps.
"""

import math

import numpy as np

from calbias.engine.jit import njit
from calbias.multiclass.cells import Floats
from calbias.multiclass.estimators.skce import median_distance
from calbias.multiclass.rows import Rows

NAMES = ("kernel",)


def value(name: str, rows: Rows, chances: Floats, groups: int) -> float:
    """Return the target of a population whose labels have the chances (N, K)."""
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
