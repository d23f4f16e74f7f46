"""The six binned estimators in vectorised NumPy: the baseline that needs no compiler."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def six_binned(scores: Floats, hits: NDArray, n_bins: int = 15) -> dict[str, Floats]:
    """Return {estimator: (m,)} of ece_bin, ece_debias and ece_sweep, ew and em, at p = 2.

    ``scores`` and ``hits`` (m, n) are in any order, without ties; estimates are fractions.
    """
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    hits = np.take_along_axis(hits, order, axis=1).astype(float)
    sums = _partial_sums(np.ones_like(hits)), _partial_sums(scores), _partial_sums(hits)
    results = {}
    for name, edges_of in (("ew", _equal_width), ("em", _equal_mass)):
        size, gap, hit = _bin_means(sums, edges_of(scores, n_bins))
        square = np.sum(size * gap**2, axis=1) / scores.shape[1]
        spread = np.where(size > 1, hit * (1 - hit) / np.maximum(size - 1, 1), 0.0)
        debiased = np.sum(np.where(size > 1, size * (gap**2 - spread), 0.0), axis=1)
        results[f"ece_bin_{name}"] = np.sqrt(square)
        results[f"ece_debias_{name}"] = np.sqrt(np.maximum(debiased / scores.shape[1], 0.0))
        results[f"ece_sweep_{name}"] = _sweep(scores, sums, edges_of)
    return results


def _partial_sums(values: Floats) -> Floats:
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)


def _equal_mass(scores: Floats, n_bins: int) -> Ints:
    """Return the ranks (m, b + 1) where bins of equal mass begin."""
    n = scores.shape[1]
    edges = (np.arange(n_bins + 1) * n + n_bins - 1) // n_bins
    return np.broadcast_to(edges, (len(scores), n_bins + 1))


def _equal_width(scores: Floats, n_bins: int) -> Ints:
    inner = np.arange(1, n_bins) / n_bins
    edges = np.array([np.searchsorted(row, inner) for row in scores]).reshape(len(scores), -1)
    ends = np.zeros((len(scores), 1), int), np.full((len(scores), 1), scores.shape[1])
    return np.concatenate([ends[0], edges, ends[1]], axis=1)


def _bin_means(sums: Sequence[Floats], edges: Ints) -> tuple[Floats, Floats, Floats]:
    """Return (size, mean score - mean hit, mean hit) of each bin, (m, b); 0 where it is empty."""
    size, score, hit = (np.diff(np.take_along_axis(s, edges, axis=1), axis=1) for s in sums)
    safe = np.maximum(size, 1)
    return size, (score - hit) / safe, hit / safe


def _sweep(
    scores: Floats, sums: Sequence[Floats], edges_of: Callable[[Floats, int], Ints]
) -> Floats:
    """Return the sweep's estimates, all data sets side by side until the last one stops."""
    m, n = scores.shape
    chosen, going = np.ones(m, int), np.arange(m)
    for b in range(2, n + 1):
        size, _, hit = _bin_means([s[going] for s in sums], edges_of(scores[going], b))
        hit = np.where(size > 0, np.round(hit * size) / np.maximum(size, 1), -np.inf)
        before = np.maximum.accumulate(hit, axis=1)[:, :-1]  # empty bins are skipped
        falls = (size[:, 1:] > 0) & (hit[:, 1:] < before - 1e-12)
        going = going[~falls.any(axis=1)]
        chosen[going] = b
        if going.size == 0:
            break
    estimates = np.empty(m)
    for b in np.unique(chosen):
        rows = chosen == b
        size, gap, _ = _bin_means([s[rows] for s in sums], edges_of(scores[rows], b))
        estimates[rows] = np.sqrt(np.sum(size * gap**2, axis=1) / n)
    return estimates
