"""Targets: the quantities that estimators estimate, by the names that an estimator's file declares.

With the gap δ = c − s of a population, weighted points, or of a scenario, by adaptive quadrature:

``lp``
    (E |δ|^p)^(1/p), the true calibration error of Roelofs et al. (2022), Eq. 1
``lp_power``
    E |δ|^p without the root, of estimators that may be negative: the debiased square (Bröcker
    2012; Ferro and Fricker 2012), the unrooted KDE
``mce``
    max_b |E[δ | bin b]| over given bins (Guo et al. 2017, Eq. 5; Naeini et al. 2015). Equal
    width: bin k of b is [k/b, (k + 1)/b), 1 is in the last. Equal mass: quantiles of the
    distribution. Empty bins count for nothing
``max_deviation``
    sup_t |E δ(S) 1{S ≤ t}|: the KS error (Gupta et al. 2021, Eq. 11-12)

A score distribution with a calibration curve becomes weighted points, from which every target is
computed: P_q = F⁻¹((q − ½)/Q), q = 1 … Q. A uniform grid in the score would be 12 % off for a
Beta(2.8, 0.05): the quantile grid puts the points where the probability is, and the tail nearest to
1 is solved for 1 − c itself.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from calbias.defaults import N_BINS
from calbias.errors import looked_up
from calbias.truth.counted import CountedScenario
from calbias.truth.curves import score
from calbias.truth.scenarios import Scenario, score_quantiles
from calbias.truth.true_error import gap, integral, sign_changes, true_calibration_error

GRID_SIZE = 1 << 18


class Population(NamedTuple):
    """Points of ascending score, (Q,): δ = curve − score there, and their probabilities."""

    scores: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray


def population_of_scenario(
    scenario: Scenario | CountedScenario, size: int = GRID_SIZE
) -> Population:
    """Return the quantile grid of a Scenario, of ``size`` points; the points of counted cells."""
    if isinstance(scenario, CountedScenario):
        log_odds, gaps, weights = scenario.points
        return Population(expit(log_odds), gaps, weights)
    log_score, log1m_score = quantile_grid(scenario.alpha, scenario.beta, size)
    return Population(
        score(log_score, log1m_score),
        -gap(scenario.curve, log_score, log1m_score),
        np.full(size, 1.0 / size),
    )


def population_of_sample(scores: np.ndarray, curve_values: np.ndarray) -> Population:
    """Return scores (n,) in [0, 1] with a curve's values (n,) at them, each of weight 1/n."""
    scores, curve_values = np.asarray(scores, float), np.asarray(curve_values, float)
    order = np.argsort(scores, kind="stable")
    gaps = (curve_values - scores)[order]
    return Population(scores[order], gaps, np.full(scores.size, 1.0 / scores.size))


