"""SmoothECE as the package relplot computes it (Błasiok and Nakkiran, ICLR 2024).

    smECE_σ = Σ_t |Σ_i K_σ(t, s_i)(s_i − y_i)| / Σ_t Σ_i K_σ(t, s_i)

K_σ is a Gaussian reflected at 0 and 1; t runs over max(200, 10/σ) points of [0, 1]. Ten bisections
of (0, 1] look for the least σ with smECE_σ ≤ σ, and the estimate is smECE_σ there. As in relplot
1.0 the samples are first shared between the points of a grid, the kernel is cut off at ±1/2,
densities have 0.0001 added, σ is never below 0.001, and a grid with an even number of points moves
the smoothed values by half a step.
"""

from functools import lru_cache

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

VARIANTS = {"smece": {}}
TARGET = "smece"
BINS = "none"

_BISECTIONS = 10
_SMALLEST = 0.001
_DENSITY_FLOOR = 1e-4
_ROWS = 1 << 16  # shared at a time, so that 10⁷ take little memory


def estimate_data_sets(data, n_bins=0, norm=2.0):
    """Return (estimates, bins used = 0), each (m,): fractions, for SortedBatch of m rows."""
    estimates = np.array(
        [_smece(*row) for row in zip(data.scores, np.diff(data.cum_gap, axis=1), strict=True)]
    )
    return estimates, np.zeros(estimates.shape, np.int64)


def _smece(scores, residuals):
    spectra = {}

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
        place, everyone = scores * (n_grid - 1), np.broadcast_to(1.0, scores.shape)
        shared = np.stack([_shared(values, place, n_grid) for values in (residuals, everyone)])
        mirrored = np.concatenate([shared[:, :0:-1], shared, shared[:, -2::-1]], axis=1)
        spectra[n_grid] = rfft(mirrored, length)
    smoothed = irfft(spectra[n_grid] * _kernel_spectrum(sigma, n_grid, length), length)
    first = n_grid - 1 + n_grid // 2
    error, density = smoothed[:, first : first + n_grid]
    points = np.linspace(0.0, 1.0, max(200, round(10 / sigma)))
    grid = np.linspace(0.0, 1.0, n_grid)
    total = np.sum(np.interp(points, grid, density)) + points.size * _DENSITY_FLOOR
    return float(np.sum(np.abs(np.interp(points, grid, error))) / total)


@lru_cache(maxsize=1024)
def _kernel_spectrum(sigma, n_grid, length):
    distance = np.linspace(-0.5, 0.5, n_grid)
    return rfft(np.exp(-0.5 * (distance / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma), length)


def _shared(values, place, n_grid):
    """Return sums (n_grid,): each value is shared between the two grid points beside its place."""
    sums = np.zeros(n_grid)
    for first in range(0, place.size, _ROWS):
        rows = slice(first, first + _ROWS)
        low = np.minimum(place[rows].astype(np.int64), n_grid - 2)
        share = place[rows] - low
        shares = np.stack([(1.0 - share) * values[rows], share * values[rows]], axis=1)
        np.add.at(sums, np.stack([low, low + 1], axis=1), shares)
    return sums
