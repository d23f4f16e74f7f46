"""Laws from which data sets are drawn: a distribution of the scores with a calibration curve.

A law is two functions: the quantile of the log odds at a lower or an upper tail probability, and
the hit probability at log odds. calbias's sampler draws from its table.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calbias.engine.sampler import CELLS, CELLS_PER_OCTAVE, OCTAVES, SMALLEST, WORD, Sampler
from calbias.engine.seeding import stream
from calbias.truth.curves import Curve as NamedCurve
from calbias.truth.scenarios import Scenario, score_quantiles
from measured.shipped import Cells, Network
from measured.smooth import Curve, smooth_curve
from pipeline.fits.beta import fit_beta
from pipeline.fits.glm import best_fit, fit_all

POSITIONS = np.arange(4) / 3
FINE_POSITIONS = np.arange(33) / 32
POPULATION_KNOTS, FOLD_KNOTS = 24, 20
WEAK_PENALTIES = 10.0 ** np.arange(-4.0, 1.0)
LOWEST_BIN = 1 / 15
LARGE_FOLD_ROWS, LARGE_FOLD_SEED = 100_000, 58
Quantile = Callable[[np.ndarray, bool], np.ndarray]


def _nodes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tail probability d, (CELLS, 4), lower probability u and weight, (2, CELLS, 4)."""
    octaves = SMALLEST * 2.0 ** np.arange(OCTAVES + 1)
    steps = 1.0 + np.arange(CELLS_PER_OCTAVE) / CELLS_PER_OCTAVE
    nodes = (octaves[:, None] * steps).ravel()[: CELLS + 1]
    width = np.diff(nodes)
    inner = nodes[:-1, None] + width[:, None] * POSITIONS
    weights = np.where(nodes[:-1] < 0.5, width, 0.0)[:, None] * np.array([1, 3, 3, 1]) / 8
    return inner, np.stack([inner, 1 - inner]), np.stack([weights, weights])


TAIL, LOWER, WEIGHTS = _nodes()


class Law(NamedTuple):
    """Score and hit probability at the nodes of the sampler's table, (2, CELLS, 4) each."""

    scores: np.ndarray
    hits: np.ndarray

    @classmethod
    def make(cls, quantile: Quantile, hit: Curve) -> "Law":
        """Return the law of log odds ``quantile(tail, is_upper)`` with T = ``hit(log_odds)``."""
        log_odds = np.stack([quantile(TAIL, is_upper) for is_upper in (False, True)])
        return cls(1 / (1 + np.exp(-log_odds)), hit(log_odds))

    def with_lowest_gap(self, other: "Law | None" = None) -> "Law":
        """Return the law with another's gap in the lowest fifteenth, or with its own mean gap."""
        low = LOWER < LOWEST_BIN
        gap = self.scores - self.hits
        mean = np.sum((WEIGHTS * gap)[low]) / WEIGHTS[low].sum()
        new = np.full(gap.shape, mean) if other is None else other.scores - other.hits
        return Law(self.scores, np.where(low, np.clip(self.scores - new, 0, 1), self.hits))

    def true_error(self, norm: float = 2.0) -> float:
        """Return the law's own calibration error, a fraction."""
        total = np.sum(WEIGHTS * np.abs(self.scores - self.hits) ** norm) / WEIGHTS.sum()
        return float(total ** (1 / norm))

    def sampler(self, name: str, n_samples: int, seed: int) -> Sampler:
        """Return a Sampler of the law; laws of one name draw the same uniform numbers."""
        to_cubic = np.linalg.inv(np.vander(POSITIONS, increasing=True))
        values = np.stack([self.scores, WORD * self.hits], axis=-1)
        coefficients = np.einsum("ij,hcjv->hciv", to_cubic, values)
        steps = np.diff(
            np.vander(FINE_POSITIONS, 4, increasing=True) @ coefficients[..., 0:1], axis=2
        )
        falls = (steps * np.array([1, -1])[:, None, None, None] < 0).any(axis=(2, 3))
        line = np.zeros_like(values)
        line[:, :, 0], line[:, :, 1] = values[:, :, 0], values[:, :, 3] - values[:, :, 0]
        coefficients[falls] = line[falls]  # estimators need sorted scores
        memory = np.empty(coefficients.size + 7)
        start = -memory.ctypes.data % 64 // 8
        aligned = memory[start : start + coefficients.size]
        aligned[:] = coefficients.ravel()
        scenario = Scenario(name, 1.0, 1.0, NamedCurve("identity"))  # the name keys the stream
        return Sampler(scenario, n_samples, seed, aligned)


