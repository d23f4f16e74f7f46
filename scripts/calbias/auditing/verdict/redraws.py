"""Surprises of a calibrated model, or of another, drawn cell by cell, and their statistics.

The number of surprises in a cell is a sum of independent outcomes of unequal chances. Its law is
computed (the Poisson binomial, by adding row after row; a binomial where the chances are equal or
the cell has more than 4096 rows), and one random word of 32 bits draws from it. The word is a
function of the key, the replicate and the cell alone.
"""

from typing import NamedTuple

import numpy as np
from numba import uint32

from calbias.auditing.verdict.rows import Floats, Groups, Ints
from calbias.auditing.verdict.statistics import PARTS, Statistics
from calbias.engine.jit import njit
from calbias.engine.philox import fill_words

BLOCK = 128  # replicates whose sums stay in the nearest cache
_GUIDES = 64
_LARGEST_SUM = 4096  # rows of a cell
LARGEST_ATOM = 1e4
_LARGEST_CHANCE = 1.0 - 1e-12
DIGITS = 9  # statistics that differ by rounding alone are equal


class Tables(NamedTuple):
    """Laws of the surprises of c cells, to draw from.

    mean    (c,) expected surprises of a calibrated model
    starts  (c + 1,) where a cell's thresholds begin
    lows    (c,) the least number of surprises
    limits  thresholds: the number is the least j, from ``lows`` on, with word < limit
    guide   (c, 64) the j at which the search begins, by the word's first bits
    """

    mean: Floats
    starts: Ints
    lows: Ints
    limits: Ints
    guide: Ints


def tables_of(groups: Groups, statistics: Statistics, chance: Floats | None = None) -> Tables:
    """Return the Tables of the cells; ``chance`` (g,) of a surprise, by default the scores'."""
    first, rows = statistics.starts[:-1], groups.size
    expected = np.add.reduceat(rows * groups.chance, first)
    chance = groups.chance if chance is None else np.clip(chance, 0.0, _LARGEST_CHANCE)
    mean, variance = rows * chance, rows * chance * (1.0 - chance)
    size = np.add.reduceat(rows, first)
    mean, spread = np.add.reduceat(mean, first), np.sqrt(np.add.reduceat(variance, first))
    reach = 7.0 * spread + 12.0
    lows = np.maximum(np.floor(mean - reach), 0.0).astype(np.int64)
    highs = np.minimum(np.ceil(mean + reach), size).astype(np.int64)
    starts = np.r_[0, np.cumsum(highs - lows + 1)].astype(np.int64)
    limits = np.empty(starts[-1], np.int64)
    guide = np.empty((first.size, _GUIDES), np.int64)
    tables = Tables(expected, starts, lows, limits, guide)
    scratch = np.zeros(int(highs.max()) + 2)
    _fill_tables(statistics.starts, rows, chance, size, mean, tables, scratch)
    return tables


def draw(
    statistics: Statistics, tables: Tables, observed: Ints, key: Ints, replicates: int
) -> Floats:
    """Return the statistics (replicates + 1, 6); row 0 is of the ``observed`` (c,) surprises."""
    out = np.zeros((replicates + 1, len(PARTS)))
    _draw(key, observed, tables, statistics, out)
    return np.round(out, DIGITS)


@njit(error_model="numpy")
def _fill_tables(
    cells: np.ndarray,
    sizes: np.ndarray,
    chance: np.ndarray,
    rows: np.ndarray,
    mean: np.ndarray,
    tables: Tables,
    scratch: np.ndarray,
) -> None:
    starts, lows, limits, guide = tables.starts, tables.lows, tables.limits, tables.guide
    for c in range(rows.shape[0]):
        n, low, high = rows[c], lows[c], lows[c] + starts[c + 1] - starts[c] - 1
        law = scratch[low:]
        if cells[c + 1] - cells[c] == 1 or n > _LARGEST_SUM:
            p = mean[c] / n
            odds = p / (1.0 - p)
            mode = min(max(int(mean[c]), low), high)
            law[mode - low] = 1.0
            for k in range(mode + 1, high + 1):
                law[k - low] = law[k - 1 - low] * odds * (n - k + 1) / k
            for k in range(mode - 1, low - 1, -1):
                law[k - low] = law[k + 1 - low] * (k + 1) / (odds * (n - k))
        else:
            for k in range(1, high + 1):
                scratch[k] = 0.0
            scratch[0] = 1.0
            done = 0
            for g in range(cells[c], cells[c + 1]):
                p, q = chance[g], 1.0 - chance[g]
                for _ in range(sizes[g]):
                    done += 1
                    for k in range(min(done, high), max(low - (n - done), 1) - 1, -1):
                        scratch[k] = scratch[k] * q + scratch[k - 1] * p
                    if low <= n - done:
                        scratch[0] *= q
        total = 0.0
        for k in range(high - low + 1):
            total += law[k]
        below, at = 0.0, starts[c]
        for k in range(high - low + 1):
            below += law[k]
            limits[at + k] = int(below / total * 4294967296.0 + 0.5)
        limits[starts[c + 1] - 1] = 4294967296
        j = 0
        for part in range(_GUIDES):
            while limits[at + j] <= part << 26:
                j += 1
            guide[c, part] = j


