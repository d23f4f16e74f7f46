"""The reliability diagram: mean hit against mean score, and where it would be if calibrated."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calbias.auditing.inputs import prepared
from calbias.defaults import CONFIDENCE_LEVEL, N_BINS
from calbias.engine.scores_and_hits import (
    checked_weights,
    validate_level,
    validate_options,
    validate_same_order,
    validate_whole,
)
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import IS_EQUAL_MASS
from calbias.errors import InputError
from calbias.samples.by_score import Scored

_NUMBERS = 1 << 22  # drawn at once


class ReliabilityDiagram(NamedTuple):
    """The bins of a reliability diagram that hold samples; arrays (b,), fractions.

    Attributes
    ----------
    lowest_score, highest_score : ndarray
        Of the samples in a bin.
    n_in_bin : ndarray of int
    mean_score, mean_hit : ndarray
        The mean confidence and the accuracy of the samples in a bin.
    band_low, band_high : ndarray
        The limits between which the accuracy of a bin lies, with the probability asked for, if the
        model is calibrated. They hold for one bin at a time.
    """

    lowest_score: np.ndarray
    highest_score: np.ndarray
    n_in_bin: np.ndarray
    mean_score: np.ndarray
    mean_hit: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray


def reliability_diagram(
    scores: ArrayLike | None = None,
    hits: ArrayLike | None = None,
    *,
    n_bins: int = N_BINS,
    binning: Literal["equal_width", "equal_mass"] = "equal_width",
    logits: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    replicates: int = 1000,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
) -> ReliabilityDiagram:
    """Return accuracy against confidence in bins, with a consistency band.

    The band redraws hits and keeps the scores; Bröcker and Smith resample the scores too.

    Parameters
    ----------
    scores, hits, logits, probabilities, labels
        The model's outputs, as for ``calbias.estimate``.
    n_bins : int, default 15
    binning : {"equal_width", "equal_mass"}, default "equal_width"
        Bins [k/n_bins, (k + 1)/n_bins) of the score, or bins of as many samples each.
    confidence_level : float, default 0.95
        The probability of the band, above 0 and below 1.
    replicates : int, default 1000
        The number of data sets that the band is simulated from.
    seed : int, default 0
    sample_weight : array_like, shape (n,), optional
        Weights as for ``calbias.estimate``; means and the band are weighted, ``n_in_bin`` counts
        rows.

    Returns
    -------
    ReliabilityDiagram

    Raises
    ------
    InputError
        For input that is not of this form.

    References
    ----------
    Bröcker and Smith (2007). Increasing the reliability of reliability diagrams. Weather and
    Forecasting 22.

    Examples
    --------
    >>> import calbias
    >>> diagram = calbias.reliability_diagram([0.3, 0.4, 0.8, 0.9], [0, 1, 1, 1], n_bins=2)
    >>> diagram.mean_score.round(2), diagram.mean_hit
    (array([0.35, 0.85]), array([0.5, 1. ]))
    """
    validate_options(n_bins, None)
    validate_whole("replicates", replicates, 1)
    validate_whole("seed", seed, 0)
    if binning not in IS_EQUAL_MASS:
        raise InputError(f"binning must be {' or '.join(IS_EQUAL_MASS)}, not {binning!r:.60}")
    validate_level(confidence_level)
    validate_same_order(
        scores=scores, hits=hits, logits=logits, probabilities=probabilities, labels=labels,
        sample_weight=sample_weight,
    )  # fmt: skip
    rows = prepared(scores, hits, probabilities, logits, labels).single
    n = rows.hit.size
    weights = np.ones(n) if sample_weight is None else checked_weights(sample_weight, n)
    bins = int(n_bins), binning
    return _diagram(weights, rows.score, rows.hit, *bins, confidence_level, replicates, seed)


def _diagram(
    weights: np.ndarray, scores: np.ndarray, hits: np.ndarray, n_bins: int, binning: str,
    level: float, replicates: int, seed: int,
) -> ReliabilityDiagram:  # fmt: skip
    scored = Scored.weighted(scores, hits, weights)
    order = np.lexsort((hits, weights, scores))
    order = order[weights[order] > 0]
    scores, weights = scores[order], weights[order]
    starts = scored.starts(n_bins, binning)
    ranks = np.append(0, np.cumsum(scored.counts))[np.append(starts, scored.scores.size)]
    columns = (scored.rows, scored.hits, scored.gaps)
    weight, hit, gap = (np.add.reduceat(column, starts) for column in columns)
    means = redrawn_means(scores, weights, ranks[:-1], weight, replicates, seed)
    band = np.quantile(means, [(1.0 - level) / 2, (1.0 + level) / 2], axis=0)
    ends = scores[ranks[:-1]], scores[ranks[1:] - 1]
    return ReliabilityDiagram(*ends, np.diff(ranks), (gap + hit) / weight, hit / weight, *band)


def redrawn_means(
    scores: np.ndarray, weights: np.ndarray, starts: np.ndarray, weight: np.ndarray,
    replicates: int, seed: int,
) -> np.ndarray:  # fmt: skip
    """Return the weighted mean hits (replicates, b) of bins of a calibrated model."""
    generator = stream(seed, "band", str(scores.size))
    means, step = np.empty((replicates, starts.size)), max(1, _NUMBERS // scores.size)
    for first in range(0, replicates, step):
        part = means[first : first + step]
        drawn = generator.random((len(part), scores.size)) < scores
        part[:] = np.add.reduceat(drawn * weights, starts, axis=1) / weight
    return means
