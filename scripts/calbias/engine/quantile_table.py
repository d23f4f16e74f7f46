"""A scenario as a table: from a uniform u to the score c and the hit probability T, by cubics.

The inverse Beta CDF and the curve are evaluated exactly at the nodes, with their derivatives, and
interpolated by cubic Hermite polynomials. Cells are 1/2048 wide in u in the middle and 1/128 of an
octave in each tail, so that the error stays small relative to u and to 1 - u.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from calbias.truth.curves import score
from calbias.truth.scenarios import score_quantiles

MIDDLE_CELLS = 2048  # over (0, 1); the tables of the tails replace the outermost sixteenths
CELLS_PER_OCTAVE = 128
TAIL = 1.0 / 16.0
OCTAVES = 32  # the tails end at 2^-36: one draw in 7e10 is clamped there


class QuantileTable(NamedTuple):
    """Cubic coefficients, rows of 8: score and T interleaved, constant term first.

    ``lower`` and ``upper`` (OCTAVES·CELLS_PER_OCTAVE·8,) run from 2^-36 to 1/16 in u and in 1 - u;
    ``middle`` (MIDDLE_CELLS·8,) is indexed by floor(u·MIDDLE_CELLS).
    """

    lower: np.ndarray
    middle: np.ndarray
    upper: np.ndarray


def build_quantile_table(scenario):
    """Return the QuantileTable of a Scenario; about 7 ms."""
    octave_starts = TAIL * 0.5 ** np.arange(OCTAVES, 0, -1)
    steps = 1.0 + np.arange(CELLS_PER_OCTAVE) / CELLS_PER_OCTAVE
    tail = np.append((octave_starts[:, None] * steps).ravel(), TAIL)
    # One cell more at each end: u at the border of a tail may be rounded across it.
    middle = np.arange(MIDDLE_CELLS * TAIL - 1, MIDDLE_CELLS * (1 - TAIL) + 2) / MIDDLE_CELLS
    coefficients = np.zeros((MIDDLE_CELLS, 8))
    first = int(MIDDLE_CELLS * TAIL) - 1
    coefficients[first : first + middle.size - 1] = _cubics(scenario, middle, upper=False)
    return QuantileTable(
        _cubics(scenario, tail, upper=False).ravel(),
        coefficients.ravel(),
        _cubics(scenario, tail, upper=True).ravel(),
    )


def _cubics(scenario, nodes, upper):
    """Return (cells, 8) coefficients between the nodes in u, or in 1 - u where ``upper``."""
    alpha, beta, curve = scenario.alpha, scenario.beta, scenario.curve
    side = "upper" if upper else "lower"
    log_score, log1m_score = score_quantiles(alpha, beta, **{side: nodes})
    log_density = (alpha - 1) * log_score + (beta - 1) * log1m_score - betaln(alpha, beta)
    direction = -1.0 if upper else 1.0
    sign, log_slope = curve.log_abs_slope(log_score, log1m_score)
    return np.stack(
        [
            coefficient
            for pair in zip(
                _hermite(nodes, score(log_score, log1m_score), direction * np.exp(-log_density)),
                _hermite(
                    nodes,
                    curve.hit(log_score, log1m_score),
                    direction * sign * np.exp(log_slope - log_density),
                ),
                strict=True,
            )
            for coefficient in pair
        ],
        axis=1,
    )


def _hermite(nodes, values, derivatives):
    """Return the four coefficients of each cell's cubic in t = (u - node)/width, each (cells,)."""
    width = np.diff(nodes)
    rise = np.diff(values)
    left, right = width * derivatives[:-1], width * derivatives[1:]
    return values[:-1], left, 3 * rise - 2 * left - right, left + right - 2 * rise
