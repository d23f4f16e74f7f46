"""The smallest miscalibration that a test detects reliably (§7.2; table ``detection_limits``)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from pipeline.table_schema import columns_of

LEVEL = 0.05  # type I error: the rate at which a perfectly calibrated model is rejected
RELIABLE = (0.1, 0.05)  # miss rates that count as reliable
TARGETS = (0.2, *RELIABLE)  # the first: a test of the usual power of 80 %
_Z = 1.959963984540054  # 95 % intervals


def rejected_above(null: np.ndarray) -> np.ndarray:
    """Return the 95 % quantile of ``null``, and those one standard error lower and higher."""
    level, error = 1 - LEVEL, np.sqrt(LEVEL * (1 - LEVEL) / null.size)
    return np.quantile(null, [level, level - error, min(level + error, 1.0)])


def detection_limits(detection: pd.DataFrame, targets: Sequence[float] = TARGETS) -> pd.DataFrame:
    """Return the table ``detection_limits`` from a ``detection`` table.

    ``tce_percent`` is where the miss rate, made nonincreasing, falls to the target, linear on the
    probit scale. Its 95 % range adds in quadrature how far it moves with 95 % Wilson intervals of
    the rates and with the threshold's range. A rate that never falls to the target leaves
    ``tce_percent`` and ``tce_high_percent`` empty; a rate that is below it from the start leaves
    ``tce_percent`` and ``tce_low_percent`` empty.
    """
    rows = []
    for (estimator, n_samples), table in detection.groupby(["estimator", "n_samples"], sort=False):
        table = table.sort_values("tce_percent")
        null = table.loc[table["exponent"] == 1, ["miss_rate", "miss_rate_se"]].to_numpy()
        miss_rate, error = null[0] if len(null) else (np.nan, np.nan)
        columns = ["tce_percent", "miss_rate", "n_replicates", "miss_rate_threshold_se"]
        tce, rate, m, threshold_error = table[columns].to_numpy(float).T
        for target in targets:
            limits = _limits(tce, rate, m, threshold_error, target)
            rows.append((estimator, n_samples, target, *limits, 1.0 - miss_rate, error))
    return pd.DataFrame(rows, columns=list(columns_of("detection_limits")))


def _limits(
    tce: np.ndarray, rate: np.ndarray, m: np.ndarray, threshold_error: np.ndarray, target: float
) -> tuple[float, float, float]:
    """Return (TCE, low, high) where the miss rates fall to the target, NaN where they do not."""
    low_rate, high_rate = wilson_interval(rate, m)
    shift = _Z * threshold_error
    rates = (rate, low_rate, high_rate, rate - shift, rate + shift)
    best, *ends = (crossing(tce, np.clip(r, 0, 1), m, target) for r in rates)
    low, high = min(ends[0::2]), max(ends[1::2])
    if np.isfinite([best, *ends]).all():
        low = best - np.hypot(best - ends[0], best - ends[2])
        high = best + np.hypot(ends[1] - best, ends[3] - best)
    return without_infinities(best, low, high, tce)


def without_infinities(
    best: float, low: float, high: float, tce: np.ndarray
) -> tuple[float, float, float]:
    """Return a crossing and its range with NaN, or with an end of ``tce``, for infinite ones."""
    inf = np.inf  # never; from the start where it is negative
    return (
        {inf: np.nan, -inf: np.nan}.get(best, best),
        {inf: tce[-1], -inf: np.nan}.get(low, low),
        {inf: np.nan, -inf: tce[0]}.get(high, high),
    )


def crossing(tce: np.ndarray, rate: np.ndarray, weight: np.ndarray, target: float) -> float:
    """Return the TCE (ascending, (k,)) at which the miss rate falls to ``target``.

    Rates are made nonincreasing first, by ``weight``. inf: never; -inf: from the start.
    """
    rate = nonincreasing(rate, weight)
    below = np.flatnonzero(rate <= target)
    if not below.size:
        return np.inf
    k = below[0]
    if k == 0:
        return -np.inf
    margin = 0.5 / (weight[k - 1 : k + 1] + 1)  # keeps rates of 0 and 1 on the probit scale
    left, right = ndtri(np.clip(rate[k - 1 : k + 1], margin, 1 - margin))
    goal = ndtri(target)
    share = np.clip((left - goal) / (left - right), 0, 1) if left > right else 1.0
    return float(tce[k - 1] + share * (tce[k] - tce[k - 1]))


def nonincreasing(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted least-squares nonincreasing fit to ``values`` (k,): pooled violators."""
    return isotonic_regression(values, weights=weight, increasing=False).x


def wilson_interval(
    rate: np.ndarray, m: np.ndarray, z: float = _Z
) -> tuple[np.ndarray, np.ndarray]:
    """Return (low, high), 95 % Wilson intervals of binomial rates (k,) with ``m`` trials each."""
    centre = (rate + z**2 / (2 * m)) / (1 + z**2 / m)
    half = z * np.sqrt(rate * (1 - rate) / m + z**2 / (4 * m**2)) / (1 + z**2 / m)
    return centre - half, centre + half
