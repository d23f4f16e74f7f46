"""Tests of calibration by name, the tests that the verdict is compared with.

Each has p-values by a known null distribution, or statistics of which large ones speak against
calibration, and whose null distribution redrawn hits give: ``tcal_adaptive``, and
``redraw_<estimator>`` with that estimator as its statistic. Where scores are such that a test sees
nothing (none between 0 and 1; for Cox's tests all equal), its p-value is 1.

``spiegelhalter``
    z = Σ (y − s)(1 − 2s) / √Σ (1 − 2s)² s(1 − s), two-sided: is the Brier score what
    calibration says? (Spiegelhalter 1986). Blind to any error that is orthogonal to 1 − 2s
``cox_score``
    intercept 0 and slope 1 in logit P(hit) = a + b·logit s, 2 degrees (Cox 1958): Uᵀ I⁻¹ U with
    U = Σ r·(1, x), I = Σ v·(1, x)(1, x)ᵀ
``cox_lrt``
    the likelihood ratio, 2[ℓ(â, b̂) − ℓ(0, 1)]. Both are blind to errors that no line in the
    log-odds follows, such as a wave
``hosmer_lemeshow``
    Σ_k (Σ_k r)² / (n_k f_k(1 − f_k)) of 10 equal-mass bins (1980). χ² with a degree a bin, for
    data that the model was not fitted to. Two degrees fewer, as several packages have it, are
    for the data of the fit: on other data they reject 11.5 % where 5 % are meant. Blind to errors
    that cancel within a bin
``ecce_*_series``
    with σ = √Σ s(1 − s)/n the walk C_k/σ of the cumulative gaps tends to a Brownian motion B on
    [0, 1] (Feller 1951; Arrieta-Ibarra et al., JMLR 2022):
    P(max |B| ≤ x) = 4/π Σ_{k ≥ 0} (−1)^k/(2k + 1) exp(−(2k + 1)²π²/(8x²))
    P(max B − min B > x) = 8 Σ_{k ≥ 1} (−1)^{k−1} k·Φ(−kx)
    Blind to errors that alternate over short ranges of the score
``tcal_adaptive``
    max_m T_m/sd(T_m) over m = 2, 4, 8, … bins, up to the largest power of two with 8 samples a
    bin: T_m = 1/n Σ_b [(Σ r)² − Σ r²]/n_b and under calibration sd² = 2/n² Σ_b [(Σ v)² − Σ
    v²]/n_b², v = s(1 − s). Lee et al. (JMLR 2023) test each m at a Bonferroni level. Blind to
    errors that cancel within eight neighbouring samples
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtr

from calbias.defaults import N_BINS
from calbias.engine.jit import njit
from calbias.engine.sorted_batch import SortedBatch
from calbias.errors import looked_up
from calbias.estimation.loading import load_estimator
from calbias.estimators.ks import cumulative_extremes
from calbias.io.python_files import literal
from evidence.estimators import estimator_file
from evidence.logistic_line import fit_line, log_likelihood, log_odds

_REDRAW = "redraw_"
_TERMS = np.arange(1, 200)
_HOSMER_LEMESHOW_BINS = 10
NAMES = (
    "cox_score", "cox_lrt", "ecce_mad_series", "ecce_r_series", "hosmer_lemeshow",
    "hosmer_lemeshow_8df", "spiegelhalter", "tcal_adaptive",
)  # fmt: skip
"""The tests without the ones that redraw: rules read them without NumPy."""


class CalibrationTest(NamedTuple):
    """A test: its name, and a function from a SortedBatch to p-values (m,), or to statistics."""

    name: str
    values: Callable[[SortedBatch], np.ndarray]
    has_p_values: bool = True


def load_test(name: str) -> CalibrationTest:
    """Return the CalibrationTest of a name; InputError, with the nearest, for an unknown one."""
    if not name.startswith(_REDRAW):
        return looked_up("test", name, TESTS)
    path = estimator_file(name.removeprefix(_REDRAW))
    run = load_estimator(name.removeprefix(_REDRAW), path)
    norm = float(literal(path, "NORMS", default=(2,))[-1])
    return CalibrationTest(name, lambda data: run(data, N_BINS, norm)[0], has_p_values=False)


def spiegelhalter(data: SortedBatch) -> np.ndarray:
    """Return the p-values (m,) of a SortedBatch."""
    slope = 1.0 - 2.0 * data.scores
    gaps = -np.diff(data.cum_gap, axis=1)
    variance = np.sum(slope**2 * data.scores * (1.0 - data.scores), axis=1)
    score = np.sum(gaps * slope, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2.0 * ndtr(-np.abs(np.where(variance > 0, score / np.sqrt(variance), 0.0)))


def cox(data: SortedBatch, statistics: Callable[..., None]) -> np.ndarray:
    """Return the p-values (m,) of a SortedBatch."""
    values = np.empty(data.scores.shape[0])
    statistics(data.scores, data.hits(), values)
    return chdtrc(2, np.maximum(values, 0.0))


@njit(error_model="numpy")
def _cox_scores(scores: np.ndarray, labels: np.ndarray, out: np.ndarray) -> None:
    n = scores.shape[1]
    x = np.empty(n)
    for row in range(scores.shape[0]):
        h00 = h01 = h11 = 0.0
        for i in range(n):
            x[i] = log_odds(scores[row, i])
            weight = scores[row, i] * (1.0 - scores[row, i])
            h00 += weight
            h01 += weight * x[i]
            h11 += weight * x[i] * x[i]
        determinant = h00 * h11 - h01 * h01
        u0 = u1 = 0.0
        for i in range(n):
            residual = labels[row, i] - scores[row, i]
            u0 += residual
            u1 += residual * x[i]
        if determinant <= 1e-12 * h00 * h11:
            out[row] = 0.0
        else:
            out[row] = (h11 * u0 * u0 - 2.0 * h01 * u0 * u1 + h00 * u1 * u1) / determinant


@njit(error_model="numpy")
def _cox_ratios(scores: np.ndarray, labels: np.ndarray, out: np.ndarray) -> None:
    x = np.empty(scores.shape[1])
    for row in range(scores.shape[0]):
        for i in range(x.shape[0]):
            x[i] = log_odds(scores[row, i])
        if x[-1] == x[0]:
            out[row] = 0.0
            continue
        a, b = fit_line(x, labels[row], 0.0)
        gain = log_likelihood(x, labels[row], a, b) - log_likelihood(x, labels[row], 0.0, 1.0)
        out[row] = max(2.0 * gain, 0.0)


def hosmer_lemeshow(data: SortedBatch, lost_degrees: int) -> np.ndarray:
    """Return the p-values (m,) of a SortedBatch; bins without variance count for nothing."""
    ranks = data.ranks(_HOSMER_LEMESHOW_BINS, "equal_mass")
    sizes = np.diff(ranks, axis=1)
    gaps = np.diff(np.take_along_axis(data.cum_gap, ranks, axis=1), axis=1)
    scores = np.zeros(data.cum_gap.shape)
    np.cumsum(data.scores, axis=1, out=scores[:, 1:])
    means = np.diff(np.take_along_axis(scores, ranks, axis=1), axis=1) / np.maximum(sizes, 1)
    variances = sizes * means * (1.0 - means)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(variances > 0, gaps**2 / variances, 0.0)
    degrees = np.maximum(np.count_nonzero(sizes, axis=1) - lost_degrees, 1)
    return chdtrc(degrees, terms.sum(axis=1))


def ecce(data: SortedBatch, kind: str) -> np.ndarray:
    """Return the p-values (m,) of a SortedBatch, of MAD/σ or of R/σ."""
    lowest, highest = cumulative_extremes(data)
    sigma = np.sqrt(np.sum(data.scores * (1.0 - data.scores), axis=1)) / data.scores.shape[1]
    value = np.maximum(highest, -lowest) if kind == "mad" else highest - lowest
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(sigma > 0, value / sigma, 0.0)
    return mad_tail(ratio) if kind == "mad" else range_tail(ratio)


def mad_tail(x: np.ndarray) -> np.ndarray:
    """Return P(max |B| > x), array (m,)."""
    x = np.maximum(np.asarray(x, float), 1e-3)[..., None]
    odd = 2 * _TERMS - 1
    terms = (-1.0) ** (_TERMS - 1) / odd * np.exp(-(odd**2) * np.pi**2 / (8 * x**2))
    return np.clip(1.0 - 4 / np.pi * terms.sum(axis=-1), 0.0, 1.0)


def range_tail(x: np.ndarray) -> np.ndarray:
    """Return P(max B − min B > x), array (m,); below 0.3 it is 1 to twelve digits."""
    x = np.asarray(x, float)
    bounded = np.maximum(x, 0.3)[..., None]
    tail = 8 * np.sum((-1.0) ** (_TERMS - 1) * _TERMS * ndtr(-_TERMS * bounded), axis=-1)
    return np.where(x < 0.3, 1.0, np.clip(tail, 0.0, 1.0))


def tcal_adaptive(data: SortedBatch) -> np.ndarray:
    """Return the statistic (m,) of a SortedBatch: large values speak against calibration."""
    out = np.empty(data.scores.shape[0])
    finest = 2 ** max(1, (data.scores.shape[1] // 8).bit_length() - 1)
    ranks = data.ranks(finest, "equal_width")
    _adaptive(data.scores, data.cum_gap, data.cum_hit, ranks, out)
    return out


@njit(error_model="numpy")
def _adaptive(
    scores: np.ndarray, cum_gap: np.ndarray, cum_hit: np.ndarray, ranks: np.ndarray, out: np.ndarray
) -> None:
    n, finest = scores.shape[1], ranks.shape[1] - 1
    squares, variances, fourths = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    for row in range(scores.shape[0]):
        for i in range(n):
            score = scores[row, i]
            label = cum_hit[row, i + 1] - cum_hit[row, i]
            v = score * (1.0 - score)
            squares[i + 1] = squares[i] + score * score + label * (1.0 - 2.0 * score)
            variances[i + 1] = variances[i] + v
            fourths[i + 1] = fourths[i] + v * v
        best = 0.0
        m = 2
        while m <= finest:
            total = spread = 0.0
            start = 0
            for k in range(1, m + 1):
                end = ranks[row, k * (finest // m)]
                if end - start > 1:
                    size = end - start
                    gap = cum_gap[row, end] - cum_gap[row, start]
                    total += (gap * gap - squares[end] + squares[start]) / size
                    v = variances[end] - variances[start]
                    spread += 2.0 * (v * v - fourths[end] + fourths[start]) / (size * size)
                start = end
            if spread > 0.0:
                best = max(best, total / math.sqrt(spread))
            m *= 2
        out[row] = best


TESTS = {
    test.name: test
    for test in (
        CalibrationTest("cox_score", partial(cox, statistics=_cox_scores)),
        CalibrationTest("cox_lrt", partial(cox, statistics=_cox_ratios)),
        CalibrationTest("ecce_mad_series", partial(ecce, kind="mad")),
        CalibrationTest("ecce_r_series", partial(ecce, kind="range")),
        CalibrationTest("hosmer_lemeshow", partial(hosmer_lemeshow, lost_degrees=0)),
        CalibrationTest("hosmer_lemeshow_8df", partial(hosmer_lemeshow, lost_degrees=2)),
        CalibrationTest("spiegelhalter", spiegelhalter),
        CalibrationTest("tcal_adaptive", tcal_adaptive, has_p_values=False),
    )
}
