"""The power of the verdict, and how many rows or clusters it needs.

Rows: scores at the quantiles of the given ones; hits drawn from a calibrated model and from the
curve in question, by the kernels of the verdict itself. Clusters: whole clusters of a pilot study,
drawn with replacement, are judged as the verdict does. A row of the pilot with outcome y and fitted
rate r has in place of a hit c ± (y - r) √(c (1 - c) / (r (1 - r)) · G/(G - 2)) under the curve c:
the residual of its own cluster, of which the fit took two degrees of freedom of G clusters. The
sign is random, one a cluster drawn: else the noise of the pilot would be a fault, found by many
clusters. The number comes from a line through Φ⁻¹(power) against √n, near the answer.

How far a pilot's clusters determine the number is told by a bootstrap of clusters of Cox's score
test with clusters, which has the power at G = λ / (δᵀ V⁻¹ δ), with δ the mean and V the covariance
of the clusters' scores Σ_i (y_i - s_i)(1, logit s_i), and λ the noncentrality of χ² with 2 degrees
of freedom.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from calbias.auditing.error.cox import detection_labels, needed_noncentrality
from calbias.auditing.verdict.clusters import (
    FEW_WITH_RARER,
    LEAST_CLUSTERS,
    cluster_codes,
    clusters_with_rarer,
    validate_cluster_number,
    whole_clusters_p_value,
)
from calbias.auditing.verdict.finding import fitted_rates
from calbias.auditing.verdict.groups import groups_of_rows
from calbias.auditing.verdict.redraws import (
    draw,
    pooled_p_value,
    signed_pool,
    surprise,
    surprise_against,
)
from calbias.auditing.verdict.statistics import statistics_of
from calbias.defaults import SIGNIFICANT, Z_95
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.seeding import stream
from calbias.samples.by_score import Floats, Ints

LARGEST = 10_000_000
"""More rows than this are not planned."""
_NULLS, _REPLICATES, _FIRST = 4000, 1000, 400
_THRESHOLD = 0.0095  # error of the power due to the error of the threshold, of 4000 redraws
_SEARCH, _SHARES = 8, (0.75, 0.87, 1.0, 1.15, 1.33)
_NEAR, _FLAT = 0.06, 1e-9  # of the power; a slope that is rounding
_CLUSTER_REPLICATES, _CLUSTER_REDRAWS = 40, 99
_MOST_CLUSTERS = 200  # that are drawn; a greater number is found with a greater error
_BOOTSTRAPS = 1000
_START = 20.0  # the sum of δ²/v at which the search begins, if not by Cox's test


class Labels(NamedTuple):
    """A number of rows or clusters with its range (95 %), and the power simulated there."""

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
    hits = np.diff(np.floor(np.cumsum(rates[ranks]) + 0.5), prepend=0.0)  # as the curve says
    groups, group = groups_of_rows(scores[ranks], hits)
    unlikely = np.where(groups.sign[group] > 0, rates[ranks], 1.0 - rates[ranks])
    chance = np.bincount(group, unlikely) / groups.size
    statistics = statistics_of(groups)
    pools = [
        draw(statistics, groups, stream(seed, "power", name, str(n)), number, true_rates)[1:]
        for name, number, true_rates in (("null", _NULLS, None), ("curve", replicates, chance))
    ]
    null, drawn = (surprise_against(pools[0], pool).max(axis=1) for pool in pools)
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
    return _search(lambda m, b: verdict_power(scores, rates, m, b, seed), n, power, LARGEST)


def _search(
    power_at: Callable[[int, int], tuple[float, float]],
    n: float,
    power: float,
    largest: float,
    replicates: tuple[int, int] = (_FIRST, _REPLICATES),
    least: int = 2,
) -> Labels:
    """Return the Labels at which ``power_at(number, replicates)`` is the power, searched from n."""

    def whole(size: float) -> int:
        return int(np.ceil(max(min(size, largest), least)))

    for _ in range(_SEARCH):
        reached, error = power_at(whole(n), replicates[0])
        if abs(reached - power) < _NEAR:
            break
        if n <= least and reached > power:
            return Labels(least, least, least, reached, error)
        now = needed_noncentrality(min(max(reached, 0.1), 0.98))
        n = max(n, least) * min(max(needed_noncentrality(power) / now, 0.25), 4.0)
        if n > largest:
            return _NEVER
    sizes = np.unique([whole(n * share) for share in _SHARES])
    simulated = [power_at(int(size), replicates[1]) for size in sizes]
    powers = np.clip([value for value, _ in simulated], 1e-3, 1 - 1e-3)
    errors = np.array([se for _, se in simulated])
    x, y = np.sqrt(sizes), ndtri(powers)
    weight = (np.exp(-0.5 * y**2) / np.sqrt(2 * np.pi) / errors) ** 2
    mean_x, mean_y = np.sum(weight * x) / weight.sum(), np.sum(weight * y) / weight.sum()
    spread = np.sum(weight * (x - mean_x) ** 2)
    slope = np.sum(weight * (x - mean_x) * (y - mean_y)) / spread if spread > 0 else 0.0
    if not slope > _FLAT:
        return Labels(float(sizes[-1]), float(sizes[0]), np.inf, *simulated[-1])
    root = mean_x + (ndtri(power) - mean_y) / slope
    se_y = np.sqrt(1 / weight.sum() + (root - mean_x) ** 2 / spread)
    reach = float(Z_95 * se_y / slope)
    at = float(ndtr(mean_y + slope * (root - mean_x)))
    se = float(se_y * np.exp(-0.5 * ndtri(power) ** 2) / np.sqrt(2 * np.pi))
    labels, low, high = (
        float(np.ceil(max(float(value), 1.0) ** 2)) for value in (root, root - reach, root + reach)
    )
    return Labels(labels, low, high, at, se)


def cluster_power(
    scores: Floats,
    hits: Floats,
    codes: Ints,
    rates: Floats,
    number: int,
    replicates: int = _CLUSTER_REPLICATES,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the power of the verdict of so many clusters like a pilot's, and its standard error.

    The pilot study is scores, hits and clusters ``codes`` (n,), numbered from 0; ``rates`` (n,) are
    the probabilities of a hit that the verdict is to find.
    """
    generator = stream(seed, "cluster power", str(number))
    groups, group = groups_of_rows(scores, hits)
    fitted = fitted_rates(groups)[group]
    order, size = np.argsort(codes, kind="stable"), np.bincount(codes)
    ratio = rates * (1 - rates) / (fitted * (1 - fitted)) * size.size / (size.size - 2)
    residual = (hits - fitted) * np.sqrt(ratio)
    first, n_found = np.cumsum(size) - size, 0
    for _ in range(replicates):
        chosen = generator.integers(0, size.size, number)
        ids = np.repeat(np.arange(number), size[chosen])
        begin = np.cumsum(size[chosen]) - size[chosen]
        rows = order[first[chosen][ids] + np.arange(ids.size) - begin[ids]]
        sign = 2.0 * generator.integers(0, 2, number) - 1.0
        moved = rates[rows] + sign[ids] * residual[rows]
        n_found += _is_found(scores[rows], hits[rows], moved, ids, generator)
    smoothed = (n_found + 1) / (replicates + 2)
    return n_found / replicates, float(np.sqrt(smoothed * (1 - smoothed) / replicates))


