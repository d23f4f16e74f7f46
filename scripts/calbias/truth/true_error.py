"""A scenario's true calibration error by numerical integration (Roelofs et al. 2022, Eq. 1)."""

from __future__ import annotations

from functools import partial

import numpy as np

from calbias.errors import InputError
from calbias.truth.curves import Curve
from calbias.truth.quadrature import integral, sign_changes
from calbias.truth.scenarios import Scenario, validate_scenario

_ROUNDING = 8 * np.finfo(np.float64).eps


def true_calibration_error(scenario: Scenario, *, norm: float = 1.0) -> float:
    """Compute the true calibration error of a scenario, ``(E_c |c - T(c)|^p)^(1/p)``.

    Parameters
    ----------
    scenario : Scenario
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
    return np.where(equal, 0.0, np.exp(log_greater) - np.exp(log_less))
