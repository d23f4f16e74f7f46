"""The calibration curve of an averaged posterior, with a band: a smooth reliability curve.

Between the middles of two cells the curve's distance in log odds is linear in the log odds of the
score; beyond the outermost middles it is constant.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr

from calbias.conventions import CONFIDENCE_LEVEL
from calbias.engine.posterior.cells import LOG_ODDS, SCORE, Floats
from calbias.engine.posterior.errors import mean_rates
from calbias.engine.posterior.mixture import Average
from calbias.errors import InputError

_HALVINGS = 40
_FARTHEST = 40.0  # of a curve from calibration, in log odds
_INSIDE = 1e-15  # of a rate from 0 and 1


class PosteriorCurve(NamedTuple):
    """A calibration curve at given scores.

    Attributes
    ----------
    scores : ndarray (m,)
    mean, low, high : ndarray (m,)
        Probability of a hit at each score: posterior mean, and the ends of a pointwise band.
    """

    scores: Floats
    mean: Floats
    low: Floats
    high: Floats


def curve_of(
    average: Average, at: Floats | None = None, confidence_level: float = CONFIDENCE_LEVEL
) -> PosteriorCurve:
    """Return the curve at scores (m,) in [0, 1], by default the mean scores of the cells.

    The mean includes the calibrated model, the band does not: it keeps its width where the data
    look calibrated, and always contains the mean.
    """
    table = average.cells.table
    points = table[SCORE].copy() if at is None else at
    if not ((points >= 0.0) & (points <= 1.0)).all():  # false for NaN
        raise InputError("the scores at which the curve is wanted must be in [0, 1]")
    curves = np.tile(points, (3, 1))
    inner = (points > 0.0) & (points < 1.0)
    if table.shape[1] and inner.any():
        x = logit(np.maximum(points[inner], 1e-300))
        for curve, shifts in zip(curves, _shifts(average, confidence_level), strict=True):
            curve[inner] = expit(x + np.interp(x, table[LOG_ODDS], shifts))
    return PosteriorCurve(points, *curves)


def _shifts(average: Average, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the distances from calibration, in log odds (K,), of the mean and of the band."""
    table, fits = average.cells.table, average.fits
    of_curves, calibrated = average.weights[:-1], average.weights[-1]
    rate = of_curves @ mean_rates(table, fits.modes, fits.deviations)
    rate += calibrated * expit(table[LOG_ODDS])
    mean = logit(np.clip(rate, _INSIDE, 1.0 - _INSIDE)) - table[LOG_ODDS]
    tail = (1.0 - level) / 2.0
    wanted = np.array([[tail], [1.0 - tail]]) * (1.0 - calibrated)
    low, high = np.full((2, 2, mean.size), _FARTHEST) * np.array([-1.0, 1.0])[:, None, None]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        z = (middle[:, None] - fits.modes) / fits.deviations
        is_below = of_curves @ ndtr(z) < wanted
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    low, high = 0.5 * (low + high)
    return mean, np.minimum(low, mean), np.maximum(high, mean)
