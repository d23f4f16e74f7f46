"""The interval of Sun, Chaudhari, Barnett and Dobriban for the squared ℓ2 error of a binning.

*A confidence interval for the ℓ2 expected calibration error* (2024). With U = y − s in the
equal-width bins b of n_b samples, Ū_b and M_b the means of U and U² in a bin,

    T  = (1/n) Σ_b n_b/(n_b − 1) · (n_b Ū_b² − M_b)
    σ² = Σ_b (n_b/n)(4 Ū_b² M_b − 3 Ū_b⁴) − (Σ_b (n_b/n) Ū_b²)²

T⁺ = max(T, 0) and e = σ/√n. The upper end is T⁺ + z e, z = z_{1−α/2}; the lower end is T⁺ − z e
where T⁺ ≥ 2 z e, T⁺/2 where 2 z′ e ≤ T⁺ < 2 z e, z′ = z_{1−α}, and max(T⁺ − z′ e, 0) below. Bins of
fewer than two samples count for nothing.
"""

import numpy as np
from scipy.special import ndtri

from calbias.auditing.error.interval import Interval
from calbias.defaults import CONFIDENCE_LEVEL, N_BINS
from reproduction.judging import Sample


def sun2024(sample: Sample, level: float = CONFIDENCE_LEVEL, n_bins: int = N_BINS) -> Interval:
    """Return the Interval of the squared ℓ2 error E δ² (fractions squared) of a Sample."""
    t, spread = statistic(sample, n_bins)
    t, error = max(t, 0.0), spread / np.sqrt(sample.n)
    two_sided, one_sided = ndtri((1 + level) / 2) * error, ndtri(level) * error
    if t >= 2 * two_sided:
        low = t - two_sided
    elif t >= 2 * one_sided:
        low = t / 2
    else:
        low = max(t - one_sided, 0.0)
    return Interval(float(low), float(t + two_sided))


def statistic(sample: Sample, n_bins: int = N_BINS) -> tuple[float, float]:
    """Return T and σ."""
    edges = np.arange(1, n_bins) / n_bins
    bins = np.searchsorted(edges, sample.scores, side="right")
    residual = sample.hits - sample.scores
    size = np.bincount(bins, minlength=n_bins)
    full = size > 1
    size = size[full].astype(float)
    mean = np.bincount(bins, residual, n_bins)[full] / size
    square = np.bincount(bins, residual**2, n_bins)[full] / size
    share = size / sample.n
    t = np.sum(size / (size - 1) * (size * mean**2 - square)) / sample.n
    variance = np.sum(share * (4 * mean**2 * square - 3 * mean**4)) - np.sum(share * mean**2) ** 2
    return float(t), float(np.sqrt(max(variance, 0.0)))