def _is_found(
    scores: Floats, hits: Floats, moved: Floats, codes: Ints, generator: np.random.Generator
) -> bool:
    """Return whether the p-values of ``judge`` are at most 0.05, ``moved`` (n,) being the hits."""
    groups, group = groups_of_rows(scores, hits)
    sign, chance = groups.sign[group], groups.chance[group]
    unlikely = np.where(sign > 0, moved, 1.0 - moved)
    residual, statistics = sign * (unlikely - chance), statistics_of(groups)
    few = clusters_with_rarer(codes, hits, 1.0 - hits) < FEW_WITH_RARER
    size = np.bincount(codes)
    rates = np.bincount(codes, moved) / size
    if few and whole_clusters_p_value(rates - np.bincount(codes, residual) / size, rates) > (
        SIGNIFICANT
    ):
        return False
    by_group = np.lexsort((group, codes))
    columns = group[by_group], residual[by_group], codes[by_group]
    signed = signed_pool(groups, statistics, *columns, generator, _CLUSTER_REDRAWS)
    if pooled_p_value(surprise(signed))[0] > SIGNIFICANT:
        return False
    summed = groups._replace(hits=np.bincount(group, moved))
    drawn = draw(statistics, summed, generator, _CLUSTER_REDRAWS)
    return bool(pooled_p_value(surprise(drawn))[0] <= SIGNIFICANT)


