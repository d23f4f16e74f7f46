"""Moments of the ℓ1 error, and of the square of the ℓ2 error, under one fitted curve.

With f ~ N(mode, S) on cells of weight w, score p and mean hit y/n, g_k(z) = σ(L_k + f_k + √S_kk z)
− p_k, all means over z by 16 normal quantiles:

    ℓ1 = Σ_k w_k E|g_k|,   q = Σ_k w_k E g_k²,   fourth power Σ_k w_k E g_k⁴

The variances are by the delta method: with d = σ(1 − σ) at the mode, G = d S dᵀ and
e_k = erf(f_k/√(2 S_kk)),

    var ℓ1 = Σ_ij w_i w_j d_i d_j [e_i e_j S_ij + 0.36 (1 − e_i²)(1 − e_j²) S_ij²/√(S_ii S_jj)]
    var q  = Σ_ij w_i w_j (2 G_ij² + 4 g_i g_j G_ij)

0.36 is close to 1 − 2/π, the variance of |z|. A prior pulls a curve towards calibration; one step
back to the data, r_k = y_k/n_k − p_k − E g_k, moves ℓ1 by Σ w_k e_k r_k and q by Σ w_k 2 E g_k r_k.
"""

import math

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.posterior.cells import HITS, LOG_ODDS, SCORE, SIZE, WEIGHT, Floats
from calbias.engine.posterior.functions import absolute, erf, expit
from calbias.engine.simd import LANES, copies, load, store

# columns of moments: of ℓ1, of q, Σ w E g⁴, and the steps back to the data of ℓ1 and of q
MEAN, VARIANCE, SQUARE_MEAN, SQUARE_VARIANCE, FOURTH, STEP, SQUARE_STEP = range(7)
N_MOMENTS = 7
_FOLDED = 0.36
# normal quantiles at (j − ½)/16 above the median, scaled so that 16 of them have variance 1
QUANTILES = np.array(
    [
        0.08158754520790505, 0.2468070697447189, 0.41853826767225977, 0.6025828031870283,
        0.8078611960795813, 1.0508874261229404, 1.3713807536348692, 1.9381589616524153,
    ]
)  # fmt: skip


@njit(error_model="numpy", no_cpython_wrapper=True)
def fill_moments(
    cells: Floats, first: int, n: int, rows: Floats, covariance: Floats, moments: Floats
) -> None:
    """Fill the moments (7,) of one model of ``n`` cells from ``first`` on.

    The mode f is ``rows[4]`` of ``rows`` (11, W), whose others are scratch; S is ``covariance``,
    (at least n, W). W is at least n, rounded up to whole vectors.
    """
    slope, folded, pulled, spread, f, squared = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    terms, width, total = rows[6:], rows.shape[1], cells.shape[1]
    for i in range(n):
        spread[i] = math.sqrt(covariance[i, i])
    for i in range(0, n, LANES):
        k, deviation, curve = first + i, load(spread, i), load(f, i)
        p, weight = load(cells, SCORE * total + k), load(cells, WEIGHT * total + k)
        eta = load(cells, LOG_ODDS * total + k) + curve
        mean = distance = square = fourth = copies(0.0)
        for j in range(QUANTILES.shape[0]):
            step = deviation * QUANTILES[j]
            above, below = expit(eta + step) - p, expit(eta - step) - p
            mean = mean + (above + below)
            distance = distance + (absolute(above) + absolute(below))
            above, below = above * above, below * below
            square = square + (above + below)
            fourth = fourth + (above * above + below * below)
        p_mode = expit(eta)
        sign = erf(curve / (deviation * math.sqrt(2.0)))
        wide = weight * p_mode * (1.0 - p_mode)
        mean = mean / 16.0
        back = load(cells, HITS * total + k) / load(cells, SIZE * total + k) - p - mean
        store(spread, i, wide)
        store(slope, i, wide * sign)
        store(folded, i, wide * (1.0 - sign * sign) / deviation)
        store(pulled, i, wide * (p_mode - p))
        store(squared, i, wide * wide / weight)
        store(terms, i, weight * distance / 16.0)
        store(terms, width + i, weight * square / 16.0)
        store(terms, 2 * width + i, weight * fourth / 16.0)
        store(terms, 3 * width + i, weight * sign * back)
        store(terms, 4 * width + i, weight * 2.0 * mean * back)
    moments[MEAN], moments[SQUARE_MEAN] = _sum(terms[0], n), _sum(terms[1], n)
    moments[FOURTH] = _sum(terms[2], n)
    moments[STEP], moments[SQUARE_STEP] = _sum(terms[3], n), _sum(terms[4], n)
    for i in range(0, n, LANES):
        shared = folded_sum = both = pulled_sum = copies(0.0)
        for j in range(n):
            s = load(covariance, j * covariance.shape[1] + i)
            shared = shared + slope[j] * s
            folded_sum = folded_sum + folded[j] * (s * s)
            both = both + squared[j] * (s * s)
            pulled_sum = pulled_sum + pulled[j] * s
        variance = load(slope, i) * shared + _FOLDED * load(folded, i) * folded_sum
        store(terms, i, variance)
        variance = 2.0 * load(squared, i) * both + 4.0 * load(pulled, i) * pulled_sum
        store(terms, width + i, variance)
    moments[VARIANCE], moments[SQUARE_VARIANCE] = _sum(terms[0], n), _sum(terms[1], n)


@njit(error_model="numpy", inline="always")
def _sum(terms: Floats, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += terms[i]
    return total
