"""A score law with a calibration curve as weighted points: what every target is computed from.

A scenario becomes the points P_q = F⁻¹((q − ½)/Q), q = 1 … Q, of its score law. A uniform grid in
the score would be 12 % off for a Beta(2.8, 0.05): the quantile grid puts the points where the
probability is, and the tail nearest to 1 is solved for 1 − c itself.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from calbias.truth.curves import score
from calbias.truth.scenarios import Scenario, score_quantiles
from calbias.truth.true_error import gap

GRID_SIZE = 1 << 18


class Population(NamedTuple):
    """Points of ascending score, (Q,): δ = curve − score there, and their probabilities."""

    scores: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray


def population_of_scenario(scenario: Scenario, size: int = GRID_SIZE) -> Population:
    """Return the quantile grid of a scenario, of ``size`` points."""
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
