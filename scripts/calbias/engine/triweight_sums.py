"""Sums of triweight kernels over many samples at once, on a grid of edges.

The scores are cut into cells, a whole number of them within a kernel's reach. A cell's samples
enter by their moments about its centre: up to the third exactly, and the fourth as 3/10 of the
second less size/80, which holds for evenly spread samples and for samples at an edge (as are the
scores that round to 1). Edges are counted downwards from score 1: edge e is at score 1 - e·width,
and cell e lies between edges e and e + 1.

The sums are for the trapezoidal rule, which errs where the kernel ends: at distance u from its end
the kernel is 8u³/cells³, and over whole steps the sum of u³ exceeds the integral by -B₄(θ)/4, with
the Bernoulli polynomial B₄ at the end's place θ between two edges (Euler and Maclaurin). What is
missing, 2·B₄(θ)/cells³, is added at the end, extrapolated from the last two edges within reach. Its
sum over a cell is (size/60 - second moment/5)·2/cells³.
"""

import numpy as np

from calbias.engine.bin_search import first_rank
from calbias.engine.jit import float64, njit, uint64
from calbias.engine.simd import LANES, copies, first_true, load, select, store, sum_of_lanes

_ONE, _EIGHT = uint64(1), uint64(LANES)


def moment_coefficients(cells: int) -> np.ndarray:
    """Return (4, 2·cells): what a cell's moments, by order, add to the sums at edges in reach.

    The kernel (1 - x²/cells²)³ is expanded to fourth order at the cell's centre, seen from each
    edge; there are ``cells``, a multiple of 4, within its reach.
    """
    x = np.arange(cells - 0.5, -cells, -1.0)
    kernel = np.polynomial.Polynomial([1.0, 0.0, -1.0 / cells**2]) ** 3
    orders = [kernel.deriv(k)(x) / (1.0, 1.0, 2.0, 6.0, 24.0)[k] for k in range(5)]
    orders[0] -= orders[4] / 80.0
    orders[2] += orders[4] * 0.3
    for edge, share in ((0, 1.5), (1, -0.5), (-1, 1.5), (-2, -0.5)):
        orders[0][edge] += share * 2.0 / cells**3 / 60.0
        orders[2][edge] -= share * 2.0 / cells**3 / 5.0
    return np.array(orders[:4])


@njit(error_model="numpy")
def sum_kernels(
    scores: np.ndarray,
    cum_hit: np.ndarray,
    start: int,
    end: int,
    width: float,
    coefficients: np.ndarray,
) -> tuple[int, np.ndarray, np.ndarray]:
    """Return (first edge, sums of all samples, sums of the misses), arrays (edges,).

    The samples have the ranks [start, end). Each has a mirror image at 0 if its score is below
    1/2, and at 1 otherwise. Scores out of order or outside [0, 1] end the sums early.
    """
    cells = coefficients.shape[1] // 2
    reach = cells * width
    first = int((1.0 - scores[end - 1]) / width) - cells
    lowest = 1.0 - scores[start] if scores[start] > reach else 1.0 + reach
    last = int(lowest / width) + cells + 1
    n_edges = max(last - first + 1, 0)
    everyone, misses = np.zeros(n_edges), np.zeros(n_edges)
    half = first_rank(scores, start, end, 0.5)
    near_zero = first_rank(scores, start, half, reach)
    down, up = -1.0, 1.0
    _add(scores, cum_hit, half, end, down, width, first, coefficients, everyone, misses)
    _fold_at_one(first, everyone)
    _fold_at_one(first, misses)
    _add(scores, cum_hit, start, half, down, width, first, coefficients, everyone, misses)
    _add(scores, cum_hit, start, near_zero, up, width, first, coefficients, everyone, misses)
    return first, everyone, misses


@njit
def _fold_at_one(first: int, sums: np.ndarray) -> None:
    """Add to the sum at each edge the sum at its mirror image on the other side of score 1."""
    if 0 <= -first < sums.shape[0]:
        sums[-first] *= 2.0
        for k in range(1, min(1 - first, sums.shape[0] + first)):
            total = sums[-first + k] + sums[-first - k]
            sums[-first + k] = sums[-first - k] = total


@njit(error_model="numpy")
def _add(
    scores: np.ndarray,
    cum_hit: np.ndarray,
    start: int,
    end: int,
    sign: float,
    width: float,
    first: int,
    coefficients: np.ndarray,
    everyone: np.ndarray,
    misses: np.ndarray,
) -> None:
    """Add the kernels of ranks [start, end), cell by cell, at 1 + sign·score from score 1."""
    per_width = 1.0 / width
    cells = coefficients.shape[1] // 2
    i, end = uint64(start), uint64(end)
    while i < end:
        begin = i
        position = (1.0 + sign * scores[i]) * per_width
        cell = int(position)
        centre, edge = cell + 0.5, cell - first - cells + 1
        if not (position >= 0.0 and 0 <= edge <= everyone.shape[0] - 2 * cells):
            return
        x1 = x2 = x3 = h1 = h2 = h3 = copies(0.0)
        inside = _EIGHT
        while i + _EIGHT <= end:
            x = (load(scores, i) * sign + 1.0) * per_width - centre
            is_beyond = x * sign > 0.5
            x = select(is_beyond, copies(0.0), x)
            hit_x = (load(cum_hit, i + _ONE) - load(cum_hit, i)) * x
            square = x * x
            x1, x2, x3 = x1 + x, x2 + square, x3 + square * x
            h1, h2, h3 = h1 + hit_x, h2 + hit_x * x, h3 + hit_x * square
            inside = first_true(is_beyond)
            if inside < _EIGHT:
                i += inside
                break
            i += _EIGHT
        a1, a2, a3 = sum_of_lanes(x1), sum_of_lanes(x2), sum_of_lanes(x3)
        b1, b2, b3 = sum_of_lanes(h1), sum_of_lanes(h2), sum_of_lanes(h3)
        while i < end and inside == _EIGHT:  # the last seven samples
            x = (1.0 + sign * scores[i]) * per_width - centre
            if x * sign > 0.5:
                break
            hit_x = (cum_hit[i + _ONE] - cum_hit[i]) * x
            a1, a2, a3 = a1 + x, a2 + x * x, a3 + x * x * x
            b1, b2, b3 = b1 + hit_x, b2 + hit_x * x, b3 + hit_x * (x * x)
            i += _ONE
        size = float64(i - begin)
        missed = size - (cum_hit[i] - cum_hit[begin])
        _spread(size, a1, a2, a3, coefficients, uint64(edge), everyone)
        if missed > 0.0:
            _spread(missed, a1 - b1, a2 - b2, a3 - b3, coefficients, uint64(edge), misses)


@njit
def _spread(
    m0: float,
    m1: float,
    m2: float,
    m3: float,
    coefficients: np.ndarray,
    edge: int,
    sums: np.ndarray,
) -> None:
    """Add a cell's moments, times the coefficients, to the sums from ``edge`` on."""
    for j in range(uint64(0), uint64(coefficients.shape[1]), _EIGHT):
        left = load(coefficients[0], j) * m0 + load(coefficients[1], j) * m1
        right = load(coefficients[2], j) * m2 + load(coefficients[3], j) * m3
        store(sums, edge + j, load(sums, edge + j) + (left + right))
