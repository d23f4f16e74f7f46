"""A scenario's true calibration error by numerical integration (Roelofs et al. 2022, Eq. 1)."""

import numpy as np
from scipy.optimize import brentq

from calbias.errors import InputError
from calbias.truth.scenarios import score_quantiles

_OCTAVES = 60  # the panels nearest to 0 and 1 are 2^-60 wide
_TOLERANCE = 1e-11  # of a panel, relative to the whole
_MOST_SPLITS = 6
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def true_calibration_error(scenario, norm=2.0):
    """Return TCE_p = (E_c |c - T(c)|^p)^(1/p) of a Scenario, a fraction.

    The expectation is integrated over u = F(c), from each end to the median, by Gauss-Legendre
    quadrature on panels that halve towards the end; a panel is split where c = T(c) and where T
    reaches its bounds, since |c - T| has kinks there, and halved until its halves agree with it.
    Raises InputError for a norm that is not positive and finite.
    """
    if not 0 < norm < np.inf:
        raise InputError(f"norm must be a finite number above 0, not {norm}")
    total = sum(_half(scenario, side, norm) for side in ("lower", "upper"))
    return float(total ** (1.0 / norm))


def gap(scenario, log_score, log1m_score):
    """Return c - T(c), (m,): near 1 as (1 - T) - (1 - c), where the difference would cancel."""
    near_one = log1m_score < log_score
    return np.where(
        near_one,
        np.exp(scenario.curve.log_not_hit(log_score, log1m_score)) - np.exp(log1m_score),
        np.exp(log_score) - np.exp(scenario.curve.log_hit(log_score, log1m_score)),
    )


def _half(scenario, side, norm):
    """Return the integral of |gap|^p over tail probabilities from 0 to 1/2 of one side."""

    def at(u):
        return score_quantiles(scenario.alpha, scenario.beta, **{side: u})

    def gap_at(u):
        return gap(scenario, *at(u))

    edges = np.concatenate([[0.0], 0.5 ** np.arange(_OCTAVES, 0, -1.0)])
    kinks = _sign_changes(gap_at, edges)
    kinks += _sign_changes(lambda u: scenario.curve.overshoot(*at(u)), edges)
    edges = np.union1d(edges, kinks)

    def integrals(low, high):
        half_width = (high - low)[:, None] / 2
        u = low[:, None] + half_width * (1 + _POINTS)
        values = np.abs(gap_at(u.ravel())).reshape(u.shape) ** norm
        return np.sum(half_width * _WEIGHTS * values, axis=1)

    low, high = edges[:-1], edges[1:]
    whole = integrals(low, high)
    allowed = _TOLERANCE * whole.sum()
    total = 0.0
    for _ in range(_MOST_SPLITS):
        middle = (low + high) / 2
        left, right = integrals(low, middle), integrals(middle, high)
        rough = np.abs(left + right - whole) > allowed
        total += np.sum((left + right)[~rough])
        low = np.concatenate([low[rough], middle[rough]])
        high = np.concatenate([middle[rough], high[rough]])
        whole = np.concatenate([left[rough], right[rough]])
    return float(total + whole.sum())


def _sign_changes(function, edges):
    """Return the tail probabilities where a function changes sign, looked for on 8 points a panel.

    Values below 1e-15 are rounding error: zeros without a sign. A change may end at such a point.
    """
    u = np.unique(np.linspace(edges[1:-1], edges[2:], 9).ravel())
    values = function(u)
    values[np.abs(values) < 1e-15] = 0.0
    zero = values == 0
    beside_others = np.append(~zero[1:], False) | np.append(False, ~zero[:-1])
    between = np.flatnonzero(values[:-1] * values[1:] < 0)
    return [
        *u[zero & beside_others],
        *(
            brentq(lambda x: float(function(np.array([x]))[0]), u[i], u[i + 1], xtol=1e-15)
            for i in between
        ),
    ]
