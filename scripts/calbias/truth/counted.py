"""A scenario that is a population: rows and hits counted in cells of the score's log odds.

Rates of single cells are not the calibration curve: their noise looks like miscalibration, and a
score moves within its cell. So the curve is smooth: logit T(c) = logit c + s(logit c), where s is a
cubic spline fitted to rows and hits by penalised logistic regression. Penalty: the squared second
divided differences of the coefficients (P-splines, Eilers and Marx 1996); AIC chooses its weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from calbias.errors import InputError

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

WIDTH = 0.01  # of a cell, in log odds
N_KNOTS = 20
TAIL = 5e-4  # beyond these quantiles s is constant
PENALTIES = 10.0 ** np.arange(5, -2, -1.5)
RIDGE = 1e-6  # a spline has no unique coefficients where all rows are hits
POINTS_PER_CELL = 8
_MOST_STEPS = 100


class Points(NamedTuple):
    """Points of ascending log odds of the score, gaps T - c there, and weights of sum 1: (k,)."""

    log_odds: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray


class CurveFit(NamedTuple):
    """logit T - logit c, a spline of the log odds, and how it fits the rows.

    ``nll`` is the sum in nats; AIC is 2 nll + 2 ``degrees_of_freedom``.
    """

    spline: BSpline
    nll: float
    degrees_of_freedom: float

    @property
    def aic(self) -> float:
        """Return Akaike's criterion."""
        return 2 * (self.nll + self.degrees_of_freedom)


class CountedScenario:
    """A population of scores, counted in cells of log odds, with its smooth calibration curve.

    Parameters
    ----------
    name : str
        It keys the random stream, as a Scenario's.
    cells : array of int, shape (m,)
        Ascending numbers: cell k holds the rows with log(c / (1 - c)) in [k·width, (k + 1)·width).
    n, hits : array of int, shape (m,)
        Rows of each cell, at least 1, and correct predictions among them. Without hits, None, each
        score is a true probability.
    width : float, default 0.01

    Raises
    ------
    InputError
        For arrays of other lengths, cells out of order, and more hits than rows.

    Examples
    --------
    >>> import calbias
    >>> cells = [-1, 0, 1, 2]
    >>> few = calbias.CountedScenario("few", cells, [4000] * 4, [1200, 1800, 2600, 3100], width=1.0)
    >>> round(calbias.true_calibration_error(few, norm=2), 2)
    0.15
    """

    def __init__(
        self,
        name: str,
        cells: Sequence[int] | np.ndarray,
        n: Sequence[int] | np.ndarray,
        hits: Sequence[int] | np.ndarray | None,
        width: float = WIDTH,
    ) -> None:
        self.name, self.width = name, float(width)
        self.cells, self.n = np.asarray(cells, np.float64), np.asarray(n, np.float64)
        self.hits = None if hits is None else np.asarray(hits, np.float64)
        _validate(self)

    @classmethod
    def from_scores(cls, name: str, scores: ArrayLike, hits: ArrayLike) -> Self:
        """Make the population of a model's own scores, with the smooth curve of its hits.

        Parameters
        ----------
        name : str
        scores : array_like, shape (n,)
            Scores in [0, 1], which are kept at least 2^-53 from 0 and 1.
        hits : array_like of 0 and 1, shape (n,)

        Returns
        -------
        CountedScenario

        Raises
        ------
        InputError
            For no rows, scores outside [0, 1], and hits other than 0 and 1.

        Notes
        -----
        An estimator's bias on it is a prediction of its bias on the model (bias by construction),
        without a Beta and a GLM. The curve is estimated: a fold of 10 000 rows leaves its noise.

        Examples
        --------
        >>> import calbias
        >>> scores, hits = calbias.example()
        >>> model = calbias.CountedScenario.from_scores("mine", scores, hits)
        >>> calbias.bias("ece_bin_ew", model, n_samples=200).bias > 0
        True
        """
        c, y = (np.asarray(x, np.float64).ravel() for x in (scores, hits))
        if not (c.size and c.shape == y.shape and ((c >= 0) & (c <= 1)).all()):
            raise InputError(f"{name}: give scores in [0, 1] and one hit for each, at least one")
        if not np.isin(y, (0, 1)).all():
            raise InputError(f"{name}: hits must be 0 or 1")
        return cls.from_log_odds(name, logit(np.clip(c, 2.0**-53, 1 - 2.0**-53)), y)

    @classmethod
    def from_log_odds(cls, name: str, log_odds: np.ndarray, hits: np.ndarray) -> Self:
        """Make the population of scores by their finite log odds (n,), and hits of 0 and 1 (n,)."""
        cells, cell = np.unique(np.floor(log_odds / WIDTH), return_inverse=True)
        return cls(name, cells, np.bincount(cell), np.bincount(cell, hits))

    def calibrated(self) -> Self:
        """Return the population of these scores whose hits have them as true probabilities."""
        return type(self)(self.name, self.cells, self.n, None, self.width)

    def log_odds(self, tail: np.ndarray, upper: bool) -> np.ndarray:
        """Return the log odds at lower, or upper, tail probabilities; rows fill cells evenly."""
        first, last = self.cells * self.width, (self.cells + 1) * self.width
        if upper:
            return -_quantile(tail, -last[::-1], -first[::-1], self.n[::-1])
        return _quantile(tail, first, last, self.n)

    def logit_hit(self, log_odds: np.ndarray) -> np.ndarray:
        """Return logit T, the smooth curve, at log odds of any shape."""
        if self.hits is None:
            return np.asarray(log_odds)
        return np.asarray(log_odds + self.curve_fit.spline(np.clip(log_odds, *self._limits)))

    @cached_property
    def points(self) -> Points:
        """Points from which every target is computed: some in each cell."""
        inside = (np.arange(POINTS_PER_CELL) + 0.5) / POINTS_PER_CELL
        x = ((self.cells[:, None] + inside) * self.width).ravel()
        y = self.logit_hit(x)
        # near a score of 1 the complements have the digits
        gaps = np.where(x > 0, expit(-x) - expit(-y), expit(y) - expit(x))
        return Points(x, gaps, np.repeat(self.n / (POINTS_PER_CELL * self.n.sum()), len(inside)))

    @property
    def _limits(self) -> tuple[float, float]:
        low, high = (float(self.log_odds(np.array([TAIL]), upper)[0]) for upper in (False, True))
        return low, high

    @cached_property
    def curve_fit(self) -> CurveFit:
        """The smooth curve of least AIC."""
        from scipy.interpolate import BSpline  # most simulations are of a Beta and a GLM

        assert self.hits is not None
        low, high = self._limits
        inner = self.log_odds(np.linspace(TAIL, 1 - TAIL, N_KNOTS)[1:-1], upper=False)
        knots = np.unique([low, *inner, high])
        if len(knots) == 1:
            knots = knots[0] + self.width * np.array([-1.0, 1.0])
        padded = np.concatenate([[knots[0]] * 3, knots, [knots[-1]] * 3])
        centres = (self.cells + 0.5) * self.width
        basis = BSpline.design_matrix(np.clip(centres, knots[0], knots[-1]), padded, 3).toarray()
        roughness = _roughness((padded[1:-3] + padded[2:-2] + padded[3:-1]) / 3)
        b, fits = np.zeros(basis.shape[1]), []
        for weight in PENALTIES:  # each from the one before
            b, *quality = _fit(basis, centres, self.n, self.hits, weight * roughness, b)
            fits.append(CurveFit(BSpline(padded, b, 3), *quality))
        return min(fits, key=lambda fit: fit.aic)


