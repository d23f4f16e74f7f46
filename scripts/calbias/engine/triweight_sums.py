"""Sums of triweight kernels over many samples at once, on a grid of edges.

The scores are cut into cells of 1/28 of the kernels' reach. A cell's samples enter by their first
four moments about its centre, which gives the sums to 3e-8 relative. Edges are counted downwards
from score 1: edge e is at score 1 - e·width, and cell e lies between edges e and e + 1.
"""

import numpy as np
from numba import float64, uint64

from calbias.engine.jit import njit
from calbias.engine.simd import LANES, add_power_sums, sum_of_lanes

CELLS = 28  # cells, and edges, within a kernel's reach to either side
_ORDERS = 4
_REACHED = 2 * CELLS  # edges that a cell's samples reach: from j - 27 to j + 28 for cell j
_ONE = uint64(1)


def _coefficients():
    """Return (4, 56): what a cell's moments, by order, add to the sums at the edges it reaches.

    The kernel (1 - x²/28²)³ is expanded to third order at the cell's centre, seen from each edge.
    """
    x = np.arange(CELLS - 0.5, -CELLS, -1.0)
    kernel = np.polynomial.Polynomial([1.0, 0.0, -1.0 / CELLS**2]) ** 3
    factorial = (1.0, 1.0, 2.0, 6.0)
    return np.array([kernel.deriv(k)(x) / factorial[k] for k in range(_ORDERS)])


COEFFICIENTS = _coefficients()


@njit(error_model="numpy")
def sum_kernels(scores, cum_hit, start, end, width, coefficients):
    """Return (first edge, sums of all samples, sums of the misses), arrays (edges,).

    The samples are those of ranks [start, end). Each has a mirror image at 0 if its score is below
    1/2, and at 1 otherwise.
    """
    reach = CELLS * width
    first = int((1.0 - scores[end - 1]) / width) - CELLS
    lowest = 1.0 - scores[start] if scores[start] > reach else 1.0 + reach
    last = int(lowest / width) + CELLS + 1
    everyone, misses = np.zeros(last - first + 1), np.zeros(last - first + 1)
    half = start + np.searchsorted(scores[start:end], 0.5)
    near_zero = start + np.searchsorted(scores[start:half], reach)
    down, up = -1.0, 1.0
    _add(scores, cum_hit, half, end, down, width, first, coefficients, everyone, misses)
    _fold_at_one(first, everyone)
    _fold_at_one(first, misses)
    _add(scores, cum_hit, start, half, down, width, first, coefficients, everyone, misses)
    _add(scores, cum_hit, start, near_zero, up, width, first, coefficients, everyone, misses)
    return first, everyone, misses


@njit
def _fold_at_one(first, sums):
    """Add to the sum at each edge that at its mirror image on the other side of score 1."""
    if first <= 0:
        sums[-first] *= 2.0
        for k in range(1, min(1 - first, sums.shape[0] + first)):
            total = sums[-first + k] + sums[-first - k]
            sums[-first + k] = sums[-first - k] = total


@njit(error_model="numpy")
def _add(scores, cum_hit, start, end, sign, width, first, coefficients, everyone, misses):
    """Add the kernels of ranks [start, end), cell by cell, at 1 + sign·score from score 1."""
    per_width = 1.0 / width
    lanes = np.empty(6 * LANES)
    eight = uint64(LANES)
    i, end = uint64(start), uint64(end)
    while i < end:
        begin = i
        cell = int((1.0 + sign * scores[i]) * per_width)
        centre = cell + 0.5
        a1 = a2 = a3 = h1 = h2 = h3 = 0.0
        while i + eight <= end:
            x = (1.0 + sign * scores[i + eight - _ONE]) * per_width - centre
            if abs(x) > 0.5:
                break
            if i == begin:
                lanes[:] = 0.0
            add_power_sums(scores, cum_hit, i, 1.0, sign, per_width, centre, lanes)
            i += eight
        if i > begin:
            a1, a2, a3, h1, h2, h3 = totals(lanes)
        while i < end:
            x = (1.0 + sign * scores[i]) * per_width - centre
            if abs(x) > 0.5 and i > begin:
                break
            hit_x = (cum_hit[i + _ONE] - cum_hit[i]) * x
            a1, a2, a3 = a1 + x, a2 + x * x, a3 + x * x * x
            h1, h2, h3 = h1 + hit_x, h2 + hit_x * x, h3 + hit_x * (x * x)
            i += _ONE
        size = float64(i - begin)
        missed = size - (cum_hit[i] - cum_hit[begin])
        edge = uint64(cell - first - CELLS + 1)
        _spread(size, a1, a2, a3, coefficients, edge, everyone)
        if missed > 0.0:
            _spread(missed, a1 - h1, a2 - h2, a3 - h3, coefficients, edge, misses)


@njit
def totals(lanes):
    """Return the six sums over the lanes that add_power_sums filled."""
    return (
        sum_of_lanes(lanes, uint64(0)),
        sum_of_lanes(lanes, uint64(LANES)),
        sum_of_lanes(lanes, uint64(2 * LANES)),
        sum_of_lanes(lanes, uint64(3 * LANES)),
        sum_of_lanes(lanes, uint64(4 * LANES)),
        sum_of_lanes(lanes, uint64(5 * LANES)),
    )


@njit(inline="always")
def _spread(m0, m1, m2, m3, coefficients, edge, sums):
    """Add a cell's moments, times the coefficients, to the sums from ``edge`` on."""
    for j in range(uint64(_REACHED)):
        left = m0 * coefficients[0, j] + m1 * coefficients[1, j]
        right = m2 * coefficients[2, j] + m3 * coefficients[3, j]
        sums[edge + j] += left + right
