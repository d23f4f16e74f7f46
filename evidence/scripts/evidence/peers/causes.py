"""Why a peer prints another number than calbias: each cause as the definition that the peer uses.

A cause is a sentence and a function of (scores, hits) that follows the peer's definition in a few
lines of NumPy. It counts as established where that function returns the peer's number on every
data set.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

BINS = 15
Floats = NDArray[np.float64]
Hits = NDArray[np.int64]
Definition = Callable[[Floats, Hits], float]
"""A value of scores and hits, by a peer's definition."""


def _error(scores: Floats, hits: Hits, bins: NDArray[np.intp], norm: int = 1) -> float:
    """Return the ℓp error of given bin numbers (n,)."""
    total = 0.0
    for k in np.unique(bins):
        inside = bins == k
        total += inside.mean() * abs(scores[inside].mean() - hits[inside].mean()) ** norm
    return total ** (1 / norm)


def _binned(
    edges_of: Callable[[Floats], Floats], side: Literal["left", "right"] = "left", norm: int = 1
) -> Definition:
    """Return the ℓp error in the bins between ``edges_of(scores)``, as a function of the data."""

    def error(scores: Floats, hits: Hits) -> float:
        return _error(scores, hits, np.searchsorted(edges_of(scores), scores, side), norm)

    return error


def _equal_width(n_edges: int) -> Callable[[Floats], Floats]:
    return lambda scores: np.linspace(0, 1, n_edges)[1:-1]


def _quantile_edges(scores: Floats, n_bins: int = BINS) -> Floats:
    return np.unique(np.quantile(scores, np.linspace(0, 1, n_bins + 1)[1:-1]))


def _midpoint_edges(scores: Floats) -> Floats:
    parts = [part for part in np.array_split(np.sort(scores), BINS) if part.size]
    return np.unique([(low[-1] + high[0]) / 2 for low, high in pairwise(parts)])


def _above_the_lowest(scores: Floats, hits: Hits) -> tuple[Floats, Hits, NDArray[np.intp]]:
    """Return scores and hits without the lowest score, and their bins."""
    edges = np.quantile(scores, np.linspace(0, 1, BINS + 1))
    kept = scores > edges[0]
    return scores[kept], hits[kept], np.searchsorted(edges, scores[kept])


def _above_zero(scores: Floats, hits: Hits) -> float:
    """Return the error of bins that exclude their lower edge, 0 of the first among them."""
    kept = scores > 0
    return _closed(scores[kept], hits[kept])


def _clipped(definition: Definition) -> Definition:
    """Return a definition on scores of at least 1e-12 from 0 and 1."""
    return lambda scores, hits: definition(np.clip(scores, 1e-12, 1 - 1e-12), hits)


def _squares_less_noise(
    scores: Floats, hits: Hits, bins: NDArray[np.intp]
) -> Iterator[tuple[float, float, float | None]]:
    """Yield the share of each bin and its squared gap, less the noise of its hits where known."""
    for k in np.unique(bins):
        score, hit = scores[bins == k], hits[bins == k]
        noise = hit.mean() * (1 - hit.mean()) / (hit.size - 1) if hit.size > 1 else None
        yield hit.size / hits.size, (score.mean() - hit.mean()) ** 2, noise


def _midpoints_debiased(scores: Floats, hits: Hits) -> float:
    bins = np.searchsorted(_midpoint_edges(scores), scores)
    parts = _squares_less_noise(scores, hits, bins)
    total = sum(share * (square - noise) for share, square, noise in parts if noise is not None)
    return max(total, 0.0) ** 0.5


def _debiased_in_each_bin(scores: Floats, hits: Hits) -> float:
    bins = np.searchsorted(_quantile_edges(scores), scores, "right")
    parts = _squares_less_noise(scores, hits, bins)
    return sum(share * max(square - (noise or 0.0), 0.0) ** 0.5 for share, square, noise in parts)


def _quantile_sweep(scores: Floats, hits: Hits) -> float:
    chosen = np.zeros(scores.size, int)
    for b in range(2, min(scores.size, 100) + 1):
        bins = np.searchsorted(_quantile_edges(scores, b), scores, "right")
        if np.any(np.diff([hits[bins == k].mean() for k in np.unique(bins)]) < 0):
            break
        chosen = bins
    return _error(scores, hits, chosen, 2)


