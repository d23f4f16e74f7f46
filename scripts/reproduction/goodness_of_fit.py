"""How well a Beta distribution and a calibration curve describe a model's scores and hits."""

import numpy as np
from scipy.special import betainc, gammaincc

from calbias.reading.top_label import TopLabel
from calbias.truth.curves import Curve

TOP_SCORE = 0.999  # scores above it depend on how a softmax rounds
N_HITS = 20  # bins of equal mass
FEWEST_EXPECTED = 5  # hits and misses in a bin


def distance(top: TopLabel, alpha: float, beta: float) -> float:
    """Return the largest distance of the distribution functions of Beta and scores to TOP_SCORE."""
    scores = np.sort(top.score)
    inside = scores[scores <= TOP_SCORE]
    steps = np.arange(len(inside) + 1) / len(scores)
    expected = betainc(alpha, beta, np.append(inside, TOP_SCORE))
    above, below = steps[1:] - expected[:-1], expected - steps
    return float(np.maximum(above.max(initial=0.0), below.max()))


def p_of_curve(top: TopLabel, curve: Curve, n_parameters: int) -> float:
    """Return ``p_of_chances`` of a model's hits under a fitted curve."""
    chances = curve.hit(top.log_score, top.log1m_score)
    return p_of_chances(top.log_score - top.log1m_score, top.hit, chances, n_parameters)


def p_of_chances(
    log_odds: np.ndarray, hits: np.ndarray, chances: np.ndarray, n_parameters: float
) -> float:
    """Return the p-value of hits (n,) under fitted chances (n,), by χ².

    Rows in the order of the ``log_odds`` of their scores, (n,), are in N_HITS bins of equal mass,
    which are joined as ``joined_bins`` says. NaN where fewer bins are left than parameters.
    """
    order = np.argsort(log_odds, kind="stable")
    bins = np.arange(len(order)) * N_HITS // len(order)
    sums = np.array([np.bincount(bins, x[order]) for x in (hits, chances, chances * (1 - chances))])
    n = np.bincount(bins)
    joined = joined_bins(sums[1], n - sums[1])
    hits, expected, variance = (np.bincount(joined, x) for x in sums)
    freedom = len(expected) - n_parameters
    if freedom <= 0:
        return float("nan")
    z2 = np.sum((hits - expected) ** 2 / np.maximum(variance, 1e-12))
    return float(gammaincc(freedom / 2, z2 / 2))


def joined_bins(hits: np.ndarray, misses: np.ndarray) -> np.ndarray:
    """Return for each bin, from expected hits and misses (k,), the number of the bin it joins.

    From the last bin on, neighbours are joined until FEWEST_EXPECTED hits and misses are expected
    in each: the χ² of smaller numbers has no χ² distribution. What is left joins the first.
    """
    number, numbers, sums = 0, [], np.zeros(2)
    for pair in zip(hits[::-1], misses[::-1], strict=True):
        numbers.append(number)
        sums += pair
        if (sums >= FEWEST_EXPECTED).all():
            number, sums = number + 1, np.zeros(2)
    last = max(number - 1, 0)  # of the bins that are full
    return last - np.minimum(numbers[::-1], last)


def largest_decrease(n: np.ndarray, hits: np.ndarray) -> float:
    """Return the largest fall of accuracy between two bins, (k,), in its standard errors.

    ``n`` and ``hits`` are the bins' rows, at least one in each, and hits; lower scores are first.
    """
    rate = (hits + 1) / (n + 2)
    variance = rate * (1 - rate) / n
    first, second = np.triu_indices(len(n), 1)
    fall = hits[first] / n[first] - hits[second] / n[second]
    return float((fall / np.sqrt(variance[first] + variance[second])).max(initial=0.0))
