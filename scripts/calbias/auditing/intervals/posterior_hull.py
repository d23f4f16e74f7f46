"""An interval for the ℓ1 or the ℓ2 error: the hull over classes of calibration curves.

Each class of ``calbias.engine.posterior.classes`` has an evidence and a posterior of the error, a
mixture of Gamma laws. The interval runs from the least lower quantile of the classes whose evidence
is at least a fiftieth of the best one's, to the greatest upper quantile of those with at least
1e-5. The upper end always counts lines and the smoothest processes: their evidence falls with n
even where the curve has an error too small to be seen. A prior pulls curves towards calibration:
where the data are clearly not calibrated, the upper end takes one step back to the data for smooth
classes. Where a process of length 0.03 or independent cells have more evidence than every smooth
class, the curve is rough: then many segments count at the upper end with their step back, and so do
the independent cells if these have it. The upper end also adds what cells with a change point lack,
since these average over gaps of clearly different signs. Deviations of single cells count where no
other class has half their evidence. They only widen the hull: the upper end adds their step back to
the data, the lower end subtracts it.

The error of the population differs from the error at these n scores: the variance max(q − ℓ1², 0)/n
is added, q the square of the ℓ2 error. At saturated ends, with c surprises where e are expected,
the upper end adds |Γ(c + ½) − e|/n, with probability ½ if c = 0; the lower end adds
max(Γ(c) − e, 0)/n if c is above the 97.5 % quantile of a calibrated model, else nothing.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from calbias.auditing.intervals.gamma_mixture import GammaMixture, gamma_mixture
from calbias.auditing.intervals.interval import Interval
from calbias.conventions import CONFIDENCE_LEVEL
from calbias.engine.posterior.cells import HITS, SCORE, SIZE, WEIGHT, Cells, Floats, cells_of
from calbias.engine.posterior.cellwise import fine_cells
from calbias.engine.posterior.classes import (
    CELLWISE,
    LAPSE,
    PosteriorClass,
    interval_cells,
    posterior_classes,
    surprising,
)
from calbias.engine.posterior.moments import (
    FOURTH,
    MEAN,
    SQUARE_MEAN,
    SQUARE_STEP,
    SQUARE_VARIANCE,
    STEP,
    VARIANCE,
)
from calbias.engine.sorted_batch import SortedBatch

THRESHOLDS = (0.01, 0.02)
_RELEVANT, _RELEVANT_ABOVE = math.log(50.0), math.log(1e5)  # for low and high, see above
_CLEAR = math.log(100.0)  # evidence against calibration from which the upper end steps back
_INDEPENDENT, _MANY = "white", "segments_0_12"
_SMOOTH, _ROUGH = ("line", "process_0.35", "process_0.1"), ("process_0.03", _INDEPENDENT)
_SEEN = math.log(2.0)  # evidence of a rough class from which its structure counts
_ALWAYS = ("line", "process_0.35")  # at the upper end
_NULL_PRIOR = 0.2
_FEW = 20


class _Ends(NamedTuple):
    """Mean and variance of what both saturated ends add to the error, or to its square."""

    mean: float
    variance: float


class PosteriorErrors(NamedTuple):
    """The classes of one data set: intervals of both norms and all levels come from them.

    Attributes
    ----------
    cells : Cells
    classes : list of PosteriorClass
    resolution : float
        Distance of scores within which an error that changes its sign may not be seen: 90 % of the
        rows are in cells at most so wide. 0 where each distinct score has a cell.
    mean_score, hits : float
        Mean of the scores; number of hits.
    """

    cells: Cells
    classes: list[PosteriorClass]
    resolution: float
    mean_score: float
    hits: float

    def interval(self, norm: float = 1, confidence_level: float = CONFIDENCE_LEVEL) -> Interval:
        """Return the hull of the relevant classes: of the error of the population.

        Rows are taken as independent. A point estimate may lie outside. Up to 20 rows, and where
        all hits agree, the upper end is at least the exact limit of the mean gap.
        """
        n, tail = self.cells.n, (1.0 - confidence_level) / 2.0
        lower, upper = _ends(self.cells, norm)
        evidence = {each.name: each.evidence for each in self.classes}
        best = max(value for name, value in evidence.items() if name not in (LAPSE, CELLWISE))
        smooth, rough = (max(evidence.get(x, 0.0) for x in names) for names in (_SMOOTH, _ROUGH))
        is_rough = rough > max(smooth, _SEEN)
        always, stepping = set(_ALWAYS), {CELLWISE}
        if best > _CLEAR:
            stepping |= set(_SMOOTH)
        if is_rough:
            rough_ones = {_MANY, _INDEPENDENT} if evidence[_INDEPENDENT] > smooth else {_MANY}
            always |= rough_ones
            stepping |= rough_ones
        low, high = math.inf, 0.0
        for each in self.classes:
            step = float(each.weights @ each.moments[:, STEP if norm == 1 else SQUARE_STEP])
            if each.evidence >= best - _RELEVANT:
                back = max(step, 0.0) if each.name == CELLWISE else 0.0
                law = _law(each, n, norm, lower)
                if law.distribution(low + back) > tail:
                    low = max(law.quantile(tail) - back, 0.0)
            if each.name in always or each.evidence >= best - _RELEVANT_ABOVE:
                back = max(step, 0.0) if each.name in stepping else 0.0
                law = _law(each, n, norm, upper)
                if law.distribution(max(high - back, 0.0)) < 1.0 - tail:
                    high = law.quantile(1.0 - tail) + back
        if is_rough:
            high += _averaged_away(self.cells.table, norm)
        if norm == 2:
            low, high = math.sqrt(low), math.sqrt(high)
        if n <= _FEW or self.hits in (0, n):
            high = max(high, self._greatest_mean_gap(1.0 - confidence_level))
        return Interval(low, min(high, 1.0))

    def probability_below(self, threshold: float, norm: float = 1) -> float:
        """Return the posterior probability, over all classes, of an error below a threshold."""
        _, upper = _ends(self.cells, norm)
        best = max(each.evidence for each in self.classes)
        x = threshold if norm == 1 else threshold * threshold
        total = found = 0.0
        for k, each in enumerate(self.classes):
            prior = _NULL_PRIOR if k == 0 else (1.0 - _NULL_PRIOR) / (len(self.classes) - 1)
            weight = prior * math.exp(each.evidence - best)
            total += weight
            found += weight * _law(each, self.cells.n, norm, upper).distribution(x)
        return found / total

    def _greatest_mean_gap(self, alpha: float) -> float:
        """Return the greatest |mean score − p| of the exact limits p of the share of hits."""
        n, hits = self.cells.n, self.hits
        low = float(betaincinv(hits, n - hits + 1, alpha / 2)) if hits > 0 else 0.0
        high = float(betaincinv(hits + 1, n - hits, 1 - alpha / 2)) if hits < n else 1.0
        return max(self.mean_score - low, high - self.mean_score)


def posterior_errors(data: SortedBatch) -> PosteriorErrors:
    """Return the PosteriorErrors of the first row of a SortedBatch."""
    return errors_of(data.scores[0], data.cum_hit[0])


def errors_of(
    scores: Floats,
    cum_hit: Floats,
    cum_row: Floats | None = None,
    cum_square: Floats | None = None,
) -> PosteriorErrors:
    """Return the PosteriorErrors of ascending scores; the arrays are those of ``cells_of``."""
    n = float(scores.size if cum_row is None else cum_row[-1])
    cells = cells_of(scores, cum_hit, *interval_cells(int(n + 1e-6)), cum_row, cum_square)
    fine = fine_cells(scores, cum_hit, cum_row, cum_square, cells)
    mean = scores.mean() if cum_row is None else np.sum(scores * np.diff(cum_row)) / n
    resolution = _resolution(scores, cells)
    return PosteriorErrors(
        cells, posterior_classes(cells, fine), resolution, float(mean), float(cum_hit[-1])
    )


def _law(each: PosteriorClass, n: float, norm: float, ends: _Ends) -> GammaMixture:
    """Return the law of the error, or of its square, of a class's curves."""
    moments = each.moments
    columns = (MEAN, VARIANCE, SQUARE_MEAN) if norm == 1 else (SQUARE_MEAN, SQUARE_VARIANCE, FOURTH)
    mean, variance, square = moments.T[[*columns]]
    population = np.maximum(square - mean**2, 0.0) / n
    return gamma_mixture(each.weights, mean + ends.mean, variance + population + ends.variance)


