"""How well a Beta distribution and a calibration curve describe a model's scores and hits."""

import numpy as np
from scipy.special import betainc, gammaincc

from calbias.reading.top_label import TopLabel
from calbias.truth.curves import Curve

TOP_SCORE = 0.999  # scores above it depend on how a softmax rounds
N_HITS = 20  # bins of equal mass


def distance(top: TopLabel, alpha: float, beta: float) -> float:
    """Return the largest distance of the distribution functions of Beta and scores to TOP_SCORE."""
    scores = np.sort(top.score)
    inside = scores[scores <= TOP_SCORE]
    steps = np.arange(len(inside) + 1) / len(scores)
    expected = betainc(alpha, beta, np.append(inside, TOP_SCORE))
    above, below = steps[1:] - expected[:-1], expected - steps
    return float(np.maximum(above.max(initial=0.0), below.max()))


def p_of_curve(top: TopLabel, curve: Curve, n_parameters: int) -> float:
    """Return the p-value of the hits in N_HITS bins of equal mass under a fitted curve, by χ²."""
    chances = curve.hit(top.log_score, top.log1m_score)
    return p_of_chances(top.log_score - top.log1m_score, top.hit, chances, n_parameters)


def p_of_chances(
    log_odds: np.ndarray, hits: np.ndarray, chances: np.ndarray, n_parameters: float
) -> float:
    """Return it of fitted chances (n,) at the log odds of the scores, (n,)."""
    order = np.argsort(log_odds, kind="stable")
    bins = np.arange(len(order)) * N_HITS // len(order)
    hits, expected, variance = (
        np.bincount(bins, x[order]) for x in (hits, chances, chances * (1 - chances))
    )
    z2 = np.sum((hits - expected) ** 2 / np.maximum(variance, 1e-12))
    return float(gammaincc((N_HITS - n_parameters) / 2, z2 / 2))


def largest_decrease(n: np.ndarray, hits: np.ndarray) -> float:
    """Return the largest fall of accuracy between two bins, (k,), in its standard errors.

    ``n`` and ``hits`` are the bins' rows, at least one in each, and hits; lower scores are first.
    """
    rate = (hits + 1) / (n + 2)
    variance = rate * (1 - rate) / n
    first, second = np.triu_indices(len(n), 1)
    fall = hits[first] / n[first] - hits[second] / n[second]
    return float((fall / np.sqrt(variance[first] + variance[second])).max(initial=0.0))
