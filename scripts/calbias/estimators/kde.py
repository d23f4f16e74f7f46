"""The kernel density estimate (Zhang, Kailkhura, Han 2020).

Densities of all scores and of the hits' scores by a triweight kernel of standard deviation
h = std(scores of the hits)·(2n)^(-1/5), reflected at 0 (scores below 1/2) and at 1 (the others);
with the hit rate r,

    accuracy(c) = min(r · density_hits(c)/density_all(c), 1)
    kde           (∫ |c - accuracy(c)|^p density_all(c) dc / ∫ density_all(c) dc)^(1/p)
    kde_unrooted  ∫ |c - accuracy(c)|^p density_all(c) dc / ∫ density_all(c) dc

``kde`` is the ℓp error. ``kde_unrooted`` is its p-th power, which the published curves behave like;
at p = 1 the two are the same.

The original evaluates the integrals by the trapezoidal rule on 2^14 points of [-0.6, 1.6] and keeps
those inside [0, 1]. Here the trapezoidal rule with Gregory's end corrections runs over points 3h/12
apart (closer where n < 1600), from the first to the last of the original's. Above h = 0.008 the
kernel is widened by what the original's rounding of each score to two neighbouring points adds to
its variance: rooted estimates then agree to 1e-6. Where fewer than a dozen points lie under a
kernel the original's sum is noise, and the integral is that over [0, 1]. At h = 0 (no hits, or all
at one score) it is the limit: accuracy is the mean label at each distinct score.
"""

from math import comb
from typing import Any

import numpy as np

from calbias.engine.jit import float64, int64, njit, uint64
from calbias.engine.simd import LANES, copies, load, select, sum_of_lanes
from calbias.engine.sorted_batch import Estimates, SortedBatch
from calbias.engine.triweight_sums import moment_coefficients, sum_kernels

VARIANTS = {"kde": {"rooted": True}, "kde_unrooted": {"rooted": False}}
TARGET = {"kde": "lp", "kde_unrooted": "lp_power"}
BINS = "none"

_MOST_EDGES = 4096  # wider data are cut where a gap between samples is beyond the kernels' reach
_COUNT = np.arange(8.0)
_CELLS = ((1600, 12), (400, 16), (200, 20), (0, 28))  # least n, cells within a kernel's reach
_COEFFICIENTS = {cells: moment_coefficients(cells) for _, cells in _CELLS}
_STEP = 2.2 / ((1 << 14) - 1)
_GRID = -0.6 + _STEP * np.arange(1 << 14)
_FIRST, _LAST = _GRID[_GRID > 0][0], _GRID[_GRID < 1][-1]
_SPREAD = _STEP**2 / 6.0
_DIFFERENCES = (-1 / 2, 1 / 12, -1 / 24, 19 / 720, -3 / 160, 863 / 60480)  # Gregory's coefficients
_GREGORY = tuple(  # … of forward differences, as weights of the points from an end on
    sum((-1) ** (j - k) * comb(j, k) * _DIFFERENCES[j] for j in range(k, 6)) for k in range(6)
)


def estimate_data_sets(data: SortedBatch, n_bins: int, norm: float, rooted: bool) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    powers = np.empty(data.scores.shape[0])
    cells = next(cells for least, cells in _CELLS if data.scores.shape[1] >= least)
    _kde(data.scores, data.cum_hit, norm, _COEFFICIENTS[cells], powers)
    estimates = powers ** (1.0 / norm) if rooted else powers
    return estimates, np.zeros(estimates.shape, np.int64)


@njit(error_model="numpy")
def bandwidth(scores: np.ndarray, cum_hit: np.ndarray) -> float:
    """Return h = std(scores of the hits)·(2n)^(-1/5) of one data set; 0 without hits."""
    n = scores.shape[0]
    hits = cum_hit[n]
    if hits <= 0.0:
        return 0.0
    top = scores[n - 1]
    firsts = seconds = copies(0.0)
    in_lanes = uint64(n - n % LANES)
    for i in range(uint64(0), in_lanes, uint64(LANES)):
        below = load(scores, i) - top
        hit_below = (load(cum_hit, i + uint64(1)) - load(cum_hit, i)) * below
        firsts, seconds = firsts + hit_below, seconds + hit_below * below
    first, second = sum_of_lanes(firsts), sum_of_lanes(seconds)
    for i in range(in_lanes, uint64(n)):
        below = scores[i] - top
        hit = cum_hit[i + uint64(1)] - cum_hit[i]
        first += hit * below
        second += hit * below * below
    variance = second / hits - (first / hits) ** 2
    return np.sqrt(max(variance, 0.0)) * (2.0 * n) ** -0.2


@njit(error_model="numpy")
def _kde(
    scores: np.ndarray, cum_hit: np.ndarray, norm: float, coefficients: np.ndarray, out: np.ndarray
) -> None:
    for row in range(scores.shape[0]):
        h = bandwidth(scores[row], cum_hit[row])
        if h < 1e-12:
            out[row] = _without_smoothing(scores[row], cum_hit[row], norm)
        else:
            out[row] = _smoothed(scores[row], cum_hit[row], h, norm, coefficients)


@njit(error_model="numpy")
def _without_smoothing(scores: np.ndarray, cum_hit: np.ndarray, norm: float) -> float:
    """Return 1/n Σ |c - mean label at c|^p: the limit of h = 0."""
    n = scores.shape[0]
    total = 0.0
    start = 0
    while start < n:
        end = start + 1
        while end < n and scores[end] == scores[start]:
            end += 1
        hit = (cum_hit[end] - cum_hit[start]) / (end - start)
        total += (end - start) * abs(scores[start] - hit) ** norm
        start = end
    return total / n


