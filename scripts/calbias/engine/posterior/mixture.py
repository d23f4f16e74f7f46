"""Perfect calibration, lines, Gaussian and piecewise curves, averaged by their evidence.

Prior odds: the calibrated model 0.8 n/(n + 3000), which grows from 0.05 at n = 200 to 0.6 at
10 000; 39 Gaussian models together 0.65; three kinds of segmentations 0.05 each. The Gaussian
models are lines in the log odds with τ of 0.1, 0.3 and 0.8, and τ of 0, 0.1, 0.3 and 0.8 with a
process of standard deviation s = 0.06, 0.15 or 0.4 and length ℓ = 0.35, 0.1 or 0.03 of the cells'
places.
"""

import math
from typing import NamedTuple

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.lane_functions import padded
from calbias.engine.posterior.cells import Cells, Floats, cells_of, most_cells
from calbias.engine.posterior.functions import exp
from calbias.engine.posterior.laplace import fit_models
from calbias.engine.posterior.moments import MEAN, N_MOMENTS, SQUARE_MEAN, SQUARE_VARIANCE
from calbias.engine.posterior.segments import segmentations

CALIBRATED_ODDS, _HALF_WAY = 0.8, 3000.0
GAUSSIAN_ODDS, SEGMENTED_ODDS = 0.65, 0.05
LINES = (0.1, 0.3, 0.8)
_ROUGHNESS = (0.06, 0.15, 0.4)
LENGTHS = (0.35, 0.1, 0.03)
_LEAST_SHRINKAGE = 0.7
_SEGMENTATIONS = ((0.5, 2), (0.0, 2), (0.8, 3))  # (π, B)
_DRAWS = 100  # of piecewise curves; 400 change the mean RMSE by a thousandth


class Fits(NamedTuple):
    """Fitted curves on cells: see ``fit_models``; each row is one model.

    Attributes
    ----------
    models : ndarray (M, 3)
        τ, s and ℓ.
    evidence : ndarray (M,)
        Log evidence relative to the calibrated model.
    modes, deviations : ndarray (M, K)
        Posterior mode and standard deviation of f, the curve's distance in log odds.
    moments : ndarray (M, 7)
        Of the ℓ1 error and of the square of the ℓ2 error, without the ends: see ``fill_moments``.
    """

    models: Floats
    evidence: Floats
    modes: Floats
    deviations: Floats
    moments: Floats


class Average(NamedTuple):
    """The average over the calibrated model and the curves.

    Attributes
    ----------
    cells : Cells
    fits : Fits
    weights : ndarray (M + 1,)
        Posterior probabilities of the Gaussian models and of the calibrated one, the last, given
        that the curve is not piecewise.
    calibrated : float
        Posterior probability that the model is calibrated, the piecewise curves counted.
    l1, l2 : float
        Posterior means of the ℓ1 and of the ℓ2 error.
    """

    cells: Cells
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


def fits_of(cells: Cells, models: Floats) -> Fits:
    """Return the Fits of ``models`` (M, 3) to a data set."""
    m, k = len(models), cells.table.shape[1]
    fits = Fits(models, np.empty(m), np.empty((m, k)), np.empty((m, k)), np.empty((m, N_MOMENTS)))
    width = padded(k)
    fit_models(cells.table, *fits, np.zeros((5, k, width)), np.zeros((11, width)))
    return fits


def averaged(scores: Floats, cum_hit: Floats) -> Average:
    """Return the Average for ascending scores (n,) and partial sums of the hits (n + 1,)."""
    return average_of(cells_of(scores, cum_hit, most_cells(scores.size)))


def average_of(cells: Cells) -> Average:
    """Return the Average of a data set in cells."""
    fits = fits_of(cells, _MODELS)
    evidence, drawn = _NO_SEGMENTS
    if cells.table.shape[1]:
        evidence, drawn = segmentations(cells.table, _SEGMENTATIONS, _DRAWS)
    weights = np.empty(len(_MODELS) + 1)
    odds = CALIBRATED_ODDS * cells.n / (cells.n + _HALF_WAY)
    result = _average(fits.evidence, fits.moments, evidence, drawn, cells.ends, odds, weights)
    return Average(cells, fits, weights, *result)


_MODELS = curve_models()
_NO_SEGMENTS = np.zeros(0), np.zeros((0, 0, N_MOMENTS))


@njit(error_model="numpy")
def _average(
    evidence: Floats,
    moments: Floats,
    segment_evidence: Floats,
    drawn: Floats,
    ends: Floats,
    odds: float,
    weights: Floats,
) -> tuple[float, float, float]:
    """Fill ``weights``; return P(calibrated) and the means of the ℓ1 and the ℓ2 error."""
    m, largest = evidence.shape[0], 0.0
    for k in range(m):
        largest = max(largest, evidence[k])
    for k in range(drawn.shape[0]):
        largest = max(largest, segment_evidence[k])
    nothing = np.zeros(N_MOMENTS)
    calibrated = odds * exp(-largest)
    l1 = l2 = total = 0.0
    for k in range(m + 1):
        weights[k] = calibrated
        if k < m:
            weights[k] = GAUSSIAN_ODDS / m * exp(evidence[k] - largest)
        total += weights[k]
        row = moments[k] if k < m else nothing
        l1 += weights[k] * row[MEAN]
        l2 += weights[k] * _root(row, ends)
    for k in range(m + 1):
        weights[k] /= max(total, 1e-300)
    for k in range(drawn.shape[0]):
        weight = SEGMENTED_ODDS * exp(segment_evidence[k] - largest)
        total += weight
        for draw in range(drawn.shape[1]):
            l1 += weight * drawn[k, draw, MEAN] / drawn.shape[1]
            l2 += weight * _root(drawn[k, draw], ends) / drawn.shape[1]
    l1 = l1 / total + ends[0, MEAN] + ends[1, MEAN]
    return calibrated / total, min(l1, 1.0), min(l2 / total, 1.0)


@njit(error_model="numpy", no_cpython_wrapper=True)
def _root(moments: Floats, ends: Floats) -> float:
    """Return the mean of the ℓ2 error under one model, the ends counted."""
    square = moments[SQUARE_MEAN] + ends[0, SQUARE_MEAN] + ends[1, SQUARE_MEAN]
    variance = moments[SQUARE_VARIANCE] + ends[0, SQUARE_VARIANCE] + ends[1, SQUARE_VARIANCE]
    if square <= 0.0:
        return 0.0
    return math.sqrt(square) * max(1.0 - variance / (8.0 * square * square), _LEAST_SHRINKAGE)
