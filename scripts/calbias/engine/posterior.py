"""Perfect calibration, lines, Gaussian and piecewise curves, averaged by their evidence.

Prior odds: the calibrated model 0.8 n/(n + 3000), which grows from 0.05 at n = 200 to 0.6 at
10 000; 39 Gaussian models together 0.65; three kinds of segmentations and a steep line 0.05 each.
The Gaussian models are lines in the log odds with τ of 0.1, 0.3 and 0.8, and τ of 0, 0.1, 0.3 and
0.8 with a process of standard deviation s = 0.06, 0.15 or 0.4 and length ℓ = 0.35, 0.1 or 0.03 of
the cells' places. The steep line has cells an eighth as wide: errors of both signs around a
threshold within a cell would cancel.

The average has a smooth calibration curve with a band. Between the middles of two cells the curve's
distance in log odds is linear in the log odds of the score; beyond the outermost middles it is
constant.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtr

from calbias.defaults import CONFIDENCE_LEVEL
from calbias.engine.posterior_cells import (
    LOG_ODDS,
    SCORE,
    Errors,
    Floats,
    PosteriorCells,
    cells_of,
    errors_of_curves,
    mean_rates,
    most_cells,
)
from calbias.engine.posterior_curves import Fits, fit_curves, segmentations
from calbias.engine.steep_line import steep_line
from calbias.errors import InputError

CALIBRATED_ODDS, _HALF_WAY = 0.8, 3000.0
GAUSSIAN_ODDS, OTHER_ODDS = 0.65, 0.05
LINES = (0.1, 0.3, 0.8)
_ROUGHNESS = (0.06, 0.15, 0.4)
LENGTHS = (0.35, 0.1, 0.03)
_SEGMENTATIONS = ((0.5, 2), (0.0, 2), (0.8, 3))  # (π, B)
_FINER = 8  # cells of the steep line
_DRAWS = 100  # of piecewise curves; 400 change the mean RMSE by a thousandth
_HALVINGS = 40
_FARTHEST = 40.0  # of a curve from calibration, in log odds
_INSIDE = 1e-15  # of a rate from 0 and 1
_TINY = 1e-12
ONE_DEVIATION = 0.6826894921370859  # level of a band of one standard deviation to either side


class Smooth(NamedTuple):
    """The average over the calibrated model and the Gaussian ones, of which the curve is made.

    Attributes
    ----------
    cells : PosteriorCells
    fits : Fits
    evidence : ndarray (M + 1,)
        Log evidence with the prior odds; the calibrated model is the last.
    """

    cells: PosteriorCells
    fits: Fits
    evidence: Floats

    @property
    def weights(self) -> Floats:
        """Posterior probabilities of the models (M + 1,)."""
        shares = np.exp(self.evidence - self.evidence.max())
        return np.asarray(shares / shares.sum())


class Average(NamedTuple):
    """The average over the calibrated model and the curves.

    Attributes
    ----------
    cells : PosteriorCells
    fits : Fits
    weights : ndarray (M + 1,)
        Posterior probabilities of the Gaussian models and of the calibrated one, the last, given
        that the curve is neither piecewise nor the steep line.
    calibrated : float
        Posterior probability that the model is calibrated, all curves counted.
    l1, l2 : float
        Posterior means of the ℓ1 and of the ℓ2 error.
    """

    cells: PosteriorCells
    fits: Fits
    weights: Floats
    calibrated: float
    l1: float
    l2: float


def curve_models() -> Floats:
    """Return the 39 models' τ, s and ℓ, (39, 3)."""
    lines = [(line, 0.0, 0.0) for line in LINES]
    rough = [(t, s, length) for length in LENGTHS for s in _ROUGHNESS for t in (0.0, *LINES)]
    return np.array(lines + rough)


def smooth_of(
    scores: Floats, rows: ArrayLike, hits: ArrayLike, squares: ArrayLike | None = None
) -> Smooth:
    """Return the Smooth of ascending scores (m,) with rows and hits (m,): see ``cells_of``."""
    cells = cells_of(scores, rows, hits, _most_cells(rows), squares)
    fits = fit_curves(cells.table, _MODELS)
    odds = CALIBRATED_ODDS * cells.n / (cells.n + _HALF_WAY)
    evidence = np.append(np.log(GAUSSIAN_ODDS / len(_MODELS)) + fits.evidence, np.log(odds))
    return Smooth(cells, fits, evidence)


def _most_cells(rows: ArrayLike) -> int:
    return most_cells(int(np.sum(np.asarray(rows)) + 1e-6))


def average_of(
    scores: Floats, rows: ArrayLike, hits: ArrayLike, squares: ArrayLike | None = None
) -> Average:
    """Return the Average of ascending scores (m,) with rows and hits (m,): see ``cells_of``."""
    smooth = smooth_of(scores, rows, hits, squares)
    cells, fits, evidence = smooth
    fit_errors = errors_of_curves(cells.table, fits.modes, fits.covariances)
    errors = Errors(*(np.append(each, 0.0) for each in fit_errors))  # the last is calibrated
    others, drawn = segmentations(cells.table, _SEGMENTATIONS, _DRAWS)
    finer = cells_of(scores, rows, hits, _FINER * _most_cells(rows), squares)
    steep, line = steep_line(finer.table)
    others = np.log(OTHER_ODDS) + np.append(others, steep)
    largest = max(float(evidence.max()), float(others.max()))
    weights, other_weights = np.exp(evidence - largest), np.exp(others - largest)
    total = weights.sum() + other_weights.sum()
    l1, _, square, variance = cells.ends.sum(axis=0).tolist()
    means = []
    for even, rough, straight in (
        (errors.l1, drawn.l1, line.l1),
        [each.root(square, variance) for each in (errors, drawn, line)],
    ):
        other = np.append(rough.mean(axis=1), straight)
        means.append(float((weights @ even + other_weights @ other) / total))
    return Average(
        cells, fits, smooth.weights, float(weights[-1] / total),
        min(means[0] + l1, 1.0), min(means[1], 1.0),
    )  # fmt: skip


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

    @property
    def deviation(self) -> Floats:
        """Half the width of the band (m,), above 0."""
        return np.maximum(0.5 * (self.high - self.low), _TINY)

    @property
    def signed_gap(self) -> Floats:
        """The curve's distance from the scores over its deviation, cut to [-1, 1]."""
        return np.clip((self.mean - self.scores) / self.deviation, -1.0, 1.0)


def curve_of(
    average: Smooth | Average, at: Floats | None = None, confidence_level: float = CONFIDENCE_LEVEL
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


def _shifts(average: Smooth | Average, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the distances from calibration, in log odds (K,), of the mean and of the band."""
    table, fits = average.cells.table, average.fits
    curve_weights, calibrated = average.weights[:-1], average.weights[-1]
    rate = curve_weights @ mean_rates(table, fits.modes, fits.deviations)
    rate += calibrated * expit(table[LOG_ODDS])
    mean = logit(np.clip(rate, _INSIDE, 1.0 - _INSIDE)) - table[LOG_ODDS]
    tail = (1.0 - level) / 2.0
    wanted = np.array([[tail], [1.0 - tail]]) * (1.0 - calibrated)
    low, high = np.full((2, 2, mean.size), _FARTHEST) * np.array([-1.0, 1.0])[:, None, None]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        z = (middle[:, None] - fits.modes) / fits.deviations
        is_below = curve_weights @ ndtr(z) < wanted
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    low, high = 0.5 * (low + high)
    return mean, np.minimum(low, mean), np.maximum(high, mean)


_MODELS = curve_models()
