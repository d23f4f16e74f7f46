"""The calibration error of given scores under a fitted curve: the average over them, not a Beta.

The curve T is the GLM of least AIC. A score of exactly 0 or 1 has no finite logit: the fit leaves
these atoms out, and T there is their mean label.
"""

from typing import Any, NamedTuple

import numpy as np

from calbias.truth.curves import Curve
from calbias.truth.true_error import gap
from pipeline.fits.design import LOG_MISS_AT_ONE
from pipeline.fits.glm import GlmFit, best_fit, fit_all


class FittedCurve(NamedTuple):
    """The curve of least AIC and all fits; None and empty where no curve can be fitted."""

    curve: Curve | None
    fits: tuple[GlmFit, ...]


def atoms(top: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (at_zero, at_one, inside), bool (n,): of scores; the 1 of float32_2020 counts."""
    at_zero = np.isneginf(top.log_score)
    at_one = np.isneginf(top.log1m_score) | np.isclose(
        top.log1m_score, LOG_MISS_AT_ONE, rtol=1e-12, atol=0
    )
    return at_zero, at_one, ~(at_zero | at_one)


def fit_curve(top: Any) -> FittedCurve:
    """Return the ``FittedCurve`` of a ``TopLabel``: twelve GLMs by Newton's method, least AIC."""
    *_, inside = atoms(top)
    log_score, log1m_score = top.log_score[inside], top.log1m_score[inside]
    hit = top.hit[inside]
    if hit.size == 0 or hit.min() == hit.max() or np.ptp(log_score - log1m_score) == 0:
        return FittedCurve(None, ())
    fits = tuple(fit_all(log_score, log1m_score, hit, use_statsmodels=False))
    return FittedCurve(best_fit(fits).curve, fits)


def hit_probability(top: Any, curve: Curve | None) -> np.ndarray:
    """Return T at each score of a ``TopLabel``, (n,): the mean label at atoms at 0 and at 1."""
    at_zero, at_one, inside = atoms(top)
    rates = np.empty(len(top.hit))
    for atom in (at_zero, at_one):
        rates[atom] = _mean(top.hit[atom])
    if curve is None:
        rates[inside] = _mean(top.hit[inside])
    else:
        rates[inside] = curve.hit(top.log_score[inside], top.log1m_score[inside])
    return rates


def empirical_tce(top: Any, curve: Curve | None, norm: float = 2.0) -> float:
    """Return (mean |c - T(c)|^p)^(1/p) over the n scores of a ``TopLabel``, a fraction."""
    at_zero, at_one, inside = atoms(top)
    total = at_zero.sum() * _mean(top.hit[at_zero]) ** norm
    total += at_one.sum() * _mean(1.0 - top.hit[at_one]) ** norm
    if curve is None:
        gaps = top.score[inside] - _mean(top.hit[inside])
    else:
        gaps = gap(curve, top.log_score[inside], top.log1m_score[inside])
    total += np.sum(np.abs(gaps) ** norm)
    return float((total / len(top.hit)) ** (1.0 / norm))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else 0.0
