"""A scenario: a Beta score distribution with a calibration curve (F × T).

Also the exact quantiles of the score in both tails, which the sampler's table is built from.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, betaln

from calbias.errors import InputError
from calbias.truth.curves import Curve, validate_curve_name


class Scenario(NamedTuple):
    """A score distribution with a calibration curve: data whose true calibration error is known.

    Attributes
    ----------
    name : str
        It keys the random stream: scenarios of one name draw the same uniform numbers, so that
        curves and parameters are compared on common random numbers.
    alpha, beta : float
        Scores are Beta(alpha, beta), both above 0; (1, 1) is uniform.
    curve : Curve
        A prediction of score c is correct with probability T(c).

    Examples
    --------
    >>> import calbias
    >>> calibrated = calbias.Scenario("calibrated", 2.8, 0.05, calbias.Curve("identity"))
    >>> round(calbias.true_calibration_error(calibrated), 9)
    0.0
    """

    name: str
    alpha: float
    beta: float
    curve: Curve


def validate_scenario(scenario: Scenario, location: str = "scenario") -> None:
    """Raise InputError for parameters that are not finite and above 0, and for unknown curves."""
    _, alpha, beta, curve = scenario
    if not (0 < alpha < np.inf and 0 < beta < np.inf):
        raise InputError(f"{location}: alpha {alpha} and beta {beta} must be finite and above 0")
    if isinstance(curve, Curve):
        validate_curve_name(curve.name, f"{location}: ")
    if not np.isfinite([curve.b0, curve.b1]).all():
        raise InputError(f"{location}: b0 {curve.b0} and b1 {curve.b1} must be finite")


def log_quantile(alpha: float, beta: float, lower: np.ndarray) -> np.ndarray:
    """Return log x, x the quantile of Beta(alpha, beta) at probability ``lower``, (m,) in (0, 1).

    Accurate relative to x even where x underflows: F(x) = x^alpha / (alpha·B(alpha, beta)) there.
    """
    x = betaincinv(alpha, beta, lower)
    leading = (np.log(lower) + np.log(alpha) + betaln(alpha, beta)) / alpha
    with np.errstate(divide="ignore"):
        log_x = np.log(x)
    # SciPy gives NaN for some tails below 1e-16 of nearly uniform distributions, too.
    return np.where((leading < np.log(1e-30)) | np.isnan(log_x), leading, log_x)


def score_quantiles(
    alpha: float, beta: float, lower: np.ndarray | None = None, upper: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (log c, log(1 - c)) at lower, or at upper, tail probabilities, array (m,)."""
    if lower is None:
        log1m_score, log_score = score_quantiles(beta, alpha, lower=upper)
        return log_score, log1m_score
    log_score = log_quantile(alpha, beta, lower)
    with np.errstate(divide="ignore"):
        log1m_score = np.log1p(-np.exp(log_score))
        high = ~(log_score < np.log(0.5))  # there the complement has lost digits
        log1m_score[high] = log_quantile(beta, alpha, 1.0 - lower[high])
        complement_of_log1m_score = np.log1p(-np.exp(log1m_score))
    log_score = np.where(log1m_score < np.log(0.5), complement_of_log1m_score, log_score)
    return log_score, log1m_score
