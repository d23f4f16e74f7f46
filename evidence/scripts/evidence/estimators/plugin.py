"""The error of a fitted calibration curve, averaged over the sample's own scores (a *plug-in*).

    plugin_*  (1/n Σ |ĉ(s_i) − s_i|^p)^(1/p)
    e50_*     the median of |ĉ(s_i) − s_i|
    e90_*     the 90 % quantile of |ĉ(s_i) − s_i|
    *_glm     ĉ a logistic regression on the log-odds of the score
    *_loess   ĉ local lines (degree 1) with tricube weights over the nearest 3/4 of the samples

loess is evaluated at 101 ranks and linear between them. At p = 1 the plug-in of loess is the
integrated calibration index ICI but for the degree: R's ``loess``, which its authors used, fits
parabolas (degree 2) by default.

Austin and Steyerberg, *The Integrated Calibration Index (ICI) and related metrics for quantifying
the calibration of logistic regression models* (Statistics in Medicine, 2019).
"""

from typing import Any

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.simd import LANES, copies, load, select, sum_of_lanes
from calbias.engine.sorted_batch import Estimates, SortedBatch
from evidence.logistic_line import fill_line, fill_log_odds, fit_line

VARIANTS = {
    "plugin_glm": {"curve": "glm"},
    "plugin_loess": {"curve": "loess"},
    "e50_glm": {"curve": "glm", "level": 0.5},
    "e90_glm": {"curve": "glm", "level": 0.9},
    "e50_loess": {"curve": "loess", "level": 0.5},
    "e90_loess": {"curve": "loess", "level": 0.9},
}
TARGET = {
    "plugin_glm": "lp",
    "plugin_loess": "lp",
    "e50_glm": "gap_quantile",
    "e90_glm": "gap_quantile",
    "e50_loess": "gap_quantile",
    "e90_loess": "gap_quantile",
}
BINS = "none"

SPAN = 0.75
_N_POINTS = 101


def estimate_data_sets(
    data: SortedBatch,
    n_bins: int = 0,
    norm: float = 2.0,
    curve: str = "glm",
    level: float | None = None,
) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    cache: dict[Any, Any] = data.__dict__  # other norms and levels of this batch read the same gaps
    if ("gaps", curve) not in cache:
        gaps = cache["gaps", curve] = np.empty(data.scores.shape)
        (_glm_gaps if curve == "glm" else _loess_gaps)(data.scores, data.hits(), gaps)
    gaps = cache["gaps", curve]
    if level is None:
        estimates = np.mean(gaps**norm, axis=1) ** (1.0 / norm)
    else:
        estimates = np.quantile(gaps, level, axis=1, method="inverted_cdf")
    return estimates, np.zeros(estimates.shape, np.int64)


@njit
def _glm_gaps(scores: np.ndarray, labels: np.ndarray, gaps: np.ndarray) -> None:
    n = scores.shape[1]
    x = np.empty(n)
    for row in range(scores.shape[0]):
        fill_log_odds(scores[row], x)
        a, b = fit_line(x, labels[row], 1.0)
        fill_line(x, a, b, gaps[row])
        for i in range(n):
            gaps[row, i] = abs(gaps[row, i] - scores[row, i])


@njit(error_model="numpy")
def _loess_gaps(scores: np.ndarray, labels: np.ndarray, gaps: np.ndarray) -> None:
    n = scores.shape[1]
    nearest = max(int(SPAN * n + 1e-10), min(n, 2))
    n_points = min(n, _N_POINTS)
    for row in range(scores.shape[0]):
        s, y = scores[row], labels[row]
        start = 0
        left_rank, left_value = 0, 0.0
        for point in range(n_points):
            rank = point * (n - 1) // max(n_points - 1, 1)
            while start + nearest < n and s[start + nearest] - s[rank] < s[rank] - s[start]:
                start += 1
            value = min(max(_local_line(s, y, start, start + nearest, s[rank]), 0.0), 1.0)
            if point == 0:
                left_value = value
                gaps[row, 0] = abs(value - s[0])
            for i in range(left_rank + 1, rank + 1):
                width = s[rank] - s[left_rank]
                share = min(max((s[i] - s[left_rank]) / width, 0.0), 1.0) if width > 0.0 else 1.0
                gaps[row, i] = abs(left_value + share * (value - left_value) - s[i])
            left_rank, left_value = rank, value


@njit(error_model="numpy")
def _local_line(s: np.ndarray, y: np.ndarray, start: int, end: int, at: float) -> float:
    """Return the weighted least-squares line through ranks [start, end), at a score."""
    reach = max(at - s[start], s[end - 1] - at)
    per_reach = 1.0 / reach if reach > 0.0 else 0.0
    in_lanes = start + (end - start) // LANES * LANES
    v = vx = vy = vxx = vxy = copies(0.0)
    for i in range(start, in_lanes, LANES):
        x, label = load(s, i) - at, load(y, i)
        weight = _tricube(x * per_reach)
        weight_x = weight * x
        v, vx, vy = v + weight, vx + weight_x, vy + weight * label
        vxx, vxy = vxx + weight_x * x, vxy + weight_x * label
    w, wx, wy = sum_of_lanes(v), sum_of_lanes(vx), sum_of_lanes(vy)
    wxx, wxy = sum_of_lanes(vxx), sum_of_lanes(vxy)
    for i in range(in_lanes, end):
        x = s[i] - at
        distance = abs(x) * per_reach
        weight = (1.0 - distance**3) ** 3 if distance < 0.999 else 0.0
        w += weight
        wx += weight * x
        wy += weight * y[i]
        wxx += weight * x * x
        wxy += weight * x * y[i]
    spread = wxx - wx * wx / w
    if spread <= 1e-12 * reach * reach * w:
        return wy / w
    slope = (wxy - wx * wy / w) / spread
    return (wy - slope * wx) / w


@njit
def _tricube(distance: Any) -> Any:
    """Return (1 - |distance|³)³, FLOATS; 0 from 0.999 on."""
    size = select(distance < 0.0, 0.0 - distance, distance)
    share = 1.0 - size * size * size
    return select(size < 0.999, share * share * share, copies(0.0))
