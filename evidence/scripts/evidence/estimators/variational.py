"""The variational estimate: what a calibrator fitted on other rows gains, by cross-fitting.

    variational_*  1/n Σ sign(g(s_i) − s_i)·(y_i − s_i) at p = 1
    variational_*  1/n Σ [(y_i − s_i)² − (y_i − g(s_i))²] at p = 2

They are E|δ| if g − s has the sign of δ, and E δ² if g is the curve. g is fitted on the four folds
without row i; the folds take the ranks in turn. In expectation neither is above the truth, and both
are means over held-out rows, so that a lower confidence bound comes with them; both may be
negative. Berta, Bach and Jordan 2026; Gruber and Buettner (NeurIPS 2022).

``platt``     logistic regression on the log-odds of the score, with Platt's (1999) label targets
``isotonic``  pooled adjacent violators, linear between the scores it was fitted on
"""

import numpy as np

from calbias.engine.jit import njit
from calbias.engine.sorted_batch import Estimates, SortedBatch
from evidence.estimators.corp_mcb import pooled_means
from evidence.logistic_line import fill_line, fill_log_odds, fit_line

VARIANTS = {
    "variational_platt": {"calibrator": "platt"},
    "variational_isotonic": {"calibrator": "isotonic"},
}
TARGET = "lp_power"
NORMS = (1, 2)
BINS = "none"

N_FOLDS = 5


def estimate_data_sets(
    data: SortedBatch, n_bins: int = 0, norm: float = 2.0, calibrator: str = "platt"
) -> Estimates:
    """Return (estimates, bins used = 0), each (m,), for SortedBatch of m rows.

    A single sample cannot be left out: 0.
    """
    gains = held_out_gains(data, norm, calibrator)
    return gains.mean(axis=1), np.zeros(gains.shape[0], np.int64)


def held_out_gains(data: SortedBatch, norm: float, calibrator: str) -> np.ndarray:
    """Return each sample's gain, (m, n). The estimate is the mean gain."""
    labels = single_labels(data)
    gains = np.zeros(data.scores.shape)
    if data.scores.shape[1] > 1:
        _cross_fit(data.scores, labels, norm == 1.0, calibrator == "isotonic", gains)
    return gains


def single_labels(data: SortedBatch) -> np.ndarray:
    """Return the labels (m, n), 0 or 1, of a SortedBatch one by one.

    Where samples of equal scores have their mean label, a fit on some would see the labels of the
    others. Each group's hits are dealt out again, in an order that depends on the ranks alone.
    """
    labels = data.hits()
    if data.tie_first.shape[1] == 0:
        return labels
    generator = np.random.default_rng(0)
    for row in range(labels.shape[0]):
        scores = data.scores[row]
        starts = np.flatnonzero(np.r_[True, scores[1:] != scores[:-1]])
        ends = np.r_[starts[1:], scores.size]
        dealt = generator.bit_generator.state
        for start, end in zip(starts, ends, strict=True):
            if end - start > 1:
                n_hits = round(data.cum_hit[row, end] - data.cum_hit[row, start])
                labels[row, start:end] = generator.permutation(end - start) < n_hits
        generator.bit_generator.state = dealt  # rows do not depend on each other
    return labels


@njit
def _cross_fit(
    scores: np.ndarray, labels: np.ndarray, absolute: bool, isotonic: bool, gains: np.ndarray
) -> None:
    n = scores.shape[1]
    odds, x, y, fitted = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for row in range(scores.shape[0]):
        if not isotonic:
            fill_log_odds(scores[row], odds)
        for fold in range(min(N_FOLDS, n)):
            size = 0
            for start in range(-N_FOLDS + fold + 1, n, N_FOLDS):
                for i in range(max(start, 0), min(start + N_FOLDS - 1, n)):
                    x[size] = scores[row, i] if isotonic else odds[i]
                    y[size] = labels[row, i]
                    size += 1
            if isotonic:
                pooled_means(x[:size], y[:size], fitted[:size])
            else:
                a, b = fit_line(x[:size], y[:size], 1.0)
                size = 0
                for i in range(fold, n, N_FOLDS):
                    x[size] = odds[i]
                    size += 1
                fill_line(x[:size], a, b, fitted)
            at = 0
            for i in range(fold, n, N_FOLDS):
                score, label = scores[row, i], labels[row, i]
                g = fitted[i // N_FOLDS]
                if isotonic:
                    while at < size and x[at] < score:
                        at += 1
                    g = _between(x, fitted, at, size, score)
                if absolute:
                    gains[row, i] = (label - score) * (
                        1.0 if g > score else -1.0 if g < score else 0.0
                    )
                else:
                    gains[row, i] = (label - score) ** 2 - (label - g) ** 2


@njit(inline="always")
def _between(x: np.ndarray, fitted: np.ndarray, at: int, size: int, score: float) -> float:
    """Return the fit at a score whose next fitted rank is ``at``; constant beyond the ends."""
    if at == size:
        return fitted[size - 1]
    if at == 0 or x[at] == score:
        return fitted[at]
    share = min(max((score - x[at - 1]) / (x[at] - x[at - 1]), 0.0), 1.0)
    return fitted[at - 1] + share * (fitted[at] - fitted[at - 1])
