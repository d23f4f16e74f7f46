"""The p-value under clusters: one random sign a cluster (wild cluster bootstrap, null imposed).

In a calibrated model the sum of a cluster's residuals y - s in any set of scores has mean 0. Its
sign is flipped at random, for all its rows at once: r* = w_g t (y - s), w_g = ±1, with
t = t_{G-1, 0.975}/1.96 for G clusters. The statistics of the verdict are functions of sums of
residuals. Spiegelhalter's is left out: by signs it rejects calibrated martingales too often
(docs/verdict.md).

Cameron, Gelbach, Miller, *Bootstrap-based improvements for inference with clustered errors*
(Review of Economics and Statistics 2008). The clusters get their signs in an order that depends on
their rows alone.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import stdtrit

from calbias.auditing.verdict.redraws import BLOCK, values_of
from calbias.auditing.verdict.rows import Floats, Groups, Ints
from calbias.auditing.verdict.statistics import PARTS, Statistics
from calbias.conventions import Z_95

LARGEST_NUMBER = 4096
"""More clusters are joined into so many groups; groups of independent clusters are independent."""
_LEAST_UNLIKELY = 10.0
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
    generator: np.random.Generator,
    replicates: int,
) -> Floats:
    """Return the statistics (replicates + 1, 6), row 0 without signs; 0 for "spread".

    ``place``, ``residual``, ``codes`` (e,): group, sum of residuals and cluster of rows of one
    score; a cluster's entries by group.
    """
    number = int(codes.max()) + 1
    n_cells, n_grid = statistics.sign.size, statistics.grid.size - 1
    cell = np.repeat(np.arange(n_cells), np.diff(statistics.starts))[place]
    part = np.repeat(np.arange(n_grid), np.diff(statistics.grid))[cell]
    atoms, scale = _atoms_of_enough(groups, statistics, cell, codes)
    atom = np.full(n_cells, atoms.size)
    atom[atoms] = np.arange(atoms.size)
    sums = [np.bincount(codes, weight[cell] * residual, number) for weight in statistics.weights]
    for places, width in ((part, n_grid), (atom[cell], atoms.size + 1)):
        counts = np.bincount(codes * width + places, residual, number * width)
        sums += list(counts.reshape(number, width).T)
    table: Floats = np.array(sums[:-1], np.float64)  # the last is of no atom
    signed = signed_sums(table, generator, replicates)
    ends = np.cumsum([len(statistics.weights), n_grid])
    pool = []
    for block in (table.sum(axis=1, keepdims=True), *signed):
        z, steps, of_atoms = np.split(block, ends)
        pool.append(values_of(statistics, z, steps, of_atoms, scale))
    values = np.concatenate(pool)
    values[:, _SPREAD] = 0.0
    return values


def signed_sums(table: Floats, generator: np.random.Generator, replicates: int) -> Iterator[Floats]:
    """Yield Σ_g w_g t table_kg, (k, b), of random signs w for clusters g.

    The order of the clusters does not matter.
    """
    number = table.shape[1]
    order = np.argsort(generator.random(len(table)) @ table, kind="stable")
    table = table[:, order] * widening(number)
    if number > LARGEST_NUMBER:
        table = np.pad(table, ((0, 0), (0, -number % LARGEST_NUMBER)))
        table = table.reshape(len(table), -1, LARGEST_NUMBER).sum(axis=1)
    for start in range(0, replicates, BLOCK):
        shape = table.shape[1], min(BLOCK, replicates - start)
        yield table @ (2.0 * generator.integers(0, 2, shape, np.int8) - 1.0)


def _atoms_of_enough(
    groups: Groups, statistics: Statistics, cell: Ints, codes: Ints
) -> tuple[Ints, Floats]:
    """Return the atoms, and scales, where ten clusters or more should have the unlikely outcome.

    With fewer, all residuals may have one sign, and no random signs give as large a sum.
    """
    n_cells = statistics.sign.size
    clusters = np.bincount(np.unique(codes * n_cells + cell) % n_cells, minlength=n_cells)
    chance = groups.chance[statistics.starts[:-1]][statistics.atoms]
    enough = clusters[statistics.atoms] * chance >= _LEAST_UNLIKELY
    return statistics.atoms[enough], statistics.atom_scale[enough]