def _one_sided(scores: Floats, hits: Hits) -> float:
    variance = np.sum((1 - 2 * scores) ** 2 * scores * (1 - scores))
    return stats.norm.sf(np.sum((hits - scores) * (1 - 2 * scores)) / np.sqrt(variance))


def _walk(scores: Floats, hits: Hits, order: NDArray[np.intp]) -> Floats:
    """Return the path of cumulative gaps, from 0, in an order of the rows."""
    return np.concatenate([[0.0], np.cumsum((hits - scores)[order]) / scores.size])


def _in_input_order(scores: Floats, hits: Hits) -> Floats:
    return _walk(scores, hits, np.argsort(scores, kind="stable"))


def _by_jitter(scores: Floats, hits: Hits) -> Floats:
    jittered = scores * (1 + 1e-8 * np.random.RandomState(1).normal(size=scores.size))
    return _walk(jittered, hits, np.argsort(jittered))


def _in_sigmas(scores: Floats, largest: float) -> float:
    return largest / (np.sqrt(np.sum(scores * (1 - scores))) / scores.size)


def _mad_p_by_jitter(scores: Floats, hits: Hits) -> float:
    k = 2 * np.arange(200) + 1
    ratio = _in_sigmas(scores, np.abs(_by_jitter(scores, hits)).max())
    return 1 - 4 / np.pi * np.sum((-1.0) ** (k // 2) / k * np.exp(-((k * np.pi / ratio) ** 2) / 8))


def _range_p(scores: Floats, path: Floats) -> float:
    k = np.arange(1, 200)
    return 8 * np.sum((-1.0) ** (k - 1) * k * stats.norm.sf(k * _in_sigmas(scores, np.ptp(path))))


def _hosmer_lemeshow_without_the_lowest(scores: Floats, hits: Hits) -> float:
    scores, hits, bins = _above_the_lowest(scores, hits)
    total, groups = 0.0, np.unique(bins)
    for k in groups:
        inside = bins == k
        mean, share = (np.clip(x[inside].mean(), 1e-7, 1 - 1e-7) for x in (scores, hits))
        total += inside.sum() * (share - mean) ** 2 / (mean * (1 - mean))
    return stats.chi2.sf(total, groups.size - 2)


def _mmce_of_yes_or_no(scores: Floats, hits: Hits) -> float:
    gaps = (hits == (scores > 0.5)) - scores
    kernel = np.exp(-2.5 * np.abs(scores[:, None] - scores))
    return np.sqrt(gaps @ kernel @ gaps) / scores.size


def _logit_scale(scores: Floats, hits: Hits) -> float:
    """Return the σ at which ∫ |Σ_i K_σ(t − logit s_i)(y_i − s_i)| dt / n equals σ."""
    clipped = np.clip(scores, 1e-12, 1 - 1e-12)
    positions, masses = np.log(clipped / (1 - clipped)), (hits - clipped) / hits.size
    low, high = 1e-4, 2.0
    while high - low >= 1e-5:
        sigma = (low + high) / 2
        grid = np.linspace(positions.min() - 5 * sigma, positions.max() + 5 * sigma, 801)
        smoothed = np.abs(stats.norm.pdf((grid[:, None] - positions) / sigma) @ masses) / sigma
        low, high = (sigma, high) if np.trapezoid(smoothed, grid) > sigma else (low, sigma)
    return (low + high) / 2


_CLOSED = "its bins include the upper edge, so a score on an edge counts in the bin below"
_EDGES = (
    "its bin edges are interpolated quantiles of the scores; bins differ by a sample where the "
    "number of bins does not divide n, and equal scores stay together"
)
_CLIPPED = f"{_EDGES}; scores are first moved to at least 1e-12 from 0 and 1"
_FIRST = "the first bins take one sample more each; equal scores stay together"
_JITTER = "equal scores are ordered by a small noise of a fixed seed, and are not one step"
_ORDER = "equal scores are not one step: the value depends on the order of the rows"
_FOURTEEN = f"num_bins={BINS} makes {BINS - 1} bins"
_KUMAR = "uncertainty-calibration"
_closed = _binned(_equal_width(BINS + 1))
_range_in_input_order = (_ORDER, lambda scores, hits: np.ptp(_in_input_order(scores, hits)))
CAUSES: dict[tuple[str, str], tuple[str, Definition]] = {
    ("scikit-learn", "ece_width"): (_CLOSED, _closed),
    ("calzone-tool", "ece_width"): (f"{_CLOSED}; a score of 0 is lost", _above_zero),
    (_KUMAR, "ece_width"): (_CLOSED, _closed),
    ("mapie", "ece_width"): (
        f"{_FOURTEEN}: the number counts the edges; {_CLOSED}",
        _binned(_equal_width(BINS)),
    ),
    ("mapie", "ece_mass"): (
        f"{_FOURTEEN}, from quantiles; the lowest score has one alone",
        _binned(lambda scores: np.percentile(scores, 100 * np.linspace(0, 1, BINS))),
    ),
    ("mapie", "spiegelhalter_p"): (
        "its p-value is one-sided: an underconfident model is never found",
        _one_sided,
    ),
    ("scikit-learn", "ece_mass"): (f"{_EDGES}; {_CLOSED}", _binned(_quantile_edges)),
    ("netcal", "ece_mass"): (_EDGES, _binned(_quantile_edges, "right")),
    ("probcal", "ece_mass"): (_CLIPPED, _clipped(_binned(_quantile_edges, "right"))),
    ("probcal", "ece_mass_l2"): (_CLIPPED, _clipped(_binned(_quantile_edges, "right", 2))),
    ("mcgrad", "ece_mass"): (
        f"{_EDGES}; pandas rounds the edges to three digits",
        _binned(lambda s: np.sort(pd.qcut(s, BINS, duplicates="drop").categories.left), "right"),
    ),
    ("calzone-tool", "ece_mass"): (
        f"{_EDGES}; its lowest bin excludes the lowest score, which is lost",
        lambda scores, hits: _error(*_above_the_lowest(scores, hits)),
    ),
    (_KUMAR, "ece_mass"): (_FIRST, _binned(_midpoint_edges)),
    (_KUMAR, "ece_mass_l2"): (_FIRST, _binned(_midpoint_edges, norm=2)),
    (_KUMAR, "debiased_mass_l2"): (_FIRST, _midpoints_debiased),
    ("probcal", "debiased_mass_l2"): (
        "it subtracts the noise in each bin, cuts at 0 there and averages the roots: an ℓ1 error "
        "that keeps its bias, not the debiased ℓ2 error",
        _clipped(_debiased_in_each_bin),
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
        _binned(lambda scores: np.linspace(0, 1, BINS + 1), "right", 2),
    ),
    ("mapie", "mad_p"): (_JITTER, _mad_p_by_jitter),
    ("mapie", "range_p"): (
        f"{_JITTER}; the walk does not start at 0, so the range may leave 0 out",
        lambda scores, hits: _range_p(scores, _by_jitter(scores, hits)[1:]),
    ),
    ("mcgrad", "range_p"): (
        _ORDER,
        lambda scores, hits: _range_p(scores, _in_input_order(scores, hits)),
    ),
    ("calzone-tool", "hosmer_lemeshow_p"): (
        "as many degrees of freedom as bins less 2, which is right for the data of the fit; 15 "
        "bins where calbias has 10, and the lowest score is lost",
        _hosmer_lemeshow_without_the_lowest,
    ),
    ("netcal", "mmce"): (
        "scores alone are taken as a yes-or-no model's: below 0.5 a miss counts as a hit",
        _mmce_of_yes_or_no,
    ),
    ("mcgrad", "range"): _range_in_input_order,
    ("probmetrics", "range"): _range_in_input_order,
}
"""{(peer, quantity): (cause, the peer's definition)}."""

TOLERANCE = {
    ("probcal", "smece"): 3e-4,  # it bisects to 1e-4, on a lattice
    ("mcgrad", "range_p"): 3e-2,
    ("mcgrad", "range"): 5e-3,  # its sort is not stable: the order within ties is the machine's
    ("probmetrics", "range"): 5e-3,
}
"""How near the definition has to come to the printed number, where that is not 1e-6."""
