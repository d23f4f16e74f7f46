"""Classes of calibration curves on one data set, each with its evidence and its error's moments.

calibrated      f = 0
line            τ = 0.1, 0.3, 0.8 (see ``laplace``)
process_ℓ       Gaussian processes of length ℓ = 0.35, 0.1 and 0.03: τ = 0 or as a line's,
                s = 0.05 … 0.45
white           independent cells: the same τ, s up to 1.3
lapse           f = x₀ h₀ + x₁ h₁, x ~ N(0, 1), with h₀ or h₁ that of the curve a + (1 − a) p or
                (1 − a) p, a = 0.01, 0.03, 0.1: only where a saturated end has surprises
segments_π_B    change points at B edges on average, a segment calibrated with probability π,
                else a line: see ``segments``
cellwise        deviations of fine cells from the curve of the class calibrated, line, process_0.1
                or white (see ``cellwise``): each only if it has twice the evidence of those above
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import pdtrc

from calbias.engine.lane_functions import padded
from calbias.engine.posterior.cells import FEWEST_CELLS, PLACE, Cells, Floats
from calbias.engine.posterior.cellwise import deviating
from calbias.engine.posterior.laplace import fit_models
from calbias.engine.posterior.mixture import LENGTHS, LINES
from calbias.engine.posterior.moments import MEAN, N_MOMENTS
from calbias.engine.posterior.segments import DRAWS, segmentations
from calbias.engine.simd import LANES

_TAUS = (0.0, *LINES)
_ROUGHNESS = (0.05, 0.09, 0.16, 0.27, 0.45)
_WHITE = (*_ROUGHNESS, 0.8, 1.3)
_LAPSES = np.array([(0.0, 1.0, -a) for a in (0.01, 0.03, 0.1)])  # ℓ < 0: see ``laplace``
_SEGMENTATIONS = ((0.5, 12), (0.0, 12), (0.8, 3))  # (π, B)
_SURPRISING = 0.025
_SEEN = math.log(2.0)  # more evidence than of any other class, from which deviations count
CALIBRATED, LAPSE, CELLWISE = "calibrated", "lapse", "cellwise"
_DEVIATED = (CALIBRATED, "line", "process_0.1", "white")


class PosteriorClass(NamedTuple):
    """A class of curves.

    Attributes
    ----------
    name : str
    evidence : float
        Log evidence relative to the calibrated model.
    weights : ndarray (m,)
        Posterior probabilities of its curves, which sum to 1.
    moments : ndarray (m, 7)
        Of the curves' errors without the ends: see ``fill_moments``.
    """

    name: str
    evidence: float
    weights: Floats
    moments: Floats


def interval_cells(n: int) -> tuple[int, int]:
    """Return the numbers of cells, and of distinct scores that may have a cell each, of n rows."""
    return min(80, max(FEWEST_CELLS, min(n // 5, 30 + n // 100))), min(50, n // 20)


def surprising(cells: Cells) -> list[bool]:
    """Return for both ends whether a calibrated model has so many surprises once in 40 times."""
    return [
        bool(count > 0 and pdtrc(count - 1, expected) < _SURPRISING)
        for count, expected in zip(cells.surprises, cells.expected, strict=True)
    ]


def curve_families() -> dict[str, Floats]:
    """Return {name: τ, s and ℓ of its models, (m, 3)} of the classes of Gaussian curves."""
    families = {"line": [(line, 0.0, 0.0) for line in LINES]}
    for length in LENGTHS:
        families[f"process_{length:g}"] = [(t, s, length) for s in _ROUGHNESS for t in _TAUS]
    families["white"] = [(t, s, 0.0) for s in _WHITE for t in _TAUS]
    return {name: np.array(models) for name, models in families.items()}


def posterior_classes(cells: Cells, fine: Cells) -> list[PosteriorClass]:
    """Return the classes with their evidence and moments, the calibrated model first.

    ``fine`` are cells of the same rows that are finer where there are enough rows for them.
    """
    classes = [PosteriorClass(CALIBRATED, 0.0, np.ones(1), np.zeros((1, N_MOMENTS)))]
    n_cells = cells.table.shape[1]
    if n_cells == 0:
        return classes
    families = curve_families()
    if any(surprising(cells)):
        families[LAPSE] = _LAPSES
    table = _padded(cells.table)
    evidences, modes, _, moments = _fits_of(table, np.concatenate(list(families.values())))
    curves = {CALIBRATED: np.zeros(n_cells)}  # posterior means, as distances in log odds
    start = 0
    for name, models in families.items():
        rows = slice(start, start + len(models))
        start += len(models)
        classes.append(_averaged(name, evidences[rows], moments[rows]))
        curves[name] = classes[-1].weights @ modes[rows]
    smooth = [each for each in classes if each.name in _DEVIATED]
    for (calibrated, count), evidence, drawn in zip(
        _SEGMENTATIONS, *segmentations(table, _SEGMENTATIONS), strict=True
    ):
        name = f"segments_{calibrated:g}_{count}"
        _, once, counts = np.unique(drawn[:, MEAN], return_index=True, return_counts=True)
        classes.append(PosteriorClass(name, float(evidence), counts / DRAWS, drawn[once]))
    least = _SEEN + max(each.evidence for each in classes if each.name != LAPSE)
    for each in smooth:
        shifts = np.interp(fine.table[PLACE], cells.table[PLACE], curves[each.name])
        shared = each.weights @ each.moments
        if found := deviating(fine.table, shifts, shared, least - each.evidence):
            classes.append(_averaged(CELLWISE, each.evidence + found[0], found[1]))
    return classes


def _padded(table: Floats) -> Floats:
    """Return the table; whole vectors may be loaded, also from its last cell on."""
    return np.append(table, np.zeros(LANES))[: table.size].reshape(table.shape)


def _fits_of(table: Floats, models: Floats) -> tuple[Floats, ...]:
    """Return evidence, modes, deviations and moments of ``fit_models``."""
    m, k = len(models), table.shape[1]
    fits = np.empty(m), np.empty((m, k)), np.empty((m, k)), np.empty((m, N_MOMENTS))
    fit_models(table, models, *fits, np.zeros((5, k, padded(k))), np.zeros((11, padded(k))))
    return fits


def _averaged(name: str, evidence: Floats, moments: Floats) -> PosteriorClass:
    largest = evidence.max()
    weights = np.exp(evidence - largest)
    total = weights.sum()
    return PosteriorClass(
        name, float(largest + np.log(total / len(weights))), weights / total, moments
    )
