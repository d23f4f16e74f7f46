"""SmoothECE as the package relplot computes it (Błasiok and Nakkiran, ICLR 2024).

    smECE_σ = Σ_t |Σ_i K_σ(t, s_i)(s_i − y_i)| / Σ_t Σ_i K_σ(t, s_i)

K_σ is a Gaussian reflected at 0 and 1; t runs over max(200, 10/σ) points of [0, 1]. Ten bisections
of (0, 1] look for the least σ with smECE_σ ≤ σ, and the estimate is smECE_σ there. As in relplot
1.0 the samples are first shared between the points of a grid, the kernel is cut off at ±1/2,
densities have 0.0001 added, σ is never below 0.001, and a grid with an even number of points moves
the smoothed values by half a step.
"""

from functools import cache, lru_cache

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from calbias.engine.jit import njit

VARIANTS = {"smece": {}}
TARGET = "smece"
BINS = "none"

_BISECTIONS = 10
_SMALLEST = 0.001
_DENSITY_FLOOR = 1e-4


def estimate_data_sets(data, n_bins=0, norm=2.0):
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    estimates = np.array(
        [_smece(*row) for row in zip(data.scores, np.diff(data.cum_gap, axis=1), strict=True)]
    )
    return estimates, np.zeros(estimates.shape, np.int64)


def _smece(scores, residuals):
    spectra = {}

    @cache
    def smoothed(sigma):
        return _smoothed_error(scores, residuals, sigma, spectra)

    if smoothed(1.0) > 1.0:
        return smoothed(1.0)
    fails, passes = 0.0, 1.0
    for _ in range(_BISECTIONS):
        sigma = (fails + passes) / 2.0
        if sigma < _SMALLEST or sigma < smoothed(sigma):
            fails = sigma
        else:
            passes = sigma
    return smoothed(passes)


def _smoothed_error(scores, residuals, sigma, spectra):
    """Return smECE_σ; ``spectra`` keeps the data's transforms by the size of the grid."""
    n_grid = max(2000, round(20 / sigma)) // 2 + 1
    length = next_fast_len(4 * n_grid, real=True)
    if n_grid not in spectra:
        shared = np.zeros((2, n_grid))
        _share(scores, residuals, shared)
        mirrored = np.concatenate([shared[:, :0:-1], shared, shared[:, -2::-1]], axis=1)
        spectra[n_grid] = rfft(mirrored, length)
    smoothed = irfft(spectra[n_grid] * _kernel_spectrum(sigma, n_grid, length), length)
    first = n_grid - 1 + n_grid // 2
    error, density = smoothed[:, first : first + n_grid]
    points, grid = _grid(max(200, round(10 / sigma))), _grid(n_grid)
    total = np.sum(np.interp(points, grid, density)) + points.size * _DENSITY_FLOOR
    return float(np.sum(np.abs(np.interp(points, grid, error))) / total)


@lru_cache(maxsize=64)
def _grid(size):
    return np.linspace(0.0, 1.0, size)


@lru_cache(maxsize=1024)
def _kernel_spectrum(sigma, n_grid, length):
    distance = np.linspace(-0.5, 0.5, n_grid)
    return rfft(np.exp(-0.5 * (distance / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma), length)


@njit
def _share(scores, residuals, out):
    """Add each residual and each sample to the two grid points next to its score."""
    cells = out.shape[1] - 1
    for i in range(scores.shape[0]):
        place = scores[i] * cells
        cell = min(int(place), cells - 1)
        share = place - cell
        out[0, cell] += (1.0 - share) * residuals[i]
        out[0, cell + 1] += share * residuals[i]
        out[1, cell] += 1.0 - share
        out[1, cell + 1] += share
