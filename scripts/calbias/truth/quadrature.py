"""Integrals over Beta scores, by Gauss-Legendre quadrature over the log odds of the score.

With t = logit c the distribution has the density c^alpha (1 - c)^beta / B(alpha, beta) in t. It is
smooth, has one mode and falls off like e^(alpha t) and e^(-beta t), where the density in c itself
has poles at 0 and 1. Both log c and log(1 - c) follow from t without loss.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.special import betaln, log_expit

_GROWTH = 1.25  # of the panels, away from the mode
_TAIL = 60.0  # the integral stops where the tails' density is below e^-60 of their mass
_TOLERANCE = 1e-14  # of a panel, relative to the whole
_MOST_SPLITS = 8
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_SEARCH = np.arange(8) / 8


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
    whole = integrals(low, high)
    allowed = _TOLERANCE * np.abs(whole).sum(axis=-1, keepdims=True)
    total = 0.0
    for _ in range(_MOST_SPLITS):
        middle = (low + high) / 2
        left, right = np.split(
            integrals(np.concatenate([low, middle]), np.concatenate([middle, high])), 2, axis=-1
        )
        differs = np.abs(left + right - whole) > allowed
        rough = differs.reshape(-1, len(low)).any(axis=0)
        total += np.sum((left + right)[..., ~rough], axis=-1)
        if not rough.any():
            return total
        low = np.concatenate([low[rough], middle[rough]])
        high = np.concatenate([middle[rough], high[rough]])
        whole = np.concatenate([left[..., rough], right[..., rough]], axis=-1)
    return total + whole.sum(axis=-1)


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
