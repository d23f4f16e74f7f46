"""Targets of the league's estimators beyond the ones that calbias knows, see there.

``averaged_two_bin``
    ∫_0^1 [(E δ 1{S < q})² + (E δ 1{S ≥ q})²] dq, the limit of the estimator ATB of Hartline, Hu
    and Wu (COLT 2026); 0 for a calibrated model alone
``deviation_range``
    sup over intervals I of |E δ(S) 1{S ∈ I}|, the target of ECCE-R (Arrieta-Ibarra et al., JMLR
    2022). Between the largest deviation and twice that, at most ℓ1
``gap_quantile``
    a quantile of |δ|: the median E50, E90, and Emax at level 1 (Austin and Steyerberg,
    Statistics in Medicine 2019; their ICI is ``lp`` with p = 1)
``isotonic_gain``
    E δ² − E (c − c_iso)², c_iso the nondecreasing function nearest to the curve c: the
    miscalibration of the CORP decomposition (Dimitriadis et al., PNAS 2021)
``kernel_ce``
    ∬ δ(s) δ(t) exp(−|s − t|/ν) dF(s) dF(t) (Widmann et al., NeurIPS 2019), or its root, the
    MMCE (Kumar et al., ICML 2018)
``smece``
    the fixed point σ* = smECE_σ*, smECE_σ = ∫₀¹ |E K_σ(t, S) δ(S)| dt, K_σ the Gaussian kernel
    reflected at 0 and 1 (Błasiok and Nakkiran, ICLR 2024). smECE_σ falls as σ grows. The
    reflected Gaussian is diagonal in the cosine transform
``smooth_ce``
    max E η(S) δ(S) over 1-Lipschitz η with |η| ≤ 1 (Błasiok et al., STOC 2023), exactly, by
    dynamic programming with a concave, piecewise linear value function
"""

from functools import partial

import numpy as np
from scipy.fft import dct, idct
from scipy.optimize import brentq, isotonic_regression
from scipy.special import betainc, expit, log_expit

from calbias.truth import targets as of_calbias
from calbias.truth.scenarios import Scenario
from calbias.truth.targets import GRID_SIZE, Population, Target, cumulative_gaps, quantile_grid
from calbias.truth.true_error import gap

_HALVINGS = 60
_LONGEST = 300.0  # bandwidths over which exp(score/ν) is summed without overflow
_CELLS = 1 << 14  # moving the masses by a cell changes the smooth error by less than 1e-8
_SMALLEST = 1e-9


def averaged_two_bin(population: Population) -> float:
    """Return the averaged two-bin error of a Population, a squared fraction."""
    below = np.append(0.0, np.cumsum(population.weights * population.gaps))
    lengths = np.diff(population.scores, prepend=0.0, append=1.0)
    return float(np.dot(lengths, below**2 + (below[-1] - below) ** 2))


def deviation_range(population: Population) -> float:
    """Return max C − min C of a Population, a fraction."""
    return float(np.ptp(cumulative_gaps(population)))


def gap_quantile(population: Population, level: float = 0.5) -> float:
    """Return the smallest x with P(|δ| ≤ x) ≥ level of a Population, a fraction."""
    sizes = np.abs(population.gaps)
    order = np.argsort(sizes)
    upto = np.cumsum(population.weights[order])
    at = np.searchsorted(upto, level * upto[-1] * (1.0 - 1e-12))
    return float(sizes[order][min(at, sizes.size - 1)])


def _gap_quantile_of_scenario(scenario: Scenario, level: float = 0.5) -> float:
    """Return the quantile of a Scenario: where |δ| crosses x is located on a grid, then exactly."""
    _, alpha, beta, curve = scenario
    log_score, log1m_score = quantile_grid(alpha, beta, GRID_SIZE)
    sizes = np.abs(gap(curve, log_score, log1m_score))
    log_odds = log_score - log1m_score

    def share_up_to(x: float) -> float:
        """Return P(|δ| ≤ x)."""
        inside = sizes <= x
        at = np.flatnonzero(inside[1:] != inside[:-1])
        low, high = log_odds[at], log_odds[at + 1]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            size = np.abs(gap(curve, log_expit(middle), log_expit(-middle)))
            is_before = (size <= x) == inside[at]
            low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
        below = betainc(alpha, beta, expit(low))
        return float(np.sum(np.where(inside[at], below, -below))) + float(inside[-1])

    largest = float(sizes.max())
    if level >= 1.0:
        return largest
    if share_up_to(0.0) >= level:
        return 0.0
    return float(brentq(lambda x: share_up_to(x) - level, 0.0, largest, xtol=1e-15, rtol=1e-12))


def isotonic_gain(population: Population) -> float:
    """Return the gain of a Population."""
    curve = population.scores + population.gaps
    isotonic = isotonic_regression(curve, weights=population.weights).x
    squares = population.gaps**2 - (curve - isotonic) ** 2
    return float(np.dot(population.weights, squares))


def kernel_ce(population: Population, bandwidth: float = 0.1, rooted: bool = False) -> float:
    """Return the squared kernel calibration error of a Population, or its root (``rooted``)."""
    mass = population.weights * population.gaps
    total = float(np.dot(mass, mass)) + 2.0 * float(np.dot(mass, _decayed(population, bandwidth)))
    return max(total, 0.0) ** 0.5 if rooted else total