def _averaged_away(table: Floats, norm: float) -> float:
    """Return what change points within cells take from the error, or from its square.

    A cell lacks the lesser gap of its neighbours, where these differ in sign by two standard
    errors, less its gap.
    """
    gap = table[HITS] / table[SIZE] - table[SCORE]
    variance = table[SCORE] * (1.0 - table[SCORE]) / table[SIZE]
    before, after, size = gap[:-2], gap[2:], abs(gap) ** norm
    differ = (before - after) ** 2 > 4.0 * (variance[:-2] + variance[2:])
    lacks = np.maximum(np.minimum(size[:-2], size[2:]) - size[1:-1], 0.0)
    return float(np.sum((table[WEIGHT, 1:-1] * lacks)[differ & (before * after < 0.0)]))


def _ends(cells: Cells, norm: float) -> tuple[_Ends, _Ends]:
    """Return what the saturated ends add at the lower and at the upper end of the interval."""
    added = np.zeros((2, 2))
    ends = (cells.end_rows, cells.surprises, cells.expected, cells.end_scale, surprising(cells))
    for rows, surprises, expected, scale, is_surprising in zip(*ends, strict=True):
        if rows == 0:
            continue
        unit = scale / cells.n if norm == 1 else scale / (rows * cells.n)
        if is_surprising:
            added[0] += _of_gamma(surprises, expected, 1.0, norm, unit)
        share = 1.0 if surprises else 0.5
        added[1] += _of_gamma(surprises + 0.5, expected, share, norm, unit)
    return _Ends(*added[0]), _Ends(*added[1])


def _of_gamma(shape: float, expected: float, share: float, norm: float, unit: float) -> Floats:
    """Return mean and variance of unit·|Γ(shape) − expected|^norm, 0 with probability 1 − share.

    For norm 1 the mean is without the bars: Γ is below what is expected, at most 0.1, by less than
    0.1.
    """
    gap = shape - expected
    second = shape + gap * gap
    if norm == 1:
        mean = gap
    else:
        mean = second
        third = 2.0 * shape  # central moments of Γ: a, 2a, 3a² + 6a
        second = 3 * shape * shape + 6 * shape + 4 * gap * third + 6 * gap * gap * shape + gap**4
    first = share * mean
    return np.array([unit * first, unit * unit * max(share * second - first * first, 0.0)])


def _resolution(scores: Floats, cells: Cells) -> float:
    """Return the width of scores that 90 % of the rows' cells do not exceed."""
    if cells.table.shape[1] == 0:
        return 0.0
    first, last = cells.bounds[:-1], cells.bounds[1:]
    widths = scores[last - 1] - scores[first]
    order = np.argsort(widths, kind="stable")
    rows = np.cumsum(cells.table[SIZE][order])
    return float(widths[order][np.searchsorted(rows, 0.9 * rows[-1])])
