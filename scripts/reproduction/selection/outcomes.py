"""A recalibrated model on the test fold: its top labels, accuracy and likelihood."""

from typing import NamedTuple

import numpy as np

from calbias.logits.top_label import TopLabel, row_blocks, top_label
from reproduction.ranked import ranked_hits
from reproduction.recalibration.registry import load_method

LOWEST_LOG_PROBABILITY = float(np.log(np.finfo(np.float64).eps))
"""The log probability that a label of probability 0 counts with: of 2^-52, as
scikit-learn's ``log_loss`` has it."""


class Outcome(NamedTuple):
    """The ``TopLabel`` of n samples, and the labels' mean negative log-likelihood or NaN."""

    top: TopLabel
    nll: float


def outcome_of(calibrator, fold, softmax="exact"):
    """Return the ``Outcome`` of a fitted method on a fold (logits, labels), in blocks of rows."""
    parts, nll = [], 0.0
    for rows in row_blocks(fold.logits):
        logits, labels = fold.logits[rows], fold.labels[rows]
        z = calibrator.predict(logits)
        if z.ndim == 1:
            parts.append(_of_score(z, logits, labels))
            nll = float("nan")
            continue
        top = top_label(z, labels, softmax)
        log_odds_of_label = z[np.arange(len(z)), labels].astype(np.float64) - z.max(axis=1)
        nll -= np.maximum(top.log_score + log_odds_of_label, LOWEST_LOG_PROBABILITY).sum()
        parts.append(top)
    joined = TopLabel(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    return Outcome(joined, float(nll / len(joined.hit)))


def outcomes(validation, test, methods, softmax="exact"):
    """Return {method: ``Outcome``}: each fitted on one fold and judged on the other."""
    return {
        method: outcome_of(load_method(method)(*validation), test, softmax) for method in methods
    }


def _of_score(score, logits, labels):
    """Return the ``TopLabel`` of recalibrated top-label scores (n,): the top class stays."""
    with np.errstate(divide="ignore"):
        return TopLabel(score, np.log(score), np.log1p(-score), ranked_hits(logits, labels))
