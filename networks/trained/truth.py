"""The true calibration error of a network, from fresh rows, with its standard error.

Bins hold equal numbers of rows. The square of a bin's gap is debiased by the variance of its mean,
so that the sum is unbiased for the bins' l2 also where a network is calibrated. l1 takes each gap's
sign from one half of the rows and its amount from the other. A hundred bins are fine enough, and
few enough that noise does not enter: the debiased sum's noise grows with the number of bins.
"""

from typing import Any, NamedTuple

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


def equal_mass_bins(values: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the number of each row's bin, (n,), of values (n,)."""
    bins = np.empty(len(values), np.int64)
    bins[np.argsort(values, kind="stable")] = np.arange(len(values)) * n_bins // len(values)
    return bins


def squared_l2(gaps: np.ndarray, bins: np.ndarray) -> float:
    """Return the debiased square of the l2 error of gaps in bins; it may be below 0.

    Bins with a single row do not count.
    """
    n = np.bincount(bins)
    means = np.bincount(bins, gaps)[n > 1] / n[n > 1]
    squares = np.bincount(bins, gaps**2)[n > 1] / n[n > 1]
    n = n[n > 1]
    return float(np.sum(n * means**2 - (squares - means**2) * n / (n - 1)) / n.sum())


def gap_truth(
    values: np.ndarray, gaps: np.ndarray, n_bins: int = N_BINS, bins: np.ndarray | None = None
) -> tuple[float, float]:
    """Return l2 and its standard error, of gaps in bins of equal mass of values, or in ``bins``.

    The standard error is that of the square over equal parts of the rows, divided by the slope of
    the square at l2.
    """
    parts = np.array_split(np.arange(len(gaps)), N_PARTS)

    def square(part: Any) -> float:
        numbers = equal_mass_bins(values[part], n_bins) if bins is None else bins[part]
        return squared_l2(gaps[part], numbers)

    squared = square(slice(None))
    squared_se = float(np.std([square(part) for part in parts], ddof=1)) / N_PARTS**0.5
    l2 = max(squared, 0.0) ** 0.5
    return l2, squared_se / (2 * l2) if l2**2 > squared_se else squared_se**0.5


def l1_by_halves(log_odds: np.ndarray, gaps: np.ndarray, n_bins: int = N_BINS) -> float:
    """Return the l1 error: signs of gaps from one half of the rows, amounts from the other."""
    order = np.argsort(log_odds, kind="stable")
    size = len(order) // n_bins // 2
    positions = np.linspace(0, len(order), n_bins, endpoint=False).astype(np.int64)
    bins = gaps[order[positions[:, None] + np.arange(2 * size)]]
    even, odd = bins[:, ::2].mean(1), bins[:, 1::2].mean(1)
    return float(np.mean(np.sign(even) * odd + np.sign(odd) * even) / 2)


def measure_truth(log_odds: np.ndarray, outcomes: np.ndarray, n_bins: int = N_BINS) -> Truth:
    """Return the Truth of rows with outcomes: hits, or the known probabilities of a hit.

    Standard errors come from equal parts of the rows.
    """
    gaps = scores_of(log_odds) - outcomes
    parts = np.array_split(np.arange(len(gaps)), N_PARTS)
    l1_parts = [l1_by_halves(log_odds[part], gaps[part], n_bins) for part in parts]
    l1_se = float(np.std(l1_parts, ddof=1)) / N_PARTS**0.5
    l1 = l1_by_halves(log_odds, gaps, n_bins)
    return Truth(l1, l1_se, *gap_truth(log_odds, gaps, n_bins))
