"""The squared kernel calibration error of whole probability vectors, with the kernel k · I.

    h_ij = k(p_i, p_j) (e_yi − p_i)·(e_yj − p_j),   k(p, q) = exp(−‖p − q‖/ν)
    unbiased    mean of h_ij over pairs i < j of a block, then over blocks

‖·‖ is the Euclidean norm, I the identity matrix of K × K, e_y the unit vector of class y. Without
bins the estimate is unbiased for E h, which is 0 if and only if the model is calibrated in the
strong sense P(Y = · | p) = p; it may be negative. Widmann, Lindsten and Zachariah (*Calibration
tests in multi-class classification*, NeurIPS 2019). Blocks of B rows as of Zaremba et al. (2013).

The rows of a block are drawn at random, by a permutation that depends on n alone: blocks of
neighbours would hold too many pairs of equal rows. Labels of equal rows count in the given order.

Cost: n·B·K/2 multiplications and one array of B × B; of all n rows at once n²·K/2. A redraw of the
labels costs B/(2K) steps a row.

ν is by default the median distance of pairs of rows, which the labels do not change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calbias.engine.jit import njit
from calbias.engine.seeding import stream
from calbias.multiclass.class_bins import Floats
from calbias.multiclass.class_rows import Rows

_ROWS_OF_MEDIAN = 500
_LEAST_BANDWIDTH = 1e-3


@dataclass(frozen=True)
class KernelError:
    """The measure of these rows: one group."""

    rows: Rows
    block: int
    bandwidth: float

    def values(self, labels: NDArray[np.int32]) -> Floats:
        """Return the values (r, 1) for labels (n, r)."""
        n = len(labels)
        order = stream(0, "skce blocks", str(n)).permutation(n)
        sums, pairs = np.zeros(labels.shape[1]), 0
        for start, end in _blocks(n, self.block):
            chosen = order[start:end]
            p, y = self.rows.probabilities[chosen], labels[chosen]
            _add_block(p, np.ascontiguousarray(p.T), y, self.bandwidth, sums)
            pairs += (end - start) * (end - start - 1) // 2
        return (sums / max(pairs, 1))[:, None]

    def whole(self, values: Floats) -> Floats:
        """Return the values (r,)."""
        return values[:, 0]


def kernel_error(
    rows: Rows, n_bins: int, block: int, bandwidth: float | None = None
) -> KernelError:
    """Return the measure of these rows; it has no bins."""
    return KernelError(rows, block, bandwidth or median_distance(rows.probabilities))


def median_distance(probabilities: Floats) -> float:
    """Return the median distance of the pairs of the first 500 rows, at least 0.001."""
    from scipy.spatial.distance import pdist  # takes a tenth of a second to import

    distances = pdist(probabilities[:_ROWS_OF_MEDIAN])
    return max(float(np.median(distances)), _LEAST_BANDWIDTH) if distances.size else 1.0


def _blocks(n: int, size: int) -> list[tuple[int, int]]:
    """Return (start, end) of blocks of at least two rows; the last may have up to size + 1."""
    starts = list(range(0, n, min(size, n)))
    if len(starts) > 1 and n - starts[-1] < 2:
        starts.pop()
    return list(zip(starts, [*starts[1:], n], strict=True))


@njit
def _add_block(
    p: Floats, columns: Floats, labels: NDArray[np.int32], bandwidth: float, sums: Floats
) -> None:
    """Add Σ_{i < j} h_ij of a block of probabilities (B, K), ``columns`` its transpose, to sums.

    With g_ij = p_i·p_j: h_ij = k_ij (1{y_i = y_j} − p_i[y_j] − p_j[y_i] + g_ij). The second and
    third terms are sums over j of W[j, y_j], W[j, c] = Σ_{i ≠ j} k_ij p_i[c].
    """
    n, n_classes = p.shape
    kernel, products, weighted = np.empty((n, n)), np.empty(n), np.zeros((n, n_classes))
    norms = np.empty(n)
    constant = 0.0
    for i in range(n):
        total = 0.0
        for k in range(n_classes):
            total += p[i, k] * p[i, k]
        norms[i] = total
    for i in range(n):
        products[:] = 0.0
        for k in range(n_classes):
            factor = p[i, k]
            if factor != 0.0:
                for j in range(n):
                    products[j] += factor * columns[k, j]
        for j in range(n):
            square = max(norms[i] + norms[j] - 2.0 * products[j], 0.0)
            kernel[i, j] = math.exp(-math.sqrt(square) / bandwidth)
            if j < i:
                constant += kernel[i, j] * products[j]
        kernel[i, i] = 0.0
    for j in range(n):
        for i in range(n):
            factor = kernel[j, i]
            for k in range(n_classes):
                weighted[j, k] += factor * p[i, k]
    last, before = np.empty(n_classes, np.int64), np.empty(n, np.int64)
    for r in range(labels.shape[1]):
        total = constant
        last[:] = -1
        for j in range(n):
            y = labels[j, r]
            total -= weighted[j, y]
            before[j] = last[y]
            last[y] = j
            i = before[j]
            while i >= 0:
                total += kernel[j, i]
                i = before[i]
        sums[r] += total
