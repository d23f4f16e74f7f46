"""Why a peer prints another number than calbias: each cause as the definition that the peer uses.

A cause is a sentence and a function of (scores, hits) that follows the peer's definition in a few
lines of NumPy. It counts as established where that function returns the peer's number on every
data set.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import stats

BINS = 15


def _error(scores, hits, bins, norm=1):
    """Return the ℓp error of given bin numbers (n,)."""
    total = 0.0
    for k in np.unique(bins):
        inside = bins == k
        total += inside.mean() * abs(scores[inside].mean() - hits[inside].mean()) ** norm
    return total ** (1 / norm)


def _right_closed(n_edges):
    return lambda scores, hits: _error(
        scores, hits, np.searchsorted(np.linspace(0, 1, n_edges)[1:-1], scores)
    )


def _quantile_edges(scores):
    return np.unique(np.quantile(scores, np.linspace(0, 1, BINS + 1)[1:-1]))


def _quantiles(side, norm=1):
    return lambda scores, hits: _error(
        scores, hits, np.searchsorted(_quantile_edges(scores), scores, side), norm
    )


def _rounded_quantiles(scores, hits):
    left = sorted(pd.qcut(scores, BINS, duplicates="drop").categories.left)
    return _error(scores, hits, np.searchsorted([*left, 2.0], scores, "right"))


def _without_the_lowest(scores, hits):
    edges = np.quantile(scores, np.linspace(0, 1, BINS + 1))
    kept = scores > edges[0]
    bins = np.searchsorted(edges, scores[kept])
    return _error(scores[kept], hits[kept], bins)


def _mapie_mass(scores, hits):
    return _error(
        scores, hits, np.searchsorted(np.percentile(scores, np.linspace(0, 100, BINS)), scores)
    )


def _midpoint_bins(scores):
    parts = np.array_split(np.sort(scores), BINS)
    edges = np.unique([(low[-1] + high[0]) / 2 for low, high in pairwise(parts)])
    return np.searchsorted(edges, scores)


def _midpoints(norm):
    return lambda scores, hits: _error(scores, hits, _midpoint_bins(scores), norm)


def _midpoints_debiased(scores, hits):
    bins, total = _midpoint_bins(scores), 0.0
    for k in np.unique(bins):
        score, hit = scores[bins == k], hits[bins == k]
        if hit.size > 1:
            noise = hit.mean() * (1 - hit.mean()) / (hit.size - 1)
            total += hit.size / hits.size * ((score.mean() - hit.mean()) ** 2 - noise)
    return max(total, 0.0) ** 0.5


def _debiased_in_each_bin(scores, hits):
    bins, total = np.searchsorted(_quantile_edges(scores), scores, "right"), 0.0
    for k in np.unique(bins):
        score, hit = scores[bins == k], hits[bins == k]
        noise = hit.mean() * (1 - hit.mean()) / (hit.size - 1) if hit.size > 1 else 0.0
        total += hit.size / hits.size * max((score.mean() - hit.mean()) ** 2 - noise, 0.0) ** 0.5
    return total


def _quantile_sweep(scores, hits):
    chosen = np.zeros(scores.size, int)
    for b in range(2, min(scores.size, 100) + 1):
        edges = np.unique(np.quantile(scores, np.linspace(0, 1, b + 1)[1:-1]))
        bins = np.searchsorted(edges, scores, "right")
        if np.any(np.diff([hits[bins == k].mean() for k in np.unique(bins)]) < 0):
            break
        chosen = bins
    return _error(scores, hits, chosen, 2)


def _one_sided(scores, hits):
    variance = np.sum((1 - 2 * scores) ** 2 * scores * (1 - scores))
    return stats.norm.sf(np.sum((hits - scores) * (1 - 2 * scores)) / np.sqrt(variance))


def _own_bin_for_one(scores, hits):
    bins = np.searchsorted(np.linspace(0, 1, BINS + 1), scores, "right")
    return _error(scores, hits, bins, 2)


def _ties_in_input_order(scores, hits):
    order = np.argsort(scores, kind="stable")
    path = np.concatenate([[0.0], np.cumsum((hits - scores)[order]) / scores.size])
    return path.max() - path.min()


def _ties_by_jitter(scores, hits):
    """Return the path of cumulative gaps, from 0, and σ, of scores that a small noise orders."""
    jittered = scores * (1 + 1e-8 * np.random.RandomState(1).normal(size=scores.size))
    order = np.argsort(jittered)
    path = np.concatenate([[0.0], np.cumsum((hits - jittered)[order]) / scores.size])
    return path, np.sqrt(np.sum(scores * (1 - scores))) / scores.size


def _mad_p_by_jitter(scores, hits):
    path, sigma = _ties_by_jitter(scores, hits)
    k = 2 * np.arange(200) + 1
    ratio = np.abs(path).max() / sigma
    return 1 - 4 / np.pi * np.sum((-1.0) ** (k // 2) / k * np.exp(-((k * np.pi / ratio) ** 2) / 8))


def _range_p_by_jitter(scores, hits):
    path, sigma = _ties_by_jitter(scores, hits)
    return _range_p(path[1:], sigma)


def _range_p(path, sigma):
    k = np.arange(1, 200)
    ratio = (path.max() - path.min()) / sigma
    return 8 * np.sum((-1.0) ** (k - 1) * k * stats.norm.sf(k * ratio))


def _range_p_in_input_order(scores, hits):
    order = np.argsort(scores, kind="stable")
    path = np.concatenate([[0.0], np.cumsum((hits - scores)[order]) / scores.size])
    return _range_p(path, np.sqrt(np.sum(scores * (1 - scores))) / scores.size)


def _hosmer_lemeshow_without_the_lowest(scores, hits):
    edges = np.quantile(scores, np.linspace(0, 1, BINS + 1))
    kept = scores > edges[0]
    bins = np.searchsorted(edges, scores[kept])
    total, found = 0.0, np.unique(bins)
    for k in found:
        s, y = scores[kept][bins == k], hits[kept][bins == k]
        mean = np.clip(s.mean(), 1e-7, 1 - 1e-7)
        share = np.clip(y.mean(), 1e-7, 1 - 1e-7)
        total += s.size * (share - mean) ** 2 / (mean * (1 - mean))
    return stats.chi2.sf(total, found.size - 2)


def _mmce_of_yes_or_no(scores, hits):
    gaps = (hits == (scores > 0.5)) - scores
    kernel = np.exp(-2.5 * np.abs(scores[:, None] - scores))
    return np.sqrt(gaps @ kernel @ gaps) / scores.size


def _logit_scale(scores, hits):
    """Return the σ at which ∫ |Σ_i K_σ(t − logit s_i)(y_i − s_i)| dt / n equals σ."""
    clipped = np.clip(scores, 1e-12, 1 - 1e-12)
    places, masses = np.log(clipped / (1 - clipped)), (hits - clipped) / hits.size
    low, high = 1e-4, 2.0
    while high - low >= 1e-5:
        sigma = (low + high) / 2
        grid = np.linspace(places.min() - 5 * sigma, places.max() + 5 * sigma, 801)
        smoothed = np.abs(stats.norm.pdf((grid[:, None] - places) / sigma) @ masses) / sigma
        low, high = (sigma, high) if np.trapezoid(smoothed, grid) > sigma else (low, sigma)
    return (low + high) / 2


_CLOSED = "its bins include the upper edge, so a score on an edge counts in the bin below"
_EDGES = (
    "its bin edges are interpolated quantiles of the scores; bins differ by a sample where the "
    "number of bins does not divide n, and equal scores stay together"
)
_JITTER = "equal scores are ordered by a small noise of a fixed seed, and are not one step"
_ORDER = "equal scores are not one step: the value depends on the order of the rows"
CAUSES = {
    ("scikit-learn", "ece_width"): (_CLOSED, _right_closed(BINS + 1)),
    ("calzone-tool", "ece_width"): (_CLOSED, _right_closed(BINS + 1)),
    ("uncertainty-calibration", "ece_width"): (_CLOSED, _right_closed(BINS + 1)),
    ("mapie", "ece_width"): (
        f"num_bins={BINS} makes {BINS - 1} bins: the number is that of the edges; {_CLOSED}",
        _right_closed(BINS),
    ),
    ("mapie", "ece_mass"): (
        f"num_bins={BINS} makes {BINS - 1} bins, from quantiles; the lowest score has one alone",
        _mapie_mass,
    ),
    ("mapie", "spiegelhalter_p"): (
        "its p-value is one-sided: an underconfident model is never found",
        _one_sided,
    ),
    ("scikit-learn", "ece_mass"): (f"{_EDGES}; {_CLOSED}", _quantiles("left")),
    ("netcal", "ece_mass"): (_EDGES, _quantiles("right")),
    ("probcal", "ece_mass"): (_EDGES, _quantiles("right")),
    ("probcal", "ece_mass_l2"): (_EDGES, _quantiles("right", 2)),
    ("mcgrad", "ece_mass"): (
        f"{_EDGES}; pandas rounds the edges to three digits",
        _rounded_quantiles,
    ),
    ("calzone-tool", "ece_mass"): (
        f"{_EDGES}; its lowest bin excludes the lowest score, which is lost",
        _without_the_lowest,
    ),
    ("uncertainty-calibration", "ece_mass"): (
        "the first bins take one sample more each; equal scores stay together",
        _midpoints(1),
    ),
    ("uncertainty-calibration", "ece_mass_l2"): (
        "the first bins take one sample more each; equal scores stay together",
        _midpoints(2),
    ),
    ("uncertainty-calibration", "debiased_mass_l2"): (
        "the first bins take one sample more each; equal scores stay together",
        _midpoints_debiased,
    ),
    ("probcal", "debiased_mass_l2"): (
        "it subtracts the noise in each bin, cuts at 0 there and averages the roots: an ℓ1 error "
        "that keeps its bias, not the debiased ℓ2 error",
        _debiased_in_each_bin,
    ),
    ("probcal", "sweep_mass_l2"): (
        f"another sweep: {_EDGES}; it ends at 100 bins",
        _quantile_sweep,
    ),
    ("probcal", "smece"): (
        "it smooths over the log-odds, without reflection, where relplot smooths over the score",
        _logit_scale,
    ),
    ("torchmetrics", "ece_width_l2"): (
        "a score of exactly 1 is in a bin of its own, the sixteenth",
        _own_bin_for_one,
    ),
    ("mapie", "mad_p"): (_JITTER, _mad_p_by_jitter),
    ("mapie", "range_p"): (
        f"{_JITTER}; the walk does not start at 0, so the range may leave 0 out",
        _range_p_by_jitter,
    ),
    ("mcgrad", "range_p"): (_ORDER, _range_p_in_input_order),
    ("calzone-tool", "hosmer_lemeshow_p"): (
        "as many degrees of freedom as bins less 2, which are those of the data of the fit; 15 "
        "bins where calbias has 10, and the lowest score is lost",
        _hosmer_lemeshow_without_the_lowest,
    ),
    ("netcal", "mmce"): (
        "scores alone are taken as those of a yes-or-no model: below 0.5 a miss counts as a hit",
        _mmce_of_yes_or_no,
    ),
    ("mcgrad", "range"): (_ORDER, _ties_in_input_order),
    ("probmetrics", "range"): (_ORDER, _ties_in_input_order),
}
"""{(peer, quantity): (cause, the peer's definition)}."""

TOLERANCE = {
    ("probcal", "smece"): 3e-4,  # it bisects to 1e-4, on a lattice
    ("mcgrad", "range_p"): 3e-2,
    ("mcgrad", "range"): 5e-3,  # its sort is not stable: the order within ties is the machine's
    ("probmetrics", "range"): 5e-3,
}
"""How near the definition has to come to the printed number, where that is not 1e-6."""