def _validate(scenario: CountedScenario) -> None:
    name, cells, n = scenario.name, scenario.cells, scenario.n
    hits = n if scenario.hits is None else scenario.hits
    if not (cells.ndim == 1 and cells.size and cells.shape == n.shape == hits.shape):
        raise InputError(f"{name}: cells, n and hits must be arrays of one length, at least 1")
    if not 0 < scenario.width < np.inf:
        raise InputError(f"{name}: width must be a finite number above 0, not {scenario.width}")
    if not (np.isfinite(cells).all() and (np.diff(cells) > 0).all()):
        raise InputError(f"{name}: cells must be finite and ascending")
    if not (np.isfinite(n).all() and (n >= 1).all() and ((hits >= 0) & (hits <= n)).all()):
        raise InputError(f"{name}: each cell needs n of at least 1 and hits from 0 to n")


def _quantile(tail: np.ndarray, low: np.ndarray, high: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return quantiles of rows that are uniform in [low, high) of each cell, arrays (m,)."""
    upto = np.cumsum(n) / n.sum()
    cell = np.minimum(np.searchsorted(upto, tail), len(n) - 1)
    share = np.clip((tail - (upto - n / n.sum())[cell]) / (n / n.sum())[cell], 0.0, 1.0)
    return np.asarray(low[cell] + share * (high - low)[cell])


def _roughness(at: np.ndarray) -> np.ndarray:
    """Return the matrix of the squared second divided differences of coefficients at ``at``."""
    first = np.diff(np.eye(len(at)), axis=0) / np.diff(at)[:, None]
    middle = (at[1:] + at[:-1]) / 2
    second = np.diff(first, axis=0) / np.diff(middle)[:, None]
    return np.asarray(second.T @ (second * np.diff(middle)[:, None]))


def _fit(
    basis: Any, offset: Any, n: Any, hits: Any, penalty: Any, b: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Return coefficients, nll and degrees of freedom of a penalised logistic regression."""
    penalty = penalty + RIDGE * np.eye(len(penalty))

    def loss(b: np.ndarray) -> float:
        eta = offset + basis @ b
        return float(np.sum(n * np.logaddexp(0, eta) - hits * eta) + b @ penalty @ b / 2)

    for _ in range(_MOST_STEPS):
        rate = expit(offset + basis @ b)
        information = (basis * (n * rate * (1 - rate))[:, None]).T @ basis
        step = _solve(information + penalty, basis.T @ (hits - n * rate) - penalty @ b)
        before, now = loss(b), np.inf
        for damping in 0.5 ** np.arange(20):
            if (now := loss(b + damping * step)) <= before:
                b = b + damping * step
                break
        if not before - now > 1e-8 * (1 + before):
            break
    freedom = np.trace(_solve(information + penalty, information))
    return b, loss(b) - float(b @ penalty @ b) / 2, float(freedom)


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the least solution, also where rows say nothing of a coefficient."""
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])
