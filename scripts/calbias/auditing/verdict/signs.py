"""The p-value under clusters: one random sign a cluster (wild cluster bootstrap, null imposed).

In a calibrated model the sum of a cluster's residuals y - s in any set of scores has mean 0. Its
sign is flipped at random, for all its rows at once: r* = w_g t (y - s), w_g = ±1, with
t = t_{G-1, 0.975}/1.96 for G clusters. The statistics of the verdict are functions of sums of
residuals. Spiegelhalter's is left out: by signs it rejects calibrated martingales too often
(docs/verdict.md).

Cameron, Gelbach, Miller, *Bootstrap-based improvements for inference with clustered errors*
(Review of Economics and Statistics 2008). A sign is a function of key, replicate and cluster.
"""

from typing import Any

import numpy as np
from numba import uint32
from scipy.special import stdtrit

from calbias.auditing.verdict.redraws import BLOCK, DIGITS, LARGEST_ATOM, finish
from calbias.auditing.verdict.rows import Floats, Groups, Ints
from calbias.auditing.verdict.statistics import PARTS, Statistics
from calbias.conventions import Z_95
from calbias.engine.jit import njit
from calbias.engine.philox import fill_words

LARGEST_NUMBER = 16_384
"""More clusters are joined into so many groups; groups of independent clusters are independent."""
_LEAST_SURPRISES = 10.0
_SPREAD = PARTS.index("spread")


def widening(number: int) -> float:
    """Return t_{G-1, 0.975} / 1.96 for G clusters."""
    return float(stdtrit(number - 1, 0.975)) / Z_95


def signed_pool(
    groups: Groups,
    statistics: Statistics,
    place: Ints,
    residual: Floats,
    codes: Ints,
    key: Ints,
    replicates: int,
) -> Floats:
    """Return the statistics (replicates + 1, 6), row 0 without signs; 0 for "spread".

    ``place``, ``residual``, ``codes`` (n,): group, residual and cluster of rows, by cluster.
    """
    codes = codes % LARGEST_NUMBER
    number = int(codes.max()) + 1
    n_cells, n_grid = statistics.sign.size, statistics.grid.size - 1
    cell = np.repeat(np.arange(n_cells), np.diff(statistics.starts))[place]
    part = np.repeat(np.arange(n_grid), np.diff(statistics.grid))[cell]
    atoms, scale = _atoms_of_enough(groups, statistics, cell, codes)
    atom = np.full(n_cells, atoms.size)
    atom[atoms] = np.arange(atoms.size)
    sums = [np.bincount(codes, weight[cell] * residual, number) for weight in statistics.weights]
    for places, width in ((part, n_grid), (atom[cell], atoms.size + 1)):
        table = np.bincount(codes * width + places, residual, number * width)
        sums += list(table.reshape(number, width).T)
    table = np.ascontiguousarray(np.array(sums).T)
    out = np.zeros((replicates + 1, len(PARTS)))
    _sign(key, table, statistics, scale, widening(number), out)
    out[:, _SPREAD] = 0.0
    return np.round(out, DIGITS)


def _atoms_of_enough(
    groups: Groups, statistics: Statistics, cell: Ints, codes: Ints
) -> tuple[Ints, Floats]:
    """Return the atoms in which at least ten clusters with a surprise are expected; their scales.

    With fewer, all residuals may have one sign, and no random signs give as large a sum.
    """
    n_cells = statistics.sign.size
    clusters = np.bincount(np.unique(codes * n_cells + cell) % n_cells, minlength=n_cells)
    chance = groups.chance[statistics.starts[:-1]][statistics.atoms]
    enough = clusters[statistics.atoms] * chance >= _LEAST_SURPRISES
    return statistics.atoms[enough], statistics.atom_scale[enough]


def signed_sums(key: Ints, table: Floats, replicates: int) -> Floats:
    """Return Σ_g w_g table_gk, (replicates, k), of random signs w for clusters g."""
    signs = np.empty((replicates, table.shape[1]))
    _sums(key, table, signs)
    return signs


@njit(error_model="numpy")
def _add_block(
    number: int, key: np.ndarray, table: np.ndarray, signs: np.ndarray, sums: np.ndarray
) -> None:
    """Fill sums (k, 128) with those of block ``number``."""
    for k in range(sums.shape[0]):
        for r in range(signs.shape[0]):
            sums[k, r] = 0.0
    words = np.empty((4, 1), np.uint32)
    for g in range(table.shape[0]):
        fill_words(words, 1, uint32(number), key[0], key[1], uint32(g), uint32(0x516E))
        for part in range(4):
            for i in range(32):  # 128 random bits are 128 signs
                is_set = (words[part, 0] >> uint32(i)) & uint32(1)
                signs[part * 32 + i] = 1.0 if is_set else -1.0
        for k in range(sums.shape[0]):
            value = table[g, k]
            if value != 0.0:
                for r in range(signs.shape[0]):
                    sums[k, r] += value * signs[r]


@njit(error_model="numpy")
def _sums(key: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
    signs, sums = np.empty(BLOCK), np.empty((table.shape[1], BLOCK))
    for first in range(0, out.shape[0], BLOCK):
        _add_block(first // BLOCK, key, table, signs, sums)
        for r in range(min(BLOCK, out.shape[0] - first)):
            for k in range(sums.shape[0]):
                out[first + r, k] = sums[k, r]


@njit(error_model="numpy")
def _sign(
    key: np.ndarray,
    table: np.ndarray,
    statistics: Statistics,
    atom_scale: np.ndarray,
    wider: Any,
    out: np.ndarray,
) -> None:
    n_weights, n_grid = statistics.weights.shape[0], statistics.grid.shape[0] - 1
    signs, sums = np.empty(BLOCK), np.empty((table.shape[1], BLOCK))
    walk, atom_sum, best = np.zeros((n_grid + 1, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    for first in range(0, out.shape[0], BLOCK):
        _add_block(first // BLOCK, key, table, signs, sums)
        for k in range(sums.shape[0]):
            for r in range(BLOCK):
                sums[k, r] *= wider
        if first == 0:
            for k in range(sums.shape[0]):
                sums[k, 0] = 0.0
                for g in range(table.shape[0]):
                    sums[k, 0] += table[g, k]
        for i in range(n_grid):
            for r in range(BLOCK):
                walk[i + 1, r] = walk[i, r] + sums[n_weights + i, r]
        for r in range(BLOCK):
            atom_sum[r] = 0.0
        for a in range(atom_scale.shape[0]):
            for r in range(BLOCK):
                value = sums[n_weights + n_grid + a, r]
                atom_sum[r] += min(value * value * atom_scale[a], LARGEST_ATOM)
        finish(first, sums[:n_weights], walk, atom_sum, statistics, best, out)
