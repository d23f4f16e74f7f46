"""The curve that stands for a model when its hits are redrawn, and how well it fits the hits."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from calbias.fits.empirical_error import atoms, fit_curve, hit_probability
from calbias.truth.curves import Curve

FEWEST_OF_EACH = 5  # hits and misses: with fewer a curve of two coefficients is arbitrary
_LEAST_CHANCE = 0.5  # expected variance of the number of hits, below which the hits are certain
_MOST_GROUPS, _VARIANCE_OF_A_GROUP = 10, 5.0


class FittedModel(NamedTuple):
    """A model's calibration curve, or why there is none.

    ``curve`` is None where the mean hit serves; ``rates`` (n,) is the probability of a hit at each
    score, None where hits cannot be redrawn, for the ``reason``; ``fit_p_value`` is small where the
    curve does not follow the hits, and None where the hits are too few to tell.
    """

    curve: Curve | None
    rates: np.ndarray | None
    reason: str
    fit_p_value: float | None

    @property
    def name(self):
        """The curve's name, ``mean_hit`` for a constant, empty where there is none."""
        return "" if self.rates is None else self.curve.name if self.curve else "mean_hit"


def fitted_model(top):
    """Return the FittedModel of a TopLabel: of twelve GLMs the one of least AIC."""
    hits = int(top.hit.sum())
    misses = len(top.hit) - hits
    if not hits or not misses:
        what = "misses" if misses else "hits"
        return _without(f"all {len(top.hit)} samples are {what}: no others can be redrawn")
    if min(hits, misses) < FEWEST_OF_EACH:
        return _without(
            f"{hits} hits and {misses} misses: a calibration curve needs at least "
            f"{FEWEST_OF_EACH} of each"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores that separate hits from misses: told below
        curve = fit_curve(top).curve
    rates = hit_probability(top, curve)
    if rates @ (1.0 - rates) < _LEAST_CHANCE:
        return _without("the scores separate hits from misses: the fitted curve is a step")
    return FittedModel(curve, rates, "", _fit_p_value(top, rates))


def _without(reason):
    return FittedModel(None, None, reason, None)


def _fit_p_value(top, rates):
    """Return the p-value of a Hosmer-Lemeshow test of the rates; None below three groups.

    Groups of successive scores have equal expected variance, of at least 5: χ² with two degrees of
    freedom fewer than groups. Scores of exactly 0 and 1 are left out: their rates are their mean
    hits.
    """
    inside = ~np.logical_or(*atoms(top))
    log_odds = (top.log_score - top.log1m_score)[inside]
    _, place = np.unique(log_odds, return_inverse=True)
    excess = np.bincount(place, (top.hit - rates)[inside])
    variance = np.bincount(place, (rates * (1.0 - rates))[inside])
    total = variance.sum()
    n_groups = min(_MOST_GROUPS, int(total / _VARIANCE_OF_A_GROUP))
    if n_groups < 3:
        return None
    middle = (np.cumsum(variance) - variance / 2) / total
    group = np.minimum((middle * n_groups).astype(int), n_groups - 1)
    sums, variances = (np.bincount(group, values) for values in (excess, variance))
    used = variances > 0
    if used.sum() < 3:
        return None
    statistic = np.sum(sums[used] ** 2 / variances[used])
    return float(chi2.sf(statistic, used.sum() - 2))
