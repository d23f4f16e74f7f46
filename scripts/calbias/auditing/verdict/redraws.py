"""Redraws of a calibrated model, or of another, random signs of clusters, and p-values by them.

Up to 4096 rows each row is drawn, so that the number of hits in a cell is exact. In more rows
it is binomial, with the mean chance of the cell's rows: exact where these have one score, and else
spread a little more than a sum of unequal chances (Hoeffding 1956), by less than a thousandth in
512 cells.

**The smallest p of several statistics.** Observed and redrawn values are one pool of R + 1 rows,
which are exchangeable under the null. In each column e = -log(rank from above / (R + 1)), where
ties count as at least as large. Beyond the 20th largest value e grows linearly, at the rate between
the 100th and the 20th, as for an exponential tail: statistics that no redraw reaches can still be
compared. The columns are therefore on the scale of χ². M is a row's largest e, and
p = #{M ≥ M_observed}/(R + 1). Minimum of p-values: Tippett (1931); its calibration by resampling:
Westfall and Young (1993).

**Clusters** get random signs (wild cluster bootstrap, null imposed). In a calibrated model the sum
of a cluster's residuals y - s in any set of scores has mean 0. Its sign is flipped at random, for
all its rows at once: r* = w_g t (y - s), w_g = ±1, with t = t_{G-1, 0.975}/1.96 for G clusters. The
statistics of the verdict are functions of sums of residuals. Spiegelhalter's is left out: by signs
it rejects calibrated martingales too often (docs/tool/verdict.md). The clusters get their signs in
an order that depends on their rows alone. Cameron, Gelbach, Miller, *Bootstrap-based improvements
for inference with clustered errors* (Review of Economics and Statistics 2008).
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np
from scipy.special import stdtrit

from calbias.auditing.verdict.groups import Groups
from calbias.auditing.verdict.statistics import IS_Z, PARTS, Statistics
from calbias.defaults import Z_95
from calbias.samples.by_score import Floats, Ints

BLOCK = 500
"""Data sets that are drawn at once."""
_MOST_ROWS = 4096  # that are drawn one by one
_ALONE = 30  # data sets that BLAS multiplies on one thread: it is done before others wake up
_WORDS = 2.0**32
_TAIL, _BODY = 20, 100
_DIGITS = 9  # statistics that differ by rounding alone are equal


def draw(
    statistics: Statistics,
    groups: Groups,
    generator: np.random.Generator,
    replicates: int,
    chance: Floats | None = None,
) -> Floats:
    """Return the statistics (replicates + 1, 6); row 0 is of the observed hits.

    ``chance`` (g,) of the unlikely outcome is by default the chance in a calibrated model.
    """
    first = statistics.starts[:-1]
    expected = np.add.reduceat(groups.size * groups.chance, first)[:, None]
    observed = np.add.reduceat(groups.unlikely, first)[:, None].astype(np.float64)
    chance = groups.chance if chance is None else np.clip(chance, 0.0, 1.0)
    pool = []
    for residual in chain([observed], _drawn(first, groups.size, chance, generator, replicates)):
        residual -= expected
        residual *= statistics.sign[:, None]
        steps = np.add.reduceat(residual, statistics.grid[:-1], axis=0)
        parts = (residual[:, k : k + _ALONE] for k in range(0, residual.shape[1], _ALONE))
        z = np.concatenate([statistics.weights @ part for part in parts], axis=1)
        sums = z, steps, residual[statistics.atoms]
        pool.append(values_of(statistics, *sums, statistics.atom_scale))
    return np.concatenate(pool)


def _drawn(
    first: Ints, size: Ints, chance: Floats, generator: np.random.Generator, replicates: int
) -> Iterator[Floats]:
    """Yield how many rows of each cell have the unlikely outcome (c, b)."""
    rows, n = np.add.reduceat(size, first), int(size.sum())
    limits = np.minimum(np.rint(_WORDS * chance), _WORDS - 1).astype(np.uint32)
    means = np.minimum(np.add.reduceat(size * chance, first) / rows, 1.0)
    begins = np.append(0, np.cumsum(rows))[:-1]
    smallest = np.min_scalar_type(int(rows.max()))  # integers that hold all counts
    for start in range(0, replicates, BLOCK):
        b = min(BLOCK, replicates - start)
        if n <= _MOST_ROWS:
            words = generator.integers(0, 2**32, (n, b), np.uint32)
            is_unlikely = words < np.repeat(limits, size)[:, None]
            counts = np.add.reduceat(is_unlikely.view(np.uint8), begins, axis=0, dtype=smallest)
            yield counts.astype(np.float64)
        else:
            pairs = zip(rows.tolist(), means.tolist(), strict=True)
            yield np.array([generator.binomial(*pair, b) for pair in pairs], np.float64)


def values_of(
    statistics: Statistics, z: Floats, steps: Floats, atoms: Floats, atom_scale: Floats
) -> Floats:
    """Return the statistics (b, 6) of b data sets.

    z (K + 1, b), the residuals (G, b) of the scan's grid cells and (a, b) of the atoms.
    """
    order = np.arange(1.0, len(z))[:, None]
    squares = np.cumsum(z[:-1] ** 2, axis=0)
    values = (
        np.abs(z[0]),
        squares[min(1, len(squares) - 1)],
        np.abs(z[-1]),
        np.max((squares - order) / np.sqrt(2.0 * order), axis=0),
        _scan(statistics, steps),
        atom_scale @ atoms**2,
    )
    return np.round(np.array(values).T, _DIGITS)


def _scan(statistics: Statistics, steps: Floats) -> Floats:
    """Return the largest value (b,) over all intervals of grid cells."""
    walk = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
    largest = np.full(steps.shape[1], -np.inf)
    for i in range(len(steps)):
        value = np.abs(walk[i + 1 :] - walk[i])
        value *= statistics.scale[i, i + 1 :, None]
        value -= statistics.penalty[i, i + 1 :, None]
        np.maximum(largest, value.max(axis=0), out=largest)
    return largest


def surprise(pool: Floats) -> Floats:
    """Return e (R + 1, k) of the statistics of R + 1 rows, by column."""
    return np.stack(
        [_surprise_in_pool(*_on_scale(pool, pool, k)) for k in range(pool.shape[1])], axis=1
    )


def surprise_against(null: Floats, values: Floats) -> Floats:
    """Return e (m, k) of the statistics of m rows against a pool of R others."""
    columns = range(null.shape[1])
    return np.stack([_surprise_in_pool(*_on_scale(null, values, k), 1) for k in columns], axis=1)


def pooled_p_value(e: Floats) -> tuple[float, Floats]:
    """Return the p-value of row 0 of e (R + 1, k), and the p-values of its k columns."""
    largest = e.max(axis=1)
    as_large = int(np.count_nonzero(largest >= largest[0]))
    return as_large / len(e), np.count_nonzero(e >= e[0], axis=0) / len(e)


def _on_scale(pool: Floats, values: Floats, k: int) -> tuple[Floats, Floats]:
    if IS_Z[k]:
        return pool[:, k] * np.abs(pool[:, k]), values[:, k] * np.abs(values[:, k])
    return pool[:, k], values[:, k]


def _surprise_in_pool(pool: Floats, values: Floats, joins: int = 0) -> Floats:
    """Return e = −log(rank from above / size), (m,), of each value in a pool.

    ``joins`` is 0 where the pool holds the values, and 1 where each is added to it. Beyond the
    _TAIL-th largest value the pool is continued by an exponential law.
    """
    ascending = np.sort(pool)
    n = pool.size + joins
    rank_from_above = n - np.searchsorted(ascending, values, side="left")
    e = -np.log(rank_from_above / n)
    if pool.size > _BODY:
        start = ascending[-_TAIL]
        scale = (start - ascending[-_BODY]) / np.log(_BODY / _TAIL)
        if scale > 0:
            beyond = values > start
            e[beyond] = np.log(n / _TAIL) + (values[beyond] - start) / scale
    return e


LARGEST_NUMBER = 4096
"""More clusters are joined into so many groups, each cluster with a random sign of its own."""
_LEAST_UNLIKELY = 10.0
_SPREAD = PARTS.index("spread")


def widening(number: int) -> float:
    """Return t_{G-1, 0.975} / 1.96 for G clusters."""
    return float(stdtrit(number - 1, 0.975)) / Z_95


def signed_pool(
    groups: Groups,
    statistics: Statistics,
    group: Ints,
    residual: Floats,
    codes: Ints,
    generator: np.random.Generator,
    replicates: int,
) -> Floats:
    """Return the statistics (replicates + 1, 6), row 0 without signs; 0 for "spread".

    ``group``, ``residual``, ``codes`` (e,): group, sum of residuals and cluster of rows of one
    score; a cluster's entries by group.
    """
    number = int(codes.max()) + 1
    n_cells, n_grid = statistics.sign.size, statistics.grid.size - 1
    cell = np.repeat(np.arange(n_cells), np.diff(statistics.starts))[group]
    part = np.repeat(np.arange(n_grid), np.diff(statistics.grid))[cell]
    atoms, atom_scale = _atoms_of_enough(groups, statistics, cell, codes)
    atom = np.full(n_cells, atoms.size)
    atom[atoms] = np.arange(atoms.size)
    sums = [np.bincount(codes, weight[cell] * residual, number) for weight in statistics.weights]
    for positions, width in ((part, n_grid), (atom[cell], atoms.size + 1)):
        counts = np.bincount(codes * width + positions, residual, number * width)
        sums += list(counts.reshape(number, width).T)
    table: Floats = np.array(sums[:-1], np.float64)  # the last is of no atom
    signed = signed_sums(table, generator, replicates)
    ends = np.cumsum([len(statistics.weights), n_grid])
    pool = []
    for block in chain([table.sum(axis=1, keepdims=True)], signed):
        z, steps, atom_sums = np.split(block, ends)
        pool.append(values_of(statistics, z, steps, atom_sums, atom_scale))
    values = np.concatenate(pool)
    values[:, _SPREAD] = 0.0
    return values


def signed_sums(table: Floats, generator: np.random.Generator, replicates: int) -> Iterator[Floats]:
    """Yield Σ_g w_g t table_kg, (k, b), of random signs w for clusters g.

    The order of the clusters does not matter: they are sorted by their values. So a group of
    clusters holds small and large values, which would cancel: each gets a sign before they are
    joined, anew in each block, and E (Σ_g w_g a_g)² = Σ_g a_g² for every grouping.
    """
    number = table.shape[1]
    order = np.argsort(generator.random(len(table)) @ table, kind="stable")
    table = table[:, order] * widening(number)
    for start in range(0, replicates, BLOCK):
        groups = table
        if number > LARGEST_NUMBER:
            padded = np.pad(
                table * _signs(generator, number), ((0, 0), (0, -number % LARGEST_NUMBER))
            )
            groups = padded.reshape(len(table), -1, LARGEST_NUMBER).sum(axis=1)
        yield groups @ _signs(generator, (groups.shape[1], min(BLOCK, replicates - start)))


def _signs(generator: np.random.Generator, shape: int | tuple[int, int]) -> Floats:
    return 2.0 * generator.integers(0, 2, shape, np.int8) - 1.0


def _atoms_of_enough(
    groups: Groups, statistics: Statistics, cell: Ints, codes: Ints
) -> tuple[Ints, Floats]:
    """Return the atoms, and scales, where ten clusters or more should have the unlikely outcome.

    With fewer, all residuals may have one sign, and no random signs give as large a sum: calibrated
    martingales, whose last scores are next to 0 or 1, would be rejected always.
    """
    n_cells = statistics.sign.size
    clusters = np.bincount(np.unique(codes * n_cells + cell) % n_cells, minlength=n_cells)
    chance = groups.chance[statistics.starts[:-1]][statistics.atoms]
    enough = clusters[statistics.atoms] * chance >= _LEAST_UNLIKELY
    return statistics.atoms[enough], statistics.atom_scale[enough]
