"""Several classes by a method for two: one class against the rest, then renormalised.

Guo et al. 2017, section 4.2, "Extension of binning methods": a binary method is fitted to the
probability of each class; its outputs, divided by their sum, are the new probabilities.
"""

import numpy as np

from calbias.recalibration.chunks import log_totals, row_chunks

_CLASSES_AT_A_TIME = 32


def fit_one_vs_rest(fit_binary, logits, labels):
    """Return ``transform(logits) -> logits`` from logits (n, K) and labels (n,), one map a class.

    ``fit_binary(scores, hits)`` returns a map of scores (m,) to scores. The transform returns the
    logarithms of the maps' outputs, (m, K) float64, -inf for 0: their softmax renormalises. A row
    to which every class assigns 0 keeps its uncalibrated probabilities.
    """
    totals = log_totals(logits)
    maps = []
    for start in range(0, logits.shape[1], _CLASSES_AT_A_TIME):
        columns = logits[:, start : start + _CLASSES_AT_A_TIME].T.astype(np.float64)
        scores = np.exp(columns - totals)
        for k, scores_of_class in enumerate(scores, start):
            maps.append(fit_binary(scores_of_class, (labels == k).astype(np.float64)))

    def transform(new_logits):
        out = np.empty(new_logits.shape)
        for rows in row_chunks(new_logits):
            out[rows] = _mapped(maps, new_logits[rows])
        return out

    return transform


def _mapped(maps, logits):
    log_scores = logits.astype(np.float64)
    log_scores -= log_totals(logits)[:, None]
    scores = np.exp(log_scores.T, order="C")
    for k, map_of_class in enumerate(maps):
        scores[k] = map_of_class(scores[k])
    nothing = ~scores.any(axis=0)
    with np.errstate(divide="ignore"):
        np.log(scores, out=scores)
    scores[:, nothing] = log_scores[nothing].T
    return scores.T