@njit(error_model="numpy")
def _smoothed(
    scores: np.ndarray, cum_hit: np.ndarray, h: float, norm: float, coefficients: np.ndarray
) -> float:
    """Return the ratio of the integrals, summed over clusters from the highest score down."""
    if h > 0.008:
        h = np.sqrt(h * h + _SPREAD)
    cells = coefficients.shape[1] // 2
    width = 3.0 * h / cells
    top, bottom = (_LAST, _FIRST) if h > 2.0 * _STEP else (1.0, 0.0)
    error = mass = 0.0
    end = scores.shape[0]
    while end > 0:
        start = 0
        if scores[end - 1] - scores[0] > _MOST_EDGES * width:
            start = end - 1
            while start > 0 and scores[start] - scores[start - 1] < (2 * cells + 2) * width:
                start -= 1
        first, everyone, misses = sum_kernels(scores, cum_hit, start, end, width, coefficients)
        begin, stop = (1.0 - top) / width - first, (1.0 - bottom) / width - first
        cluster_error, cluster_mass = _integrate(everyone, misses, begin, stop, first, width, norm)
        error += cluster_error
        mass += cluster_mass
        end = start
    return max(error, 0.0) / mass


@njit(error_model="numpy")
def _integrate(
    everyone: np.ndarray,
    misses: np.ndarray,
    begin: float,
    stop: float,
    first: int,
    width: float,
    norm: float,
) -> tuple[float, float]:
    """Return (∫ |c - accuracy|^p density, ∫ density), unnormalised, between two positions.

    Positions are counted in edges from ``first``. A bound outside the edges is beyond the kernels'
    reach. Inside, where the density does not vanish, the trapezoidal rule has an end correction,
    and the part of a cell between the bound and the nearest edge is integrated by itself.
    """
    n_edges = everyone.shape[0]
    cut_begin, cut_stop = 0.0 <= begin <= n_edges - 6, 5.0 <= stop <= n_edges - 1
    low = int64(begin + 0.5) if cut_begin else 0
    high = int64(stop + 0.5) if cut_stop else n_edges - 1
    error = mass = 0.0
    begin_rest = low
    if norm == 2.0:
        begin_rest = high + 1 - (high + 1 - low) % LANES
        error, mass = _sums_of_squares(everyone, misses, low, begin_rest, first, width)
    for e in range(begin_rest, high + 1):
        error += _integrand((e + first) * width, everyone[e], misses[e], norm)
        mass += everyone[e]
    for k in range(6):
        for is_cut, e in ((cut_begin, low + k), (cut_stop, high - k)):
            if is_cut:
                error += _GREGORY[k] * _integrand((e + first) * width, everyone[e], misses[e], norm)
                mass += _GREGORY[k] * everyone[e]
    for is_cut, a, b in ((cut_begin, begin, float64(low)), (cut_stop, float64(high), stop)):
        if is_cut:
            more, density = _simpson(everyone, misses, a, b, first, width, norm)
            error, mass = error + more, mass + density
    return error, mass


@njit(error_model="numpy")
def _sums_of_squares(
    everyone: np.ndarray, misses: np.ndarray, start: int, end: int, first: int, width: float
) -> tuple[float, float]:
    """Return the sums of the integrand of norm 2 and of the density, over edges [start, end)."""
    error = mass = copies(0.0)
    for e in range(start, end, LANES):
        density = load(everyone, e)
        missed = load(misses, e) / density  # NaN where no kernel reaches
        missed = select(missed > 0.0, missed, copies(0.0))
        gap = select(missed < 1.0, missed, copies(1.0)) - (load(_COUNT, 0) + (e + first)) * width
        error, mass = error + gap * gap * density, mass + density
    return sum_of_lanes(error), sum_of_lanes(mass)


@njit(error_model="numpy")
def _simpson(
    everyone: np.ndarray,
    misses: np.ndarray,
    low: float,
    high: float,
    first: int,
    width: float,
    norm: float,
) -> tuple[float, float]:
    """Return the two integrals between positions ``low`` and ``high`` within one cell."""
    error = mass = 0.0
    for k in range(3):
        position = low + (high - low) * k / 2.0
        start = min(max(int(position) - 1, 0), everyone.shape[0] - 4)
        density = _interpolate(everyone, start, position)
        missed = _interpolate(misses, start, position)
        weight = (high - low) * (4.0 if k == 1 else 1.0) / 6.0
        mass += weight * density
        error += weight * _integrand((position + first) * width, density, missed, norm)
    return error, mass


@njit(error_model="numpy")
def _interpolate(values: np.ndarray, start: int, position: float) -> float:
    """Return the cubic through the four edges from ``start`` on, at ``position``."""
    t = position - start
    a, b, c, d = t, t - 1.0, t - 2.0, t - 3.0
    return (
        -values[start] * b * c * d / 6.0
        + values[start + 1] * a * c * d / 2.0
        - values[start + 2] * a * b * d / 2.0
        + values[start + 3] * a * b * c / 6.0
    )


@njit(error_model="numpy")
def _integrand(miss: Any, everyone: Any, misses: Any, norm: float) -> Any:
    """Return |c - accuracy|^p density at 1 - c = ``miss``; 0 where no kernel reaches."""
    if everyone <= 0.0:
        return 0.0
    gap = abs(min(max(misses / everyone, 0.0), 1.0) - miss)
    return everyone * (gap * gap if norm == 2.0 else gap**norm)
