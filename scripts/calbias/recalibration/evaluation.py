"""A recalibrated model on the test fold: its top labels, accuracy and likelihood."""

from typing import NamedTuple

import numpy as np

from calbias.logits.top_label import TopLabel, top_label
from calbias.recalibration.chunks import row_chunks

LOWEST_LOG_PROBABILITY = float(np.log(np.finfo(np.float64).eps))
"""The log probability that a label of probability 0 counts with: that of 2^-52, as
scikit-learn's ``log_loss`` has it."""


class Outcome(NamedTuple):
    """The ``TopLabel`` of n samples and the mean negative log-likelihood of their labels, nats.

    ``nll`` is NaN where the method gives the top label's probability only.
    """

    top: TopLabel
    nll: float


def judge(transform, fold, softmax="exact"):
    """Return the ``Outcome`` of ``transform(logits) -> logits`` on a fold (logits, labels).

    A label of probability 0 counts as one of 2^-52. Logits are transformed in blocks of rows.
    """
    parts, nll = [], 0.0
    for rows in row_chunks(fold.logits):
        z, labels = transform(fold.logits[rows]), fold.labels[rows]
        top = top_label(z, labels, softmax)
        log_odds_of_label = z[np.arange(len(z)), labels].astype(np.float64) - z.max(axis=1)
        nll -= np.maximum(top.log_score + log_odds_of_label, LOWEST_LOG_PROBABILITY).sum()
        parts.append(top)
    joined = TopLabel(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    return Outcome(joined, float(nll / len(joined.hit)))


def judge_top_label(fit_binary, validation, test):
    """Return the ``Outcome`` of a binary method applied to the top label's score alone.

    ``fit_binary(scores, hits)`` is fitted to the validation fold's ``TopLabel``; the map that it
    returns is applied to the test fold's scores. The top class, and so the accuracy, stays.
    """
    score = fit_binary(validation.score, validation.hit.astype(np.float64))(test.score)
    with np.errstate(divide="ignore"):
        top = TopLabel(score, np.log(score), np.log1p(-score), test.hit)
    return Outcome(top, float("nan"))


class Ties(NamedTuple):
    """How tied n scores are: distinct scores, and the fraction of rows that share the commonest."""

    n_distinct: int
    largest_atom: float


def ties_of(top):
    """Return the ``Ties`` of a ``TopLabel``, by its float64 score."""
    counts = np.unique(top.score, return_counts=True)[1]
    return Ties(len(counts), float(counts.max() / len(top.score)))
