"""The power of the verdict, and how many rows or clusters it needs.

Scores at the quantiles of the given ones; hits drawn from a calibrated model and from the curve in
question, by the kernels of the verdict itself. The number of rows comes from a line through
Φ⁻¹(power) against √n, near the answer.

For clusters there is a formula: the number of clusters at which Cox's score test with clusters has
the power, G = λ / (δᵀ V⁻¹ δ), with δ the mean and V the covariance of the clusters' scores
Σ_i (y_i - s_i)(1, logit s_i), and λ the noncentrality of χ² with 2 degrees of freedom. The verdict
needs more, so a quarter is added (docs/verdict.md).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from calbias.auditing.planning import detection_labels, needed_noncentrality
from calbias.auditing.verdict.clusters import cluster_codes, validate_cluster_number
from calbias.auditing.verdict.finding import fitted_residual
from calbias.auditing.verdict.redraws import draw
from calbias.auditing.verdict.rows import Floats, groups_of
from calbias.auditing.verdict.smallest import evidence_against
from calbias.auditing.verdict.statistics import statistics_of
from calbias.conventions import SIGNIFICANT, Z_95
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.seeding import stream

LARGEST = 10_000_000
"""More rows than this are not planned."""
MORE_CLUSTERS = 1.25
_NULLS, _REPLICATES, _FIRST = 4000, 1000, 400
_THRESHOLD = 0.0095  # error of the power due to the error of the threshold, of 4000 redraws
_SEARCH, _SHARES = 8, (0.75, 0.87, 1.0, 1.15, 1.33)
_NEAR = 0.06
_START = 20.0  # the sum of δ²/v at which the search begins, if not by Cox's test


class Labels(NamedTuple):
    """A number of rows with its Monte Carlo range (95 %), and the power simulated there."""

    labels: float
    labels_low: float
    labels_high: float
    simulated_power: float
    simulated_power_se: float


_NEVER = Labels(np.inf, np.inf, np.inf, np.nan, np.nan)


def verdict_power(
    scores: Floats, rates: Floats, n: int, replicates: int = _REPLICATES, seed: int = 0
) -> tuple[float, float]:
    """Return the power of the verdict of n rows, and its standard error.

    ``scores`` (m,) are as in the study, ``rates`` (m,) the probability of a hit at each of them.
    """
    order = np.argsort(scores, kind="stable")
    ranks = order[((np.arange(n) + 0.5) / n * scores.size).astype(np.int64)]
    groups, place = groups_of(scores[ranks], np.zeros(n, np.uint8))
    surprise = np.where(groups.sign[place] > 0, rates[ranks], 1.0 - rates[ranks])
    chance = np.bincount(place, surprise) / groups.size
    statistics = statistics_of(groups)
    pools = [
        draw(statistics, groups, stream(seed, "power", name, str(n)), number, of)[1:]
        for name, number, of in (("null", _NULLS, None), ("curve", replicates, chance))
    ]
    null, drawn = (evidence_against(pools[0], pool).max(axis=1) for pool in pools)
    above = _NULLS - np.searchsorted(np.sort(null), drawn, side="left")
    power = float(np.mean((above + 1) / (_NULLS + 1) <= SIGNIFICANT))
    smoothed = (power * replicates + 1) / (replicates + 2)
    return power, float(np.sqrt(smoothed * (1 - smoothed) / replicates + _THRESHOLD**2))


def verdict_labels(scores: Floats, rates: Floats, power: float = 0.8, seed: int = 0) -> Labels:
    """Return the Labels at which the verdict finds the curve ``rates`` with this probability.

    Arrays as of ``verdict_power``. Infinite where more than ten million rows are needed.
    """
    variance = np.maximum(scores * (1 - scores), 1e-12)
    chi_square = max(float(np.mean((rates - scores) ** 2 / variance)), 1e-300)
    n = float(min(detection_labels(scores, rates, power), _START / chi_square))
    if not n < LARGEST:
        return _NEVER
    for _ in range(_SEARCH):
        reached = verdict_power(scores, rates, _rows(n), _FIRST, seed)[0]
        if abs(reached - power) < _NEAR:
            break
        now = needed_noncentrality(min(max(reached, 0.1), 0.98))
        n = max(n, 2.0) * min(max(needed_noncentrality(power) / now, 0.25), 4.0)
        if n > LARGEST:
            return _NEVER
    sizes = np.unique([_rows(n * share) for share in _SHARES])
    simulated = [verdict_power(scores, rates, int(size), _REPLICATES, seed) for size in sizes]
    powers = np.clip([value for value, _ in simulated], 1e-3, 1 - 1e-3)
    error = np.array([se for _, se in simulated])
    x, y = np.sqrt(sizes), ndtri(powers)
    weight = (np.exp(-0.5 * y**2) / np.sqrt(2 * np.pi) / error) ** 2
    mean_x, mean_y = np.sum(weight * x) / weight.sum(), np.sum(weight * y) / weight.sum()
    spread = np.sum(weight * (x - mean_x) ** 2)
    slope = np.sum(weight * (x - mean_x) * (y - mean_y)) / spread if spread > 0 else 0.0
    if not slope > 0:
        return Labels(float(sizes[-1]), float(sizes[0]), np.inf, *simulated[-1])
    root = mean_x + (ndtri(power) - mean_y) / slope
    se_y = np.sqrt(1 / weight.sum() + (root - mean_x) ** 2 / spread)
    reach = float(Z_95 * se_y / slope)
    at = float(ndtr(mean_y + slope * (root - mean_x)))
    se = float(se_y * np.exp(-0.5 * ndtri(power) ** 2) / np.sqrt(2 * np.pi))
    labels, least, most = (
        float(np.ceil(max(float(value), 1.0) ** 2)) for value in (root, root - reach, root + reach)
    )
    return Labels(labels, least, most, at, se)


def cluster_number(
    scores: ArrayLike, hits: ArrayLike, clusters: ArrayLike, rates: ArrayLike, power: float = 0.8
) -> float:
    """Return how many clusters the verdict needs by a pilot study, a quarter added.

    The pilot study is scores, hits and clusters (n,), at least ten; ``rates`` (n,) are the
    probabilities of a hit that the verdict is to find.
    """
    values, outcomes = scores_and_hits(scores, hits)
    codes, number = cluster_codes(clusters, values.size)
    validate_cluster_number(number)
    groups, place = groups_of(values, outcomes)
    residual = fitted_residual(groups, statistics_of(groups), place, outcomes)
    shift = np.asarray(rates, np.float64) - values
    x = groups.x[place] - np.mean(groups.x[place])
    u = np.array([np.bincount(codes, residual * term, number) for term in (np.ones_like(x), x)])
    d0, d1 = np.sum(shift) / number, np.sum(shift * x) / number
    v00, v01, v11 = (np.sum(u[i] * u[j]) / number for i, j in ((0, 0), (0, 1), (1, 1)))
    determinant = v00 * v11 - v01 * v01
    if not determinant > 1e-12 * v00 * v11:
        each = d0 * d0 / v00 if v00 > 0 else 0.0
    else:
        each = (v11 * d0 * d0 - 2 * v01 * d0 * d1 + v00 * d1 * d1) / determinant
    if not each > 0:
        return np.inf
    return float(np.ceil(MORE_CLUSTERS * needed_noncentrality(power) / each))


def _rows(n: float) -> int:
    return int(np.ceil(max(min(n, LARGEST), 2)))
