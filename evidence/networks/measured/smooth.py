"""A smooth calibration curve of counts: a penalised logistic spline of the log odds.

The penalty is the integral of the squared second derivative. So without evidence for more the curve
is a straight line in the log odds, as after temperature scaling. AIC chooses the penalty's weight.
"""

from collections.abc import Callable

import numpy as np
from scipy.interpolate import BSpline
from scipy.special import expit

Curve = Callable[[np.ndarray], np.ndarray]
PENALTIES = 10.0 ** np.arange(-4.0, 5.1, 0.5)
RIDGE = 1e-6
TAIL = 5e-4


def smooth_curve(
    log_odds: np.ndarray,
    n: np.ndarray,
    hits: np.ndarray,
    n_knots: int = 20,
    penalties: np.ndarray = PENALTIES,
) -> Curve:
    """Return T, a function from log odds to hit probabilities, of cells (m,) with rows and hits.

    Knots are quantiles of the rows. Beyond the outermost twentieths of a percent T is constant.
    """
    order = np.argsort(log_odds)
    log_odds, n, hits = log_odds[order], n[order], hits[order]
    shares = (np.cumsum(n) - n / 2) / n.sum()
    knots = np.unique(np.interp(np.linspace(TAIL, 1 - TAIL, n_knots), shares, log_odds))
    padded = np.concatenate([3 * [knots[0]], knots, 3 * [knots[-1]]])
    basis = _basis(padded, log_odds)
    roughness = _roughness(padded, knots)
    results = [_fit(basis, n, hits, roughness, penalty) for penalty in penalties]
    _, coefficients = min(results, key=lambda result: result[0])
    return lambda x: expit(_basis(padded, np.ravel(x)) @ coefficients).reshape(np.shape(x))


def _basis(padded: np.ndarray, x: np.ndarray) -> np.ndarray:
    inside = np.clip(x, padded[0], padded[-1])
    matrix: np.ndarray = BSpline.design_matrix(inside, padded, 3).toarray()
    return matrix


def _roughness(padded: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the matrix of the integral of the squared second derivative, by the midpoint pair."""
    size = len(padded) - 4
    second = [BSpline(padded, row, 3).derivative(2) for row in np.eye(size)]
    middle, half = (knots[1:] + knots[:-1]) / 2, np.diff(knots) / 2
    points = np.concatenate([middle - half / 3**0.5, middle + half / 3**0.5])
    values = np.array([function(points) for function in second])
    return (values * np.tile(half, 2)) @ values.T


def _fit(
    basis: np.ndarray, n: np.ndarray, hits: np.ndarray, roughness: np.ndarray, penalty: float
) -> tuple[float, np.ndarray]:
    """Return AIC and coefficients of a penalised logistic regression, by Newton's method."""
    matrix = penalty * roughness + RIDGE * np.eye(len(roughness))
    coefficients = np.full(
        basis.shape[1], np.log((hits.sum() + 0.5) / (n.sum() - hits.sum() + 0.5))
    )
    loss = _loss(basis, n, hits, coefficients, matrix)
    for _ in range(100):
        chance = expit(basis @ coefficients)
        information = (basis * (n * chance * (1 - chance))[:, None]).T @ basis
        slope = basis.T @ (hits - n * chance) - matrix @ coefficients
        step = np.linalg.solve(information + matrix, slope)
        length = 1.0
        while (new := _loss(basis, n, hits, coefficients + length * step, matrix)) > loss + 1e-9:
            length /= 2
            if length < 1e-6:
                break
        coefficients = coefficients + length * step
        converged = loss - new < 1e-7 * (1 + abs(loss))
        loss = new
        if converged:
            break
    chance = expit(basis @ coefficients)
    information = (basis * (n * chance * (1 - chance))[:, None]).T @ basis
    freedom = float(np.trace(np.linalg.solve(information + matrix, information)))
    plain = loss - coefficients @ matrix @ coefficients / 2
    return 2 * plain + 2 * freedom, coefficients


def _loss(
    basis: np.ndarray, n: np.ndarray, hits: np.ndarray, x: np.ndarray, matrix: np.ndarray
) -> float:
    eta = basis @ x
    return float(np.sum(n * np.logaddexp(0, eta) - hits * eta) + x @ matrix @ x / 2)
