"""The true calibration error of a network, from fresh rows, with its standard error.

Bins hold equal numbers of rows. The square of a bin's gap is debiased by the variance of its mean,
so that the sum is unbiased for the bins' l2 also where a network is calibrated. l1 takes each gap's
sign from one half of the rows and its amount from the other. A hundred bins are fine enough, and
few enough that noise does not enter: the debiased sum's noise grows with the number of bins.
"""

from typing import NamedTuple

import numpy as np

N_BINS = 100
N_PARTS = 10


class Truth(NamedTuple):
    """l1 and l2 calibration error, fractions, with standard errors."""

    l1: float
    l1_se: float
    l2: float
    l2_se: float


def scores_of(log_odds: np.ndarray) -> np.ndarray:
    """Return the scores, float64, of the log odds of the top class against all others."""
    scores: np.ndarray = 1.0 / (1.0 + np.exp(-log_odds.astype(np.float64)))
    return scores


def bin_moments(
    log_odds: np.ndarray, gaps: np.ndarray, n_bins: int = N_BINS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, mean gap and variance of the gap, (n_bins,) each, in bins of equal mass."""
    order = np.argsort(log_odds, kind="stable")
    starts = np.arange(n_bins) * len(order) // n_bins
    sizes = np.diff(np.append(starts, len(order)))
    ordered = gaps[order]
    means = np.add.reduceat(ordered, starts) / sizes
    squares = np.add.reduceat(ordered**2, starts) / sizes
    return sizes, means, (squares - means**2) * sizes / (sizes - 1)


def squared_l2(log_odds: np.ndarray, gaps: np.ndarray, n_bins: int = N_BINS) -> float:
    """Return the debiased square of the l2 error; it may be below 0."""
    sizes, means, variances = bin_moments(log_odds, gaps, n_bins)
    return float(np.sum(sizes * (means**2 - variances / sizes)) / len(gaps))


def l1_by_halves(log_odds: np.ndarray, gaps: np.ndarray, n_bins: int = N_BINS) -> float:
    """Return the l1 error: signs of gaps from one half of the rows, amounts from the other."""
    order = np.argsort(log_odds, kind="stable")
    size = len(order) // n_bins // 2
    positions = np.linspace(0, len(order), n_bins, endpoint=False).astype(np.int64)
    bins = gaps[order[positions[:, None] + np.arange(2 * size)]]
    even, odd = bins[:, ::2].mean(1), bins[:, 1::2].mean(1)
    return float(np.mean(np.sign(even) * odd + np.sign(odd) * even) / 2)


def measure_truth(
    log_odds: np.ndarray, outcomes: np.ndarray, n_bins: int = N_BINS, n_parts: int = N_PARTS
) -> Truth:
    """Return the Truth of rows with outcomes: hits, or the known probabilities of a hit.

    Standard errors come from equal parts of the rows. That of l2 is of its square, divided by the
    slope of the square at l2.
    """
    gaps = scores_of(log_odds) - outcomes
    squared = squared_l2(log_odds, gaps, n_bins)
    parts = np.array_split(np.arange(len(gaps)), n_parts)
    l1_parts = [l1_by_halves(log_odds[part], gaps[part], n_bins) for part in parts]
    squared_parts = [squared_l2(log_odds[part], gaps[part], n_bins) for part in parts]
    l2 = max(squared, 0.0) ** 0.5
    squared_se = float(np.std(squared_parts, ddof=1)) / n_parts**0.5
    return Truth(
        l1_by_halves(log_odds, gaps, n_bins),
        float(np.std(l1_parts, ddof=1)) / n_parts**0.5,
        l2,
        squared_se / (2 * l2) if l2**2 > squared_se else squared_se**0.5,
    )