def _decayed(population: Population, bandwidth: float) -> np.ndarray:
    """Return Σ_{j < i} mass_j·exp(−(s_i − s_j)/ν), (Q,), block after block of scores."""
    mass = population.weights * population.gaps
    position = population.scores / bandwidth
    block = (position / _LONGEST).astype(np.int64)
    sums = np.empty_like(mass)
    carried = 0.0  # the sum at the last point of the blocks before, that point included
    last = position[0]
    for b in np.unique(block):
        inside = slice(*np.searchsorted(block, [b, b + 1]))
        grown = mass[inside] * np.exp(position[inside] - position[inside][0])
        before = carried * np.exp(last - position[inside][0]) + np.cumsum(grown) - grown
        sums[inside] = before * np.exp(position[inside][0] - position[inside])
        carried, last = sums[inside][-1] + mass[inside][-1], position[inside][-1]
    return sums


def smece(population: Population) -> float:
    """Return the fixed point of a Population, a fraction; 0 where there is no deviation at all."""
    # the cosine transform of type II has its points in the middle of cells
    positions = np.clip(population.scores * _CELLS - 0.5, 0.0, _CELLS - 1.0)
    waves = dct(masses_at_points(population, positions, _CELLS), type=2)
    frequencies = np.pi * np.arange(_CELLS)

    def smoothed(sigma: float) -> float:
        return float(np.sum(np.abs(idct(waves * np.exp(-0.5 * (sigma * frequencies) ** 2)))))

    if smoothed(0.0) <= _SMALLEST:
        return 0.0
    return float(brentq(lambda sigma: smoothed(sigma) - sigma, 0.0, 1.0, xtol=1e-12))


def smooth_ce(population: Population) -> float:
    """Return the smooth calibration error of a Population, a fraction."""
    if population.scores.size <= _CELLS:
        return lipschitz_maximum(population.scores, population.weights * population.gaps)
    masses = masses_at_points(population, population.scores * _CELLS, _CELLS + 1)
    return lipschitz_maximum(np.linspace(0.0, 1.0, _CELLS + 1), masses)


def lipschitz_maximum(scores: np.ndarray, masses: np.ndarray) -> float:
    """Return max Σ η_i·mass_i over |η_i| ≤ 1, |η_i − η_j| ≤ |score_i − score_j|, in O(n).

    Scores (n,) ascend. The value V(x) is the best sum so far with η = x at the present score. It is
    flat between the tops of two stacks, which hold the points on either side of the flat where its
    slope changes, with the change. A step to the next score, d away, moves the points of each side
    outwards by d; they are stored relative to the score. A mass m > 0 raises the slope everywhere:
    points of total weight m go from the right to the left, and the maximum grows by weight times
    position. They lie beyond all points on the left, so that each stack stays sorted. The bounds
    ±1 are points of unlimited weight.
    """
    n = scores.shape[0]
    positions, weights = (
        np.empty((2, n)),
        np.empty((2, n)),
    )  # left: −(position + score); right: − score
    sizes = [0, 0]
    best = 0.0
    for i in range(n):
        score, remaining = scores[i], abs(masses[i])
        source = 1 if masses[i] > 0.0 else 0
        sink = 1 - source
        while remaining > 0.0:
            position, weight = 1.0, remaining
            top = sizes[source] - 1
            if top >= 0 and positions[source, top] + score < 1.0:
                position = positions[source, top] + score
                if weights[source, top] > remaining:
                    weights[source, top] -= remaining
                else:
                    weight = weights[source, top]
                    sizes[source] = top
            positions[sink, sizes[sink]], weights[sink, sizes[sink]] = -(position + score), weight
            sizes[sink] += 1
            best += weight * position
            remaining -= weight
    return best


def masses_at_points(population: Population, positions: np.ndarray, n_points: int) -> np.ndarray:
    """Return Σ weight·gap (n_points,), each mass shared between the points about its place, (Q,).

    In proportion to the distance: the integral against a piecewise linear function is kept.
    """
    cell = np.minimum(positions.astype(np.int64), n_points - 2)
    share = positions - cell
    mass = population.weights * population.gaps
    masses = np.bincount(cell, mass * (1.0 - share), n_points)
    masses += np.bincount(cell + 1, mass * share, n_points)
    return masses


TARGETS = {
    **of_calbias.TARGETS,
    "averaged_two_bin": Target(averaged_two_bin),
    "deviation_range": Target(deviation_range),
    "gap_quantile": Target(gap_quantile, _gap_quantile_of_scenario),
    "isotonic_gain": Target(isotonic_gain),
    "kernel_ce": Target(kernel_ce),
    "smece": Target(smece),
    "smooth_ce": Target(smooth_ce),
}
target_value = partial(of_calbias.target_value, targets=TARGETS)
target_value_of = partial(of_calbias.target_value_of, targets=TARGETS)
target_value_of_sample = partial(of_calbias.target_value_of_sample, targets=TARGETS)
options_taken = partial(of_calbias.options_taken, targets=TARGETS)
