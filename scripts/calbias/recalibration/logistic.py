"""Logistic recalibration: a shift or a slope of the log odds, and the line of Cox and Platt.

logit c = a + b·logit s, with b = 1 for a shift and a = 0 for a slope; a and b are the most likely
ones (Cox 1958, Platt 1999).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from calbias.samples.by_score import dot

_STEEPEST = 700.0  # log odds
LEAST = 2.0**-53  # scores of 0 and 1 have no logit: they are taken this far from it, or farther
ENDS = LEAST, 1.0 - LEAST
_STEPS, _LONGEST, _CLOSE, _HALVINGS = 50, 2.0, 1e-9, 30  # of Newton's method


class Line(NamedTuple):
    """logit c = a + b·logit s, for scores taken to lie within the ends."""

    intercept: float
    slope: float
    least: float
    greatest: float

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the recalibrated scores, (m,)."""
        x = logits_of(scores, (self.least, self.greatest))
        return expit(self.intercept + self.slope * x)


def logits_of(scores: np.ndarray, ends: tuple[float, float] = ENDS) -> np.ndarray:
    """Return logit s, (n,), finite: scores beyond the ends are taken there."""
    return logit(np.clip(scores, *ends))


def fit_shift(x: np.ndarray, hits: np.ndarray, rows: np.ndarray | float = 1.0) -> float:
    """Return the most likely a of P(hit) = expit(x + a), for finite logits x (n,).

    ``hits`` (n,) are counts of ``rows`` rows each.
    """
    rows = rows * np.ones_like(x)
    total = float(hits.sum())
    if not 0.0 < total < float(rows.sum()):
        return 0.0
    a = 0.0
    for _ in range(200):  # Newton converges: in a step of 1 the slope changes at most e times
        p = expit(x + a)
        expected = rows * p
        step = (total - expected.sum()) / max(dot(expected, 1.0 - p), 1e-300)
        step = float(np.clip(step, -1.0, 1.0))
        a += step
        if abs(step) < 1e-12:
            break
    return a


def fit_cox(x: np.ndarray, hits: np.ndarray, rows: np.ndarray | float = 1.0) -> tuple[float, float]:
    """Return the most likely (a, b) for logits x (n,); ``hits`` (n,) are of ``rows`` rows each.

    Where a threshold separates hits from misses, one more hit and one more miss are counted (Platt
    1999). The slope is 0 where there is none: all logits are equal, or all outcomes.
    """
    rows = rows * np.ones_like(x)
    n, n_hits = float(rows.sum()), float(hits.sum())
    if 0 < n_hits < n and np.ptp(x) > 0:
        for values in (hits, smoothed(hits, rows)):
            if line := newton_line(x, values, rows):
                return line
    return float(logit((n_hits + 0.5) / (n + 1.0))), 0.0


def fit_slope(x: np.ndarray, hits: np.ndarray, rows: np.ndarray | float = 1.0) -> float:
    """Return the most likely b of P(hit) = expit(b x), for finite logits x (n,).

    ``hits`` (n,) are counts of ``rows`` rows each. Where no b is the most likely, one more hit and
    one more miss are counted; where all x are 0 it is 1.
    """
    rows = rows * np.ones_like(x)
    if not np.any(x):
        return 1.0

    def rise(b: float, counts: np.ndarray) -> float:
        return dot(x, counts - rows * expit(b * x))

    from scipy.optimize import brentq  # half a second to load

    ends = -_STEEPEST / np.abs(x).max(), _STEEPEST / np.abs(x).max()
    for counts in (hits, smoothed(hits, rows)):
        if rise(ends[0], counts) > 0.0 > rise(ends[1], counts):
            break
    else:
        return ends[int(rise(ends[1], counts) >= 0.0)]
    return float(brentq(rise, *ends, args=(counts,), xtol=_CLOSE))


def smoothed(hits: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the hits (n,) with one more hit and one more miss, spread over the rows."""
    n, n_hits = float(rows.sum()), float(hits.sum())
    lowest = 1.0 / (n - n_hits + 2.0)
    return lowest * rows + hits * ((n_hits + 1.0) / (n_hits + 2.0) - lowest)


def newton_line(
    x: np.ndarray, hits: np.ndarray, size: np.ndarray | float = 1.0
) -> tuple[float, float] | None:
    """Return (a, b) of greatest likelihood of logit P(hit) = a + b·x, by Newton's steps.

    They are halved until the likelihood, which is concave, does not fall. They start at the line of
    a calibrated model and, where they do not converge from there, at the share of hits: most scores
    may be exactly 0 and 1, and say nothing of a line near the first.

    ``hits`` (n,) are counts of ``size`` rows each. None where the likelihood has no maximum.
    """
    rows = size * np.ones_like(x)
    if not 0.0 < hits.sum() < rows.sum():
        return None
    level = float(logit(hits.sum() / rows.sum()))
    return _newton(x, hits, rows, (0.0, 1.0)) or _newton(x, hits, rows, (level, 0.0))


def _newton(
    x: np.ndarray, hits: np.ndarray, rows: np.ndarray, start: tuple[float, float]
) -> tuple[float, float] | None:
    """Return the line that Newton's steps reach from a start, or None."""

    def likelihood(a: float, b: float) -> float:
        y = a + b * x
        return float(np.sum(hits * y - rows * np.logaddexp(0.0, y)))

    a, b = start
    reached = likelihood(a, b)
    for _ in range(_STEPS):
        p = 0.5 + 0.5 * np.tanh(0.5 * (a + b * x))
        residual, v = hits - rows * p, rows * p * (1.0 - p)
        u0, u1 = np.sum(residual), np.sum(residual * x)
        h00, h01, h11 = np.sum(v), np.sum(v * x), np.sum(v * x * x)
        determinant = h00 * h11 - h01 * h01
        if not determinant > 1e-10 * h00 * h11:
            return None
        da, db = (h11 * u0 - h01 * u1) / determinant, (h00 * u1 - h01 * u0) / determinant
        shorter = min(1.0, _LONGEST / max(abs(da), abs(db), 1e-300))
        for _ in range(_HALVINGS):
            now = likelihood(a + shorter * da, b + shorter * db)
            if now >= reached - 1e-12 * abs(reached):
                break
            shorter *= 0.5
        a, b, reached = a + shorter * da, b + shorter * db, now
        if max(abs(da), abs(db)) < _CLOSE:
            return float(a), float(b)
    return None
