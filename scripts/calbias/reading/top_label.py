"""Top-label scores of a model's logits: the score c, log c, log(1 - c) and the hit.

Every estimator and fit sees a model only through its top label (Roelofs et al. 2022, section 2).
Near 1 the float64 ``c`` rounds and ``log(1 - c)`` carries the information, so both logarithms
are made from the logits and never from the rounded score.

A ``TopLabel`` is no ``Scored``: its rows stand in the order in which they were given, as their
labels, clusters and subgroups do.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calbias.errors import InputError
from calbias.truth.curves import score as score_from_logs

_DIGITS = 9  # of scores that the order of a sum changes in the last digit
_ELEMENTS = 2**20  # logits worked on at a time: 8 MiB in float64
REDUCTION_2020 = 1e-16
"""What the published fits take off a float64 score, so that none equals 1."""


class TopLabel(NamedTuple):
    """The top label of n samples, one array of shape (n,) each.

    Attributes
    ----------
    score, log_score, log1m_score : ndarray of float64
        c in (0, 1], log c and log(1 - c).
    hit : ndarray of uint8
        1 where the top class is the label, else 0.
    """

    score: np.ndarray
    log_score: np.ndarray
    log1m_score: np.ndarray
    hit: np.ndarray


def top_label(logits: np.ndarray, labels: np.ndarray, softmax: str = "exact") -> TopLabel:
    """Reduce logits of shape (n, K) and labels of shape (n,) or (n, 1) to a ``TopLabel``.

    The top class is the argmax of the logits; among tied classes, the first.

    ``softmax="exact"`` works in float64: log(1 - c) is the logsumexp of the other classes minus
    the logsumexp of all. A score rounds to 1.0 where 1 - c < 1e-16, and its ``log1m_score`` stays
    exact; it is -inf only where every other logit is.

    ``softmax="float32_2020"`` is the convention behind the published Table 2: SciPy's softmax of
    before 2022, exp(z - log(sum(exp(z)))) with the maximum taken out inside, in float32, then cast
    to float64 and reduced by 1e-16. The logarithms are of the reduced score. Scores that
    float32 had rounded to 1 all become ``1 - REDUCTION_2020``, with log1m_score = -36.7: none
    stays at 1, and whoever drops the scores equal to 1, as the published GLM fits did, drops these.

    Raises InputError for a row with NaN or +inf.
    """
    logits, labels = np.asarray(logits), np.asarray(labels).reshape(-1)
    # The largest logit of a row is NaN or +inf exactly when one of the row is; -inf in all is no
    # distribution either.
    finite = np.isfinite(logits.max(axis=1))
    if not finite.all():
        row = int(np.argmin(finite))
        raise InputError(f"logits, row {row} (counted from 0): NaN or infinite; correct that row")
    n = len(logits)
    reduce = {"exact": _exact, "float32_2020": _float32_2020}[softmax]
    scores, log_scores, log1m_score = np.empty((3, n))
    hits = np.empty(n, dtype=np.uint8)
    for rows in row_blocks(logits):
        top = np.argmax(logits[rows], axis=1)
        hits[rows] = top == labels[rows]
        scores[rows], log_scores[rows], log1m_score[rows] = reduce(logits[rows], top)
    return TopLabel(scores, log_scores, log1m_score, hits)


def top_label_of_scores(score: ArrayLike, hit: ArrayLike) -> TopLabel:
    """Return the ``TopLabel`` of scores in [0, 1] and hits, (n,), where no logits are known.

    The logarithms are of the scores as given: of a score of 1, log(1 - c) is -inf.
    """
    score = np.asarray(score, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return TopLabel(score, np.log(score), np.log1p(-score), np.asarray(hit, dtype=np.uint8))


def row_blocks(logits: np.ndarray) -> Iterator[slice]:
    """Yield slices of rows of an array (n, K) that hold about a million elements each."""
    n, n_classes = logits.shape
    step = max(1, _ELEMENTS // n_classes)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def _exact(logits: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return c, log c and log(1 - c) in float64 for rows of logits with their top classes."""
    z = logits.astype(np.float64)
    rows = np.arange(len(z))
    z -= z[rows, top][:, None]
    z[rows, top] = -np.inf
    # Log odds of a miss: the logsumexp of the other classes, the top logit being 0.
    runner_up = z.max(axis=1)
    anchor = np.where(np.isfinite(runner_up), runner_up, 0.0)
    z -= anchor[:, None]
    with np.errstate(divide="ignore"):
        log_odds = anchor + np.log(np.exp(z, out=z).sum(axis=1))
    log_score = -np.logaddexp(0.0, log_odds)
    log1m_score = log_odds + log_score
    return score_from_logs(log_score, log1m_score), log_score, log1m_score


def _float32_2020(logits: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return c, log c and log(1 - c) of the float32 softmax that SciPy had before 2022."""
    z = np.ascontiguousarray(logits, dtype=np.float32)
    largest = z[np.arange(len(z)), top][:, None]
    log_total = np.log(np.sum(np.exp(z - largest), axis=1, keepdims=True)) + largest
    score = np.exp(largest - log_total)[:, 0].astype(np.float64) - REDUCTION_2020
    return score, np.log(score), np.log1p(-score)


def log_totals(logits: np.ndarray) -> np.ndarray:
    """Return the logsumexp of each row of logits (n, K), (n,) float64."""
    totals = np.empty(len(logits))
    for rows in row_blocks(logits):
        z = logits[rows].astype(np.float64)
        largest = z.max(axis=1)
        z -= largest[:, None]
        totals[rows] = largest + np.log(np.exp(z, out=z).sum(axis=1))
    return totals


def tied_rows(values: np.ndarray) -> np.ndarray:
    """Return the rows (n, K) with more than one largest value."""
    return np.flatnonzero((values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1)


def share_ties(top: TopLabel, values: np.ndarray, labels: np.ndarray) -> TopLabel:
    """Return the top labels of values (n, K) with the hits of tied rows by their share.

    Which of the tied classes is the top one would follow from the numbering of the classes. A row
    of k tied classes, one of which is the label, counts as 1/k of a hit instead: of such rows every
    k-th is a hit, in the order of their scores.
    """
    rows = tied_rows(values)
    if not rows.size:
        return top
    rows = rows[np.argsort(np.round(top.score[rows], _DIGITS), kind="stable")]
    is_top = values[rows] == values[rows].max(axis=1, keepdims=True)
    chance = is_top[np.arange(rows.size), labels[rows]] / is_top.sum(axis=1)
    expected = np.floor(np.round(np.cumsum(chance), _DIGITS) + 0.5)
    hit = top.hit.copy()
    hit[rows] = np.diff(expected, prepend=0.0).astype(np.uint8)
    return top._replace(hit=hit)
