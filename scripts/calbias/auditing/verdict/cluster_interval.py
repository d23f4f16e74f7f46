"""The interval of the calibration error where rows depend on each other, by test inversion.

Curves c_λ = s + λ(ĉ(s) - s) lead from calibration through the fitted curve. At each λ the residuals
y - c_λ get one random sign a cluster, times t_{G-1, 0.975}/1.96: the null is imposed there. With

    T*(λ) = Σ_b |Σ_{i in b} (s - c_λ) - w_g t (y - c_λ)| / n,  T = Σ_b |Σ_{i in b} (s - y)| / n

over 15 bins of equal width, λ is accepted where T is between the quantiles (1 - level)/2 and
(1 + level)/2 of T*(λ). The interval is the range of the ℓ1 error λ E|ĉ - s| of accepted λ. Its
hull with an interval for independent rows is never narrower than that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calbias.auditing.verdict.clusters import (
    FEW_FOR_INTERVAL,
    VERY_FEW_SURPRISES,
    cluster_codes,
    surprises_of_clusters,
    validate_cluster_number,
)
from calbias.auditing.verdict.finding import fitted_residual
from calbias.auditing.verdict.rows import Floats, groups_of, residual_of_rows
from calbias.auditing.verdict.signs import signed_sums
from calbias.auditing.verdict.statistics import statistics_of
from calbias.conventions import CONFIDENCE_LEVEL, N_BINS
from calbias.engine.scores_and_hits import scores_and_hits
from calbias.engine.seeding import stream

REPLICATES = 2000
_GRID, _HALVINGS = 128, 20
_FLAT = 1e-12


class ClusterInterval(NamedTuple):
    """Low and high ends of the ℓ1 error, fractions, NaN where none is given, and warnings."""

    low: float
    high: float
    warnings: tuple[str, ...] = ()


def cluster_interval(
    scores: ArrayLike,
    hits: ArrayLike,
    clusters: ArrayLike | Sequence[ArrayLike],
    independent: tuple[float, float] | None = None,
    *,
    log_scores: ArrayLike | None = None,
    log1m_scores: ArrayLike | None = None,
    level: float = CONFIDENCE_LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> ClusterInterval:
    """Return an interval of the ℓ1 calibration error of clustered rows, arrays as of ``judge``.

    The result is the hull of the inverted test with ``independent``, an interval that takes rows as
    independent, and that interval itself with as many clusters as rows. NaN, with a warning, where
    fewer than 5 clusters with a miss or a hit are expected.
    """
    values, outcomes = scores_and_hits(scores, hits)
    codes, number = cluster_codes(clusters, values.size)
    if number == values.size and independent is not None:
        return ClusterInterval(*independent)
    validate_cluster_number(number)
    logs = [
        None if log is None else np.asarray(log, np.float64) for log in (log_scores, log1m_scores)
    ]
    groups, place = groups_of(values, outcomes, logs[0], logs[1])
    if surprises_of_clusters(groups, place, codes, number) < VERY_FEW_SURPRISES:
        text = (
            f"no interval: fewer than {VERY_FEW_SURPRISES:g} clusters with a miss, or with a hit, "
            "are expected"
        )
        return ClusterInterval(np.nan, np.nan, (text,))
    gap = -residual_of_rows(groups, place, outcomes)
    left = fitted_residual(groups, statistics_of(groups), place, outcomes)
    direction = -gap - left  # ĉ - s of the logistic line
    if np.abs(direction).max() < _FLAT:
        direction = (groups.chance * (1.0 - groups.chance))[place]
    bins = np.minimum((values * N_BINS).astype(np.int64), N_BINS - 1)
    order = np.lexsort((outcomes, place, codes))
    low, high = _inverted(
        gap[order], direction[order], bins[order], codes[order],
        (1.0 - level) / 2, replicates, stream(seed, "cluster interval", str(number)),
    )  # fmt: skip
    if independent is not None:
        low, high = min(low, independent[0]), max(high, independent[1])
    few = (
        f"{number} clusters are few for an interval: its coverage is below its level, give at "
        f"least {FEW_FOR_INTERVAL}",
    )
    return ClusterInterval(low, high, few if number < FEW_FOR_INTERVAL else ())


def _inverted(
    gap: Floats, direction: Floats, bins: np.ndarray, codes: np.ndarray, tail: float,
    replicates: int, generator: np.random.Generator,
) -> tuple[float, float]:  # fmt: skip
    """Return the ends of the ℓ1 error for gaps s - y and directions ĉ - s of the rows (n,)."""
    n, number = gap.size, int(codes.max()) + 1
    tables = [
        np.bincount(codes * N_BINS + bins, values, number * N_BINS)
        .reshape(number, N_BINS)
        .astype(np.float64)
        for values in (gap, direction)
    ]
    signed = signed_sums(np.hstack(tables).T, generator, replicates)
    of_gap, of_direction = np.split(np.concatenate(list(signed), axis=1).T, 2, axis=1)
    total_gap, total = (np.sum(table, axis=0) for table in tables)
    observed = np.sum(np.abs(total_gap)) / n
    unit = float(np.sum(np.abs(direction))) / n  # the ℓ1 error at λ = 1

    def excess(error: float) -> tuple[float, float]:
        """Return the shares of T* that are at least, and at most, T; less the tail."""
        lam = error / unit  # of y - c = -gap - λ direction
        drawn = np.abs(of_gap + lam * of_direction - lam * total).sum(axis=1) / n
        return float(np.mean(drawn >= observed)) - tail, float(np.mean(drawn <= observed)) - tail

    def crossing(inside: float, outside: float, side: int) -> float:
        for _ in range(_HALVINGS):
            middle = 0.5 * (inside + outside)
            if excess(middle)[side] > 0:
                inside = middle
            else:
                outside = middle
        return outside

    noise = float(np.abs(of_gap).sum(axis=1).mean() / n)
    errors = np.linspace(0.0, min(1.0, 2.0 * observed + 4.0 * noise), _GRID)
    accepted = [i for i, error in enumerate(errors.tolist()) if min(excess(error)) > 0]
    if not accepted:
        return observed, observed
    first, last = accepted[0], accepted[-1]
    low = 0.0 if first == 0 else crossing(errors[first], errors[first - 1], 0)
    if last == _GRID - 1:
        return float(low), float(errors[-1])
    return float(low), float(crossing(errors[last], errors[last + 1], 1))