@lru_cache(maxsize=16)
def quantile_grid(alpha: float, beta: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (log c, log(1 − c)) at the mid-quantiles, each (size,), read-only."""
    tail = (np.arange((size + 1) // 2) + 0.5) / size  # the median is in the lower half
    lower = score_quantiles(alpha, beta, lower=tail)
    upper = score_quantiles(alpha, beta, upper=tail[: size // 2][::-1])
    (log_low, log1m_low), (log_high, log1m_high) = lower, upper
    grids = np.append(log_low, log_high), np.append(log1m_low, log1m_high)
    for grid in grids:
        grid.flags.writeable = False
    return grids


class Target(NamedTuple):
    """A function of a Population, and of a Scenario where it has a better quadrature.

    Their keywords (``norm``, ``n_bins``, ``bandwidth`` …) are the target's options.
    """

    functional: Callable[..., float]
    value: Callable[..., float] | None = None


def lp(population: Population, norm: float = 2.0) -> float:
    """Return (Σ w |δ|^p)^(1/p) of a Population, a fraction."""
    return lp_power(population, norm) ** (1.0 / norm)


def lp_power(population: Population, norm: float = 2.0) -> float:
    """Return Σ w |δ|^p of a Population."""
    return float(np.dot(population.weights, np.abs(population.gaps) ** norm))


def mce(population: Population, n_bins: int = N_BINS, binning: str = "equal_width") -> float:
    """Return the largest mean gap of a bin of a Population, a fraction."""
    return float(np.max(np.abs(binned_gaps(population, n_bins, binning)[1])))


def max_deviation(population: Population) -> float:
    """Return max |C| of a Population over the cumulative sums C of weight·δ, a fraction."""
    return float(np.max(np.abs(cumulative_gaps(population))))


def _lp_power_of_scenario(scenario: Scenario, norm: float = 2.0) -> float:
    return true_calibration_error(scenario, norm=norm) ** norm


def _mce_of_scenario(
    scenario: Scenario, n_bins: int = N_BINS, binning: str = "equal_width"
) -> float:
    return float(np.max(np.abs(binned_gaps_of_scenario(scenario, n_bins, binning)[1])))


TARGETS: Mapping[str, Target] = {
    "lp": Target(lp, partial(true_calibration_error, norm=2.0)),
    "lp_power": Target(lp_power, _lp_power_of_scenario),
    "max_deviation": Target(max_deviation),
    "mce": Target(mce, _mce_of_scenario),
}


def target_value(
    target: str, scenario: Scenario | CountedScenario, size: int = GRID_SIZE,
    targets: Mapping[str, Target] = TARGETS, **options: Any,
) -> float:  # fmt: skip
    """Return the value of a target for a scenario, in the target's own units, by quadrature.

    ``size``: points of the quantile grid, for targets without a quadrature of their own. Of the
    options a target takes those that it knows and ignores the others: one call serves all.
    """
    entry = looked_up("target", target, targets)
    if entry.value is not None and isinstance(scenario, Scenario):
        return entry.value(scenario, **_taken(entry.value, options))
    population = population_of_scenario(scenario, size)
    return entry.functional(population, **_taken(entry.functional, options))


def target_value_of_sample(
    target: str, scores: np.ndarray, curve_values: np.ndarray,
    targets: Mapping[str, Target] = TARGETS, **options: Any,
) -> float:  # fmt: skip
    """Return the value of a target for scores (n,) with the curve's values (n,) at them."""
    return target_value_of(target, population_of_sample(scores, curve_values), targets, **options)


def target_value_of(
    target: str, population: Population, targets: Mapping[str, Target] = TARGETS, **options: Any
) -> float:
    """Return the value of a target for a Population."""
    functional = looked_up("target", target, targets).functional
    return functional(population, **_taken(functional, options))


def options_taken(
    target: str, options: Mapping[str, Any], targets: Mapping[str, Target] = TARGETS
) -> dict[str, Any]:
    """Return those options that change the value of a target."""
    entry = looked_up("target", target, targets)
    return _taken(entry.value or entry.functional, options)


def cumulative_gaps(population: Population) -> np.ndarray:
    """Return C(t) = Σ_{s ≤ t} w δ, 0 first, then after each distinct score."""
    sums = np.cumsum(population.weights * population.gaps)
    last = np.append(population.scores[1:] != population.scores[:-1], True)
    return np.append(0.0, sums[last])


def binned_gaps(population: Population, n_bins: int, binning: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (mass, mean δ) of the bins that are not empty, each (b,)."""
    if binning == "equal_width":
        edges = np.arange(1, n_bins) / n_bins
        bins = np.searchsorted(edges, population.scores, side="right")
    else:
        upto = np.cumsum(population.weights) - population.weights / 2.0
        bins = np.minimum((upto * n_bins).astype(np.int64), n_bins - 1)
    mass = np.bincount(bins, population.weights, n_bins)
    total = np.bincount(bins, population.weights * population.gaps, n_bins)
    full = mass > 0
    return mass[full], total[full] / mass[full]


def binned_gaps_of_scenario(
    scenario: Scenario, n_bins: int, binning: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return (mass, mean δ) of the bins of a Scenario by adaptive quadrature, each (b,)."""
    _, alpha, beta, curve = scenario
    inner = np.arange(1, n_bins) / n_bins
    if binning == "equal_width":
        edges = np.log(inner) - np.log1p(-inner)
    else:
        lower, upper = score_quantiles(alpha, beta, lower=inner)
        edges = lower - upper

    def integrand(
        log_score: np.ndarray, log1m_score: np.ndarray, log_density: np.ndarray
    ) -> np.ndarray:
        bins = np.searchsorted(edges, log_score - log1m_score)
        density = (bins == np.arange(n_bins)[:, None]) * np.exp(log_density)
        return np.stack([density, -gap(curve, log_score, log1m_score) * density])

    kinks = [*edges, *sign_changes(curve.overshoot, alpha, beta)]
    mass, total = integral(integrand, alpha, beta, kinks)
    full = mass > 0
    return mass[full], total[full] / mass[full]


def _taken(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    parameters = _parameters(function)
    return {name: value for name, value in options.items() if name in parameters}


@cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