def cluster_labels(
    scores: ArrayLike,
    hits: ArrayLike,
    clusters: ArrayLike,
    rates: ArrayLike,
    power: float = 0.8,
    seed: int = 0,
) -> Labels:
    """Return the clusters, as Labels, of which the verdict needs as many, by a pilot study.

    Arrays (n,) as of ``cluster_power``, with ids as ``clusters``, at least ten. The range is of the
    pilot's clusters, drawn again.
    """
    values, outcomes = scores_and_hits(scores, hits)
    codes, number = cluster_codes(clusters, values.size)
    validate_cluster_number(number)
    chances = np.asarray(rates, np.float64)
    order = _order_of(values, outcomes, chances, codes)
    values, outcomes, codes = (
        values[order],
        outcomes[order],
        np.cumsum(np.diff(codes[order], prepend=codes[order[0]]) != 0),
    )
    shift = chances[order] - values
    drawn = stream(seed, "pilot").multinomial(number, np.full(number, 1 / number), _BOOTSTRAPS)
    each = _noncentralities(values, outcomes, codes, shift, np.vstack([np.ones(number), drawn]))
    if not each[0] > 0:
        return _NEVER
    start = needed_noncentrality(power) / each[0]
    # where many are needed, an error k times as large is found with 1/k² of the clusters
    k = float(np.sqrt(max(start / _MOST_CLUSTERS, 1.0)))
    curve = np.clip(values + k * shift, 0.0, 1.0)
    result = _search(
        lambda m, b: cluster_power(values, outcomes, codes, curve, m, b, seed),
        start / k**2,
        power,
        LARGEST / k**2,
        (_CLUSTER_REPLICATES, _CLUSTER_REPLICATES),
        LEAST_CLUSTERS,
    )
    if not np.isfinite(result.labels):
        return _NEVER
    with np.errstate(divide="ignore"):
        low, high = np.quantile(each[0] / each[1:], (0.025, 0.975), method="inverted_cdf")
    most, labels = max(high, 1.0) * result.labels, result.labels * k**2
    return result._replace(
        labels=np.ceil(labels),
        labels_low=float(np.ceil(min(low, 1.0) * labels)),
        labels_high=float(np.ceil(most * k**2)),
    )


def _order_of(scores: Floats, hits: Floats, rates: Floats, codes: Ints) -> Ints:
    """Return an order of the rows, cluster by cluster, that no name and no given order changes."""
    rows = np.lexsort((rates, hits, scores, codes))
    columns = (np.ones_like(scores), scores, hits, rates, scores**2, scores * hits)
    sums = [np.bincount(codes[rows], column[rows]) for column in columns]
    rank = np.argsort(np.lexsort(sums), kind="stable")
    return rows[np.argsort(rank[codes[rows]], kind="stable")]


def _noncentralities(
    scores: Floats, hits: Floats, codes: Ints, shift: Floats, weights: Floats
) -> Floats:
    """Return δᵀ V⁻¹ δ (b,) of clusters with weights (b, g), or 0 where it is not determined."""
    groups, group = groups_of_rows(scores, hits)
    residual = hits - fitted_rates(groups)[group]
    x = groups.x[group] - np.mean(groups.x[group])
    u0, u1, d0, d1 = (
        np.bincount(codes, terms) for terms in (residual, residual * x, shift, shift * x)
    )
    total = weights.sum(axis=1)
    v00, v01, v11, m0, m1 = (
        weights @ terms / total for terms in (u0 * u0, u0 * u1, u1 * u1, d0, d1)
    )
    determinant = v00 * v11 - v01 * v01
    is_clear = determinant > 1e-12 * v00 * v11
    both = (v11 * m0 * m0 - 2 * v01 * m0 * m1 + v00 * m1 * m1) / np.where(is_clear, determinant, 1)
    return np.where(is_clear, both, m0 * m0 / np.where(v00 > 0, v00, np.inf))