@njit(error_model="numpy")
def _draw(
    key: np.ndarray, observed: np.ndarray, tables: Tables, statistics: Statistics, out: np.ndarray
) -> None:
    mean, starts, lows, limits, guide = tables
    _, sign, weights, grid, _, _, atoms, atom_scale = statistics
    order, n_grid = weights.shape[0] - 1, grid.shape[0] - 1
    z = np.empty((order + 1, BLOCK))
    walk = np.empty((n_grid + 1, BLOCK))
    residual, sums, best = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    atom_sum, drawn = np.empty(BLOCK), np.empty(BLOCK)
    words = np.empty((4, BLOCK // 4), np.uint32)
    for first in range(0, out.shape[0], BLOCK):
        for r in range(BLOCK):
            walk[0, r] = sums[r] = atom_sum[r] = 0.0
            for k in range(order + 1):
                z[k, r] = 0.0
        corner, atom = 0, 0
        for c in range(sign.shape[0]):
            fill_words(words, BLOCK // 4, uint32(first // 4), key[0], key[1], uint32(c),
                       uint32(0x7E57))  # fmt: skip
            at = starts[c]
            if starts[c + 1] - at <= 2:
                limit = limits[at]
                for part in range(4):
                    for i in range(BLOCK // 4):
                        is_one = np.int64(words[part, i]) >= limit
                        drawn[part * (BLOCK // 4) + i] = 1.0 if is_one else 0.0
            else:
                for part in range(4):
                    for i in range(BLOCK // 4):
                        word = np.int64(words[part, i])
                        j = guide[c, word >> 26]
                        while word >= limits[at + j]:
                            j += 1
                        drawn[part * (BLOCK // 4) + i] = j
            if first == 0:
                drawn[0] = observed[c] - lows[c]
            shift, factor = mean[c] - lows[c], sign[c]
            for r in range(BLOCK):
                residual[r] = factor * (drawn[r] - shift)
            for r in range(BLOCK):
                sums[r] += residual[r]
            for k in range(order + 1):
                weight = weights[k, c]
                for r in range(BLOCK):
                    z[k, r] += weight * residual[r]
            if atom < atoms.shape[0] and atoms[atom] == c:
                for r in range(BLOCK):
                    square = residual[r] * residual[r] * atom_scale[atom]
                    atom_sum[r] += min(square, LARGEST_ATOM)
                atom += 1
            if c + 1 == grid[corner + 1]:
                corner += 1
                for r in range(BLOCK):
                    walk[corner, r] = sums[r]
        finish(first, z, walk, atom_sum, statistics, best, out)


@njit(error_model="numpy")
def finish(
    first: int,
    z: np.ndarray,
    walk: np.ndarray,
    atom_sum: np.ndarray,
    statistics: Statistics,
    best: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the statistics of a block of replicates to rows ``first`` and following of ``out``.

    z (K + 1, b), walk (G + 1, b) and atom_sum (b,) are the sums; best (b,) is scratch.
    """
    order, n_grid, block = z.shape[0] - 1, walk.shape[0] - 1, best.shape[0]
    scale, penalty = statistics.scale, statistics.penalty
    for r in range(block):
        best[r] = -1e300
    for i in range(n_grid):
        for j in range(i + 1, n_grid + 1):
            factor, less = scale[i, j], penalty[i, j]
            for r in range(block):
                value = abs(walk[j, r] - walk[i, r]) * factor - less
                best[r] = max(best[r], value)
    for r in range(min(block, out.shape[0] - first)):
        square, shape = 0.0, -1e300
        for k in range(order):
            square += z[k, r] * z[k, r]
            if k == 0:
                out[first + r, 0] = abs(z[0, r])
                out[first + r, 1] = square
            elif k == 1:
                out[first + r, 1] = square
            shape = max(shape, (square - (k + 1)) / np.sqrt(2.0 * (k + 1)))
        out[first + r, 2] = abs(z[order, r])
        out[first + r, 3] = shape
        out[first + r, 4] = best[r]
        out[first + r, 5] = atom_sum[r]