def cells_quantile(cells: Cells) -> Quantile:
    """Return the quantile function of rows that are uniform inside their cells."""
    share = np.append(0.0, np.cumsum(cells.n)) / cells.n.sum()
    upper_share = np.append(0.0, np.cumsum(cells.n[::-1])) / cells.n.sum()
    edges = np.append(cells.edges[0, 0], cells.edges[:, 1])

    def quantile(d: np.ndarray, is_upper: bool) -> np.ndarray:
        if is_upper:
            return np.interp(d, upper_share, edges[::-1])
        return np.interp(d, share, edges)

    return quantile


def scores_quantile(log_odds: np.ndarray) -> Quantile:
    """Return the quantile function of a fold's own scores (n,), continuous between them."""
    ordered = np.sort(log_odds)
    at = (np.arange(len(ordered)) + 0.5) / len(ordered)
    return lambda d, is_upper: np.interp(1 - d if is_upper else d, at, ordered)


def beta_quantile(alpha: float, beta: float) -> Quantile:
    """Return the quantile function of the log odds of Beta scores."""

    def quantile(d: np.ndarray, is_upper: bool) -> np.ndarray:
        tail = {"upper" if is_upper else "lower": d.ravel()}
        log_score, log1m_score = score_quantiles(alpha, beta, **tail)
        return (log_score - log1m_score).reshape(d.shape)

    return quantile


def in_cells(log_odds: np.ndarray, hits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean log odds, rows and hits of a fold's rows in cells of 0.02: (m,) each."""
    _, cell = np.unique(np.floor(50 * log_odds), return_inverse=True)
    n = np.bincount(cell)
    return np.bincount(cell, log_odds) / n, n.astype(float), np.bincount(cell, hits)


def logs(log_odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log c and log(1 - c)."""
    return -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)


def paper_fit(log_odds: np.ndarray, hits: np.ndarray) -> tuple[Quantile, Curve]:
    """Return scores and curve of the Beta and the GLM of least AIC that rows (n,) give."""
    beta = fit_beta(*logs(log_odds))
    curve = best_fit(fit_all(*logs(log_odds), hits, use_statsmodels=False)).curve
    return beta_quantile(beta.alpha, beta.beta), lambda x: curve.hit(*logs(x))


def true_curve(cells: Cells) -> Curve:
    """Return the smooth calibration curve of a population in cells."""
    return smooth_curve(cells.log_odds, cells.n, cells.hits, POPULATION_KNOTS, WEAK_PENALTIES)


def population_law(cells: Cells) -> Law:
    """Return the law of a population in cells: its scores and their smooth curve."""
    return Law.make(cells_quantile(cells), true_curve(cells))


def laws_of(network: Network) -> dict[str, Law]:
    """Return the laws of a network: its population, and what its test fold of 10 000 rows gives.

    population: the sketch's scores with a smooth curve of millions of rows
    beta_glm: Beta and GLM of least AIC, fitted to the fold, as in the paper
    beta_glm_large: the same fitted to 100 000 other rows: misfit without a fold's noise
    scores_glm: the fold's own scores with that GLM
    scores_spline: the fold's own scores with a penalised spline
    beta_true: that Beta with the population's curve
    true_glm: the population's scores with that GLM
    beta_glm_true_low, true_fitted_low: in the lowest fifteenth of the scores the gap of the other
    beta_glm_flat_low: there the fit's mean gap
    calibrated: the population's scores, every score a true probability
    """
    true_scores, curve = cells_quantile(network.cells), true_curve(network.cells)
    population = Law.make(true_scores, curve)
    log_odds, hits = network.fold_log_odds, network.fold_hits
    beta_scores, glm = paper_fit(log_odds, hits)
    own_scores = scores_quantile(log_odds)
    spline = smooth_curve(*in_cells(log_odds, hits), FOLD_KNOTS)
    beta_glm = Law.make(beta_scores, glm)
    rng = stream(LARGE_FOLD_SEED, "networks", network.name, "large fold")
    many = true_scores(rng.random(LARGE_FOLD_ROWS), False)
    large_fit = paper_fit(many, (rng.random(LARGE_FOLD_ROWS) < curve(many)).astype(float))
    return {
        "population": population,
        "beta_glm": beta_glm,
        "beta_glm_large": Law.make(*large_fit),
        "scores_glm": Law.make(own_scores, glm),
        "scores_spline": Law.make(own_scores, spline),
        "beta_true": Law.make(beta_scores, curve),
        "true_glm": Law.make(true_scores, glm),
        "beta_glm_true_low": beta_glm.with_lowest_gap(population),
        "true_fitted_low": population.with_lowest_gap(beta_glm),
        "beta_glm_flat_low": beta_glm.with_lowest_gap(),
        "calibrated": Law(population.scores, population.scores),
    }
