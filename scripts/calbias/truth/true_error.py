"""A scenario's true calibration error by numerical integration (Roelofs et al. 2022, Eq. 1).

The integral over Beta scores is by Gauss-Legendre quadrature over the log odds of the score.

With t = logit c the distribution has the density c^alpha (1 - c)^beta / B(alpha, beta) in t. It is
smooth, has one mode and falls off like e^(alpha t) and e^(-beta t), where the density in c itself
has poles at 0 and 1. Both log c and log(1 - c) follow from t without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaln, log_expit

from calbias.errors import InputError
from calbias.truth.counted import CountedScenario
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario, validate_scenario

_ROUNDING = 8 * np.finfo(np.float64).eps
_GROWTH = 1.25  # of the panels, away from the mode
_TAIL = 60.0  # the integral stops where the tails' density is below e^-60 of their mass
_TOLERANCE = 1e-14  # of a panel, relative to the whole
_MOST_SPLITS = 8
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_SEARCH = np.arange(8) / 8


def true_calibration_error(scenario: Scenario | CountedScenario, *, norm: float = 1.0) -> float:
    """Compute the true calibration error of a scenario, ``(E_c |c - T(c)|^p)^(1/p)``.

    Parameters
    ----------
    scenario : Scenario or CountedScenario
        The distribution of the scores c and the calibration curve T.
    norm : float, default 1
        p, above 0 and finite. The paper uses 2.

    Returns
    -------
    float
        A fraction.

    Raises
    ------
    InputError
        For a norm that is not positive and finite.

    Notes
    -----
    The integral is split where c = T(c), unless p is even, and where T is clipped to [0, 1], since
    the integrand has kinks there.

    References
    ----------
    Roelofs, Cain, Shlens and Mozer (2022), Eq. 1.

    Examples
    --------
    With uniform scores and T(c) = c², the integral of c - c² is 1/2 - 1/3.

    >>> import calbias
    >>> squared = calbias.Scenario("squared", 1.0, 1.0, calbias.Curve("power", b1=2.0))
    >>> round(calbias.true_calibration_error(squared), 6)
    0.166667
    """
    if not 0 < norm < np.inf:
        raise InputError(f"norm must be a finite number above 0, not {norm}")
    if isinstance(scenario, CountedScenario):
        _, gaps, weights = scenario.points
        return float(np.dot(weights, np.abs(gaps) ** norm) ** (1.0 / norm))
    validate_scenario(scenario)
    _, alpha, beta, curve = scenario

    def integrand(
        log_score: np.ndarray, log1m_score: np.ndarray, log_density: np.ndarray
    ) -> np.ndarray:
        return np.abs(gap(curve, log_score, log1m_score)) ** norm * np.exp(log_density)

    kinks = sign_changes(curve.overshoot, alpha, beta)
    if norm % 2:
        kinks += sign_changes(partial(gap, curve), alpha, beta)
    return float(integral(integrand, alpha, beta, kinks) ** (1.0 / norm))


def gap(curve: Curve, log_score: np.ndarray, log1m_score: np.ndarray) -> np.ndarray:
    """Return c - T(c), (m,), of a Curve, without cancellation near 1; rounding alone is 0."""
    near_one = log1m_score < log_score
    log_greater = np.where(near_one, curve.log_not_hit(log_score, log1m_score), log_score)
    log_less = np.where(near_one, log1m_score, curve.log_hit(log_score, log1m_score))
    with np.errstate(invalid="ignore"):
        equal = np.abs(log_greater - log_less) <= _ROUNDING * (1 + np.abs(log_less))
        equal &= np.isfinite(log_less)  # T may be 0
    return np.where(equal, 0.0, np.exp(log_greater) - np.exp(log_less))


def integral(
    integrand: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    alpha: float,
    beta: float,
    kinks: Iterable[float] = (),
) -> Any:
    """Return the integral over t of integrand(log c, log(1 - c), log density) for Beta scores.

    ``integrand`` takes three arrays (m,) and returns (..., m), the density included; the result has
    shape (...). Panels end at ``kinks``, values of t, and are halved until the halves agree.
    """

    def integrals(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        half_width = (high - low)[:, None] / 2
        t = (low[:, None] + half_width * (1 + _POINTS)).ravel()
        log_score, log1m_score = log_expit(t), log_expit(-t)
        log_density = alpha * log_score + beta * log1m_score - betaln(alpha, beta)
        values = np.asarray(integrand(log_score, log1m_score, log_density))
        values = values.reshape(*values.shape[:-1], len(low), -1)
        return np.sum(half_width * _WEIGHTS * values, axis=-1)

    edges = np.union1d(_edges(alpha, beta), list(kinks))
    low, high = edges[:-1], edges[1:]
    coarse = integrals(low, high)
    allowed = _TOLERANCE * np.abs(coarse).sum(axis=-1, keepdims=True)
    total: Any = 0.0
    for _ in range(_MOST_SPLITS):
        middle = (low + high) / 2
        left, right = np.split(
            integrals(np.concatenate([low, middle]), np.concatenate([middle, high])), 2, axis=-1
        )
        differs = np.abs(left + right - coarse) > allowed
        rough = differs.reshape(-1, len(low)).any(axis=0)
        total += np.sum((left + right)[..., ~rough], axis=-1)
        if not rough.any():
            return total
        low = np.concatenate([low[rough], middle[rough]])
        high = np.concatenate([middle[rough], high[rough]])
        coarse = np.concatenate([left[..., rough], right[..., rough]], axis=-1)
    return total + coarse.sum(axis=-1)


def sign_changes(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray], alpha: float, beta: float
) -> list[float]:
    """Return the values of t where function(log c, log(1 - c)) changes sign or leaves 0."""
    from scipy.optimize import brentq  # an audit needs none: it takes a seventh of a second

    edges = _edges(alpha, beta)
    t = (edges[:-1, None] + np.diff(edges)[:, None] * _SEARCH).ravel()
    values = function(log_expit(t), log_expit(-t))
    zero = values == 0
    next_to_others = np.append(~zero[1:], False) | np.append(False, ~zero[:-1])
    crossings = np.flatnonzero(values[:-1] * values[1:] < 0)

    def at(t: float) -> float:
        x = np.array([t])
        return float(function(log_expit(x), log_expit(-x))[0])

    roots = [brentq(at, t[i], t[i + 1], xtol=1e-14) for i in crossings]
    return [*t[zero & next_to_others], *roots]


def _edges(alpha: float, beta: float) -> np.ndarray:
    """Return the ends of the panels: they grow away from the mode of the density in t."""
    mode = np.log(alpha / beta)
    width = min(0.5, np.sqrt(1 / alpha + 1 / beta))
    sides = []
    for shape, sign in ((alpha, -1), (beta, 1)):
        # Beyond t the mass is at most e^(-shape |t|) / (shape B).
        log_mass = max(0.0, -np.log(shape) - betaln(alpha, beta))
        reach = max((_TAIL + log_mass) / shape - sign * mode, width)
        n_panels = int(np.ceil(np.log1p(reach * (_GROWTH - 1) / width) / np.log(_GROWTH)))
        offsets = width * (_GROWTH ** np.arange(n_panels + 1) - 1) / (_GROWTH - 1)
        sides.append(mode + sign * offsets)
    return np.concatenate([sides[0][:0:-1], sides[1]])
