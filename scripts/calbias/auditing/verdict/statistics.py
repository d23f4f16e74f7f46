"""The statistics of the verdict, as weights of the cells' residuals.

With residuals r = hit - score and variances v = s(1 - s), sums over the cells:

    level   |Σ r| / √V,  V = Σ v
    line    Cox's score test of logit P(hit) = a + b·logit s, z_1² + z_2²
    spread  Spiegelhalter's |Σ (1 - 2s) r| / √(Σ (1 - 2s)² v)
    shape   max over K of (z_1² + … + z_K² - K) / √(2K): the adaptive smooth test (Neyman; Fan 1996)
    local   max over intervals I of |Σ_I r| / √V_I - ½ √(2 log(V / V_I)), a scan
    atoms   Σ over atoms of (Σ r)² / v

z_k = Σ φ_k r; φ_1, φ_2, … are 1, logit s and Legendre polynomials of the share of the variance
below, made orthonormal under v. There are at most min(16, V/2) of them. The ends of the scan's
intervals are on a grid of min(64, V/2) cells of equal variance.

Cox, *Two further applications of a model for binary regression* (Biometrika 1958). Spiegelhalter,
*Probabilistic prediction in patient management and clinical trials* (Statistics in Medicine 1986).
Fan, *Test of significance based on wavelet thresholding and Neyman's truncation* (JASA 1996).
Dümbgen and Spokoiny, *Multiscale testing of qualitative hypotheses* (Annals of Statistics 2001):
the scan's penalty, here halved.
"""

from typing import NamedTuple

import numpy as np

from calbias.auditing.verdict.groups import Groups, cell_starts
from calbias.samples.by_score import Floats, Ints

PARTS = ("level", "line", "spread", "shape", "local", "atoms")
IS_Z = (True, False, True, False, True, False)
"""Which statistics are on the scale of a standard normal variable; the others of its square."""
LARGEST_ORDER, LARGEST_GRID = 16, 64
_PENALTY = 0.5  # of short intervals, times that of Dümbgen and Spokoiny
_PER_UNIT = 0.5  # orders and grid cells per unit of variance
_DEPENDENT = 1e-6  # share of a basis function's norm that must be left after projection


class Statistics(NamedTuple):
    """What the statistics of given scores are made of; c cells.

    starts   (c + 1,) the first group of each cell
    sign     (c,) +1 where the unlikely outcome is a hit
    weights  (K + 1, c): φ_1 … φ_K, and Spiegelhalter's weights, of unit variance
    grid     (G + 1,) the first cell of each grid cell of the scan
    scale, penalty   (G + 1, G + 1): of the interval from grid cell i up to j
    atoms, atom_scale   (a,) cells that are atoms, and 1/v
    """

    starts: Ints
    sign: Floats
    weights: Floats
    grid: Ints
    scale: Floats
    penalty: Floats
    atoms: Ints
    atom_scale: Floats


def statistics_of(groups: Groups) -> Statistics:
    """Return the Statistics of the scores of groups; the hits do not matter."""
    starts = cell_starts(groups)
    first = starts[:-1]
    group_variance = groups.variance
    variance = np.add.reduceat(group_variance, first)
    total = float(variance.sum())
    sign = groups.sign[first]

    def mean_in_cells(values: Floats) -> Floats:
        return np.add.reduceat(values * group_variance, first) / variance

    time = (np.cumsum(variance) - variance / 2) / total
    order = int(np.clip(total * _PER_UNIT, 2, LARGEST_ORDER))
    basis = [np.ones_like(time), mean_in_cells(groups.x), *_legendre(2.0 * time - 1.0, order - 1)]
    spread = mean_in_cells(-groups.sign * (1.0 - 2.0 * groups.chance))  # 2s - 1
    norm = np.sqrt(np.sum(spread**2 * variance))
    weights = [*_orthonormal(basis, variance, order), spread / norm if norm > 0 else 0.0 * spread]
    grid_size = int(np.clip(total * _PER_UNIT, 1, LARGEST_GRID))
    cell = np.minimum((grid_size * time).astype(np.int64), grid_size - 1)
    grid = np.append(np.flatnonzero(np.diff(cell, prepend=-1)), cell.size).astype(np.int64)
    below = np.append(0.0, np.cumsum(variance))[grid]
    inside = np.maximum(below[None, :] - below[:, None], 1e-300)
    atoms = np.flatnonzero(groups.is_atom[first] & (np.diff(starts) == 1)).astype(np.int64)
    return Statistics(
        starts,
        sign,
        np.array(weights),
        grid,
        1.0 / np.sqrt(inside),
        _PENALTY * np.sqrt(2.0 * np.log(np.maximum(total / inside, 1.0))),
        atoms,
        1.0 / np.maximum(variance[atoms], 1e-300),
    )


def _legendre(t: Floats, degree: int) -> list[Floats]:
    """Return the Legendre polynomials of degree 1 … ``degree`` at t (c,)."""
    before, now, polynomials = np.ones_like(t), t, []
    for k in range(1, degree + 1):
        polynomials.append(now)
        before, now = now, ((2 * k + 1) * t * now - k * before) / (k + 1)
    return polynomials


def _orthonormal(functions: list[Floats], variance: Floats, order: int) -> list[Floats]:
    """Return at most ``order`` functions (c,), orthonormal under the variances, by Gram-Schmidt."""
    rests = np.array(functions)
    sizes = np.sqrt(np.add.reduce(rests**2 * variance, axis=1))
    basis = np.empty((order, variance.size))
    count = 0
    for k in range(len(functions)):
        members, remainder = basis[:count], rests[k]
        # the second pass removes what rounding left
        left = np.add.reduce(remainder * members * variance, axis=1)
        remainder = remainder - np.add.reduce(left[:, None] * members, axis=0)
        norm = np.sqrt(np.add.reduce(remainder**2 * variance))
        if norm > _DEPENDENT * sizes[k] and count < order:
            basis[count] = member = remainder / norm
            later = rests[k + 1 :]
            later -= np.add.reduce(later * member * variance, axis=1)[:, None] * member
            count += 1
    return list(basis[:count])
