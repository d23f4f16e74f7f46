"""SmoothECE as the package relplot computes it (Błasiok and Nakkiran, ICLR 2024).

    smECE_σ = Σ_t |Σ_i K_σ(t, s_i)(s_i − y_i)| / Σ_t Σ_i K_σ(t, s_i)

K_σ is a Gaussian reflected at 0 and 1; t runs over max(200, 10/σ) points of [0, 1]. Ten bisections
of (0, 1] look for the least σ with smECE_σ ≤ σ, and the estimate is smECE_σ there. As in relplot
1.0 the samples are first shared between the points of a grid, the kernel is cut off at ±1/2,
densities have 0.0001 added, σ is never below 0.001, and a grid with an even number of points moves
the smoothed values by half a step.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import Estimates, SortedBatch

TARGET = "smece"
BINS = "none"

_STEPS = 1 << 10  # σ is one of k/2^10 after ten bisections
_USUAL, _POWER = 1.0 / 32.0, 0.3  # smECE_σ falls about like σ^-0.3
_MARGIN = 1.1  # for the grids' part in smECE_σ
_SMALLEST = 0.001
_DENSITY_FLOOR = 1e-4


def estimate_data_sets(data: SortedBatch, n_bins: int = 0, norm: float = 2.0) -> Estimates:
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    estimates = np.array(
        [_smece(*row) for row in zip(data.scores, np.diff(data.cum_gap, axis=1), strict=True)]
    )
    return estimates, np.zeros(estimates.shape, np.int64)


def _smece(scores: np.ndarray, residuals: np.ndarray) -> float:
    """Return smECE_σ at the last σ that bisections pass.

    smECE_σ does not increase with σ but for the grids' few percent: what it is at one σ decides
    bisections far from that σ and from the value. Two are tried first, the second near the end.
    """
    spectra: dict[int, np.ndarray] = {}
    values: dict[float, float] = {}

    def smoothed(sigma: float) -> float:
        if sigma not in values:
            values[sigma] = _smoothed_error(scores, residuals, sigma, spectra)
        return values[sigma]

    root = (smoothed(_USUAL) * _USUAL**_POWER) ** (1.0 / (1.0 + _POWER))
    smoothed(min(max(math.ceil(root * _STEPS), 2), _STEPS) / _STEPS)
    surely_fails = max(min(sigma, value / _MARGIN) for sigma, value in values.items())
    surely_passes = min(max(sigma, value * _MARGIN) for sigma, value in values.items())
    fails, passes = 0.0, 1.0
    while passes - fails > 1.0 / _STEPS:
        sigma = (fails + passes) / 2.0
        if sigma < max(_SMALLEST, surely_fails):
            fails = sigma
        elif sigma > surely_passes or smoothed(sigma) <= sigma:
            passes = sigma
        else:
            fails = sigma
    return smoothed(passes)


def _smoothed_error(
    scores: np.ndarray, residuals: np.ndarray, sigma: float, spectra: dict[int, np.ndarray]
) -> float:
    """Return smECE_σ; ``spectra`` keeps the data's transforms by the size of the grid.

    The kernel reaches half the grid: the sums are a cyclic convolution of twice its size.
    """
    n_grid = max(2000, round(20 / sigma)) // 2 + 1
    half = n_grid // 2
    length = next_fast_len(2 * n_grid, real=True)
    if n_grid not in spectra:
        shared = np.zeros((2, n_grid))
        _share(scores, residuals, shared)
        left, right = shared[:, half:0:-1], shared[:, -2 : -half - 2 : -1]
        spectra[n_grid] = rfft(np.concatenate([left, shared, right], axis=1), length)
    smoothed = irfft(spectra[n_grid] * _kernel_spectrum(sigma, n_grid, length), length)
    error, density = smoothed[:, 2 * half : 2 * half + n_grid]
    points, grid = _grid(max(200, round(10 / sigma))), _grid(n_grid)
    total = np.sum(np.interp(points, grid, density)) + points.size * _DENSITY_FLOOR
    return float(np.sum(np.abs(np.interp(points, grid, error))) / total)


@lru_cache(maxsize=64)
def _grid(size: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, size)


@lru_cache(maxsize=1024)
def _kernel_spectrum(sigma: float, n_grid: int, length: int) -> np.ndarray:
    distance = np.linspace(-0.5, 0.5, n_grid)
    return rfft(np.exp(-0.5 * (distance / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma), length)


@njit
def _share(scores: np.ndarray, residuals: np.ndarray, out: np.ndarray) -> None:
    """Add each residual and each sample to the two grid points next to its score."""
    cells = out.shape[1] - 1
    for i in range(scores.shape[0]):
        position = scores[i] * cells
        cell = max(min(int(position), cells - 1), 0)
        share = position - cell
        out[0, cell] += (1.0 - share) * residuals[i]
        out[0, cell + 1] += share * residuals[i]
        out[1, cell] += 1.0 - share
        out[1, cell + 1] += share
