"""Methods for two classes, applied to a model of many: to each class, or to one score alone.

A method for two classes is ``fit_binary(scores, hits)``, scores (n,) in [0, 1] and hits 0 or 1: it
returns an object whose ``predict(scores)`` gives the recalibrated scores (m,).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from calbias.reading.top_label import log_totals
from calbias.recalibration.spline import fit_binary as fit_spline_of_score
from reproduction.ranked import ranked_hits, ranked_scores

_CLASSES_AT_A_TIME = 32


def fit_classes(
    fit_binary: Callable[..., Any],
    logits: np.ndarray,
    labels: np.ndarray,
    top_label_only: bool = False,
    **options: Any,
) -> Any:
    """Fit to logits (n, K) and labels (n,), one class against the rest, or the top label alone."""
    fit = fit_one_score if top_label_only else fit_one_vs_rest
    return fit(partial(fit_binary, **options), logits, labels)


class OneVsRest(NamedTuple):
    """A map of scores for each class; their K outputs are divided by their sum."""

    maps: list

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return the log of the maps' outputs, (n, K), -inf for 0: the softmax renormalises."""
        out = np.empty(logits.shape)
        nothing = np.ones(len(logits), bool)
        totals = log_totals(logits)
        for start, log_scores in _columns(logits, totals):
            scores = np.exp(log_scores)
            for k, class_scores in enumerate(scores, start):
                class_scores[:] = self.maps[k].predict(class_scores)
            nothing &= ~scores.any(axis=0)
            with np.errstate(divide="ignore"):
                out[:, start : start + len(scores)] = np.log(scores, out=scores).T
        # these rows keep their uncalibrated probabilities
        out[nothing] = logits[nothing].astype(np.float64) - totals[nothing, None]
        return out


def fit_one_vs_rest(fit_binary: Callable[..., Any], logits: np.ndarray, labels: np.ndarray) -> Any:
    """Return the ``OneVsRest`` of each class's probability (Guo et al. 2017, section 4.2)."""
    maps = []
    for start, log_scores in _columns(logits, log_totals(logits)):
        for k, scores in enumerate(np.exp(log_scores), start):
            maps.append(fit_binary(scores, (labels == k).astype(np.float64)))
    return OneVsRest(maps)


def _columns(logits: np.ndarray, totals: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield a first class with the log scores (k, n) of it and of the next ones."""
    for start in range(0, logits.shape[1], _CLASSES_AT_A_TIME):
        columns = logits[:, start : start + _CLASSES_AT_A_TIME].T.astype(np.float64, order="C")
        columns -= totals
        yield start, columns


class OneScore(NamedTuple):
    """A map of the score of rank ``rank``, or of the sum of the ``rank`` largest (``within``)."""

    map: Any
    rank: int
    within: bool

    def predict(self, logits: np.ndarray) -> np.ndarray:
        """Return the recalibrated scores, (n,); the classes keep their order."""
        return self.map.predict(ranked_scores(logits, self.rank, self.within))


def fit_one_score(
    fit_binary: Callable[..., Any],
    logits: np.ndarray,
    labels: np.ndarray,
    rank: int = 1,
    within: bool = False,
) -> Any:
    """Return the ``OneScore`` of logits (n, K) and labels (n,); rank 1 is the top label's score."""
    scores = ranked_scores(logits, rank, within)
    return OneScore(
        fit_binary(scores, ranked_hits(logits, labels, rank, within).astype(np.float64)),
        rank,
        within,
    )


def fit_spline(
    logits: np.ndarray,
    labels: np.ndarray,
    rank: int = 1,
    within: bool = False,
    n_knots: int = 6,
    add_score: bool = True,
) -> Any:
    """Fit a spline to the score of a rank, or to the sum of the ``rank`` largest (``within``).

    Gupta et al. 2021, section 4; the fit is ``calbias.recalibration.spline``.
    """
    return fit_one_score(
        lambda scores, hits: fit_spline_of_score(scores, hits, n_knots, add_score),
        logits,
        labels,
        rank,
        within,
    )


class Steps(NamedTuple):
    """A step function of a score: ``values`` (b,) between ``edges`` (b - 1,), an edge above."""

    edges: np.ndarray
    values: np.ndarray

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the value of the bin of each score, (m,)."""
        return self.values[bins_of(scores, self.edges)]


def bins_of(scores: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the bin of each score, (m,): the number of ascending edges not above it."""
    bins = np.zeros(scores.shape, np.intp)
    if edges.size:  # of a thousand classes most scores are below the first edge
        above = np.flatnonzero(scores >= edges[0])
        bins[above] = np.searchsorted(edges, scores[above], side="right")
    return bins
