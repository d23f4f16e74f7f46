"""A score law with a calibration curve as weighted points: what every target is computed from.

A scenario becomes the points P_q = F⁻¹((q − ½)/Q), q = 1 … Q, of its score law. A uniform grid in
the score would be 12 % off for a Beta(2.8, 0.05): the quantile grid puts the points where the
probability is, and the tail nearest to 1 is solved for 1 − c itself.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from calbias.errors import InputError
from calbias.truth.curves import score
from calbias.truth.scenarios import Scenario, score_quantiles
from calbias.truth.true_error import gap

GRID_SIZE = 1 << 18


class Population(NamedTuple):
    """Points of ascending score.

    Attributes
    ----------
    scores : ndarray (Q,)
        Scores in [0, 1], ascending.
    gaps : ndarray (Q,)
        δ = curve − score at each point, a fraction, formed without cancellation near 1.
    weights : ndarray (Q,)
        Probabilities of the points; their sum is 1.
    """

    scores: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray


def population_of_scenario(scenario: Scenario, size: int = GRID_SIZE) -> Population:
    """Return the quantile grid of a scenario.

    Parameters
    ----------
    scenario : Scenario
    size : int
        Number of points Q.

    Returns
    -------
    Population
    """
    log_score, log1m_score = _quantile_grid(scenario.alpha, scenario.beta, size)
    return Population(
        score(log_score, log1m_score),
        -gap(scenario.curve, log_score, log1m_score),
        np.full(size, 1.0 / size),
    )


def population_of_sample(scores, curve_values) -> Population:
    """Return the empirical score law of a sample with a curve known at its scores.

    Parameters
    ----------
    scores : array_like (n,)
        Scores in [0, 1], in any order.
    curve_values : array_like (n,)
        P(hit | score) at each score, in [0, 1].

    Returns
    -------
    Population
        Every point has weight 1/n.

    Raises
    ------
    InputError
        For arrays that are empty, of unequal length or outside [0, 1].
    """
    scores, curve_values = np.asarray(scores, float), np.asarray(curve_values, float)
    if scores.ndim != 1 or scores.shape != curve_values.shape or scores.size == 0:
        raise InputError(
            f"scores and curve_values must be one-dimensional, of one length and not empty: "
            f"their shapes are {scores.shape} and {curve_values.shape}"
        )
    for name, values in (("scores", scores), ("curve_values", curve_values)):
        outside = ~((values >= 0) & (values <= 1))
        if outside.any():
            row = int(np.argmax(outside))
            raise InputError(
                f"{name}: {values[row]} in row {row} (counted from 0) is not in [0, 1]"
            )
    order = np.argsort(scores, kind="stable")
    gaps = (curve_values - scores)[order]
    return Population(scores[order], gaps, np.full(scores.size, 1.0 / scores.size))


def merged_gap_masses(population: Population, n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores, masses), (n_cells + 1,): Σ weight·gap, shared between the two next points.

    The points are k/n_cells. Each point's mass goes to the two neighbours in proportion to its
    distance from the other, so that the integral against a piecewise linear function is kept.
    """
    place = population.scores * n_cells
    cell = np.minimum(place.astype(np.int64), n_cells - 1)
    share = place - cell
    mass = population.weights * population.gaps
    masses = np.bincount(cell, mass * (1.0 - share), n_cells + 1)
    masses += np.bincount(cell + 1, mass * share, n_cells + 1)
    return np.linspace(0.0, 1.0, n_cells + 1), masses


@lru_cache(maxsize=16)
def _quantile_grid(alpha, beta, size):
    """Return (log c, log(1 − c)) at the mid-quantiles, each (size,), read-only."""
    tail = (np.arange((size + 1) // 2) + 0.5) / size  # the median is in the lower half
    lower = score_quantiles(alpha, beta, lower=tail)
    upper = score_quantiles(alpha, beta, upper=tail[: size // 2][::-1])
    grids = tuple(np.concatenate(pair) for pair in zip(lower, upper, strict=True))
    for grid in grids:
        grid.flags.writeable = False
    return grids
