"""Surprises of a calibrated model, or of another, drawn cell by cell, and their statistics.

Up to 4096 rows each row is drawn, so that the number of surprises in a cell is exact. In more rows
it is binomial, with the mean chance of the cell's rows: exact where these have one score, and else
spread a little more than a sum of unequal chances (Hoeffding 1956), by less than a thousandth in
512 cells.
"""

from collections.abc import Iterator

import numpy as np

from calbias.auditing.verdict.rows import Floats, Groups, Ints
from calbias.auditing.verdict.statistics import Statistics

BLOCK = 500
"""Data sets that are drawn at once."""
_MOST_ROWS = 4096  # that are drawn one by one
_WORDS = 2.0**32
_LARGEST_ATOM = 1e4
_DIGITS = 9  # statistics that differ by rounding alone are equal


def draw(
    statistics: Statistics,
    groups: Groups,
    generator: np.random.Generator,
    replicates: int,
    chance: Floats | None = None,
) -> Floats:
    """Return the statistics (replicates + 1, 6); row 0 is of the observed surprises.

    ``chance`` (g,) of a surprise is by default the chance in a calibrated model.
    """
    first = statistics.starts[:-1]
    expected = np.add.reduceat(groups.size * groups.chance, first)[:, None]
    observed = np.add.reduceat(groups.surprises, first)[:, None].astype(np.float64)
    chance = groups.chance if chance is None else np.clip(chance, 0.0, 1.0)
    pool = []
    for surprises in (observed, *_drawn(first, groups.size, chance, generator, replicates)):
        residual = statistics.sign[:, None] * (surprises - expected)
        steps = np.add.reduceat(residual, statistics.grid[:-1], axis=0)
        sums = statistics.weights @ residual, steps, residual[statistics.atoms]
        pool.append(values_of(statistics, *sums, statistics.atom_scale))
    return np.concatenate(pool)


def _drawn(
    first: Ints, size: Ints, chance: Floats, generator: np.random.Generator, replicates: int
) -> Iterator[Floats]:
    """Yield numbers of surprises (c, b) of cells that begin with the groups ``first`` (c,)."""
    rows, n = np.add.reduceat(size, first), int(size.sum())
    limits = np.minimum(np.rint(_WORDS * chance), _WORDS - 1).astype(np.uint32)
    means = np.minimum(np.add.reduceat(size * chance, first) / rows, 1.0)
    begins = np.append(0, np.cumsum(rows))[:-1]
    for start in range(0, replicates, BLOCK):
        b = min(BLOCK, replicates - start)
        if n <= _MOST_ROWS:
            words = generator.integers(0, 2**32, (n, b), np.uint32)
            is_surprise = words < np.repeat(limits, size)[:, None]
            yield np.add.reduceat(is_surprise.view(np.uint8), begins, axis=0, dtype=np.float64)
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
        np.minimum(atoms**2 * atom_scale[:, None], _LARGEST_ATOM).sum(axis=0),
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
