"""The CORP reliability diagram: isotonic regression of the hits, with a consistency band.

Dimitriadis, Gneiting and Jordan, *Stable reliability diagrams for probabilistic classifiers* (PNAS
2021): the bins are the pools of the isotonic fit, so nobody chooses them, and its Brier score makes
Brier = MCB − DSC + UNC. The band has the isotonic fits of hits redrawn from the scores, which are
kept, at the mean score of each bin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calbias.auditing.error.bins import joined_scores
from calbias.auditing.inputs import prepared
from calbias.auditing.risk_model import Outcomes, brier_parts
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.engine.scores_and_hits import validate_level, validate_whole
from calbias.engine.seeding import stream
from calbias.recalibration.isotonic import nondecreasing
from calbias.samples.by_score import Scored


class CorpDiagram(NamedTuple):
    """The bins of a CORP diagram, arrays (b,), and the parts of the Brier score; fractions.

    Attributes
    ----------
    lowest_score, highest_score : ndarray
        Of the rows in a bin.
    n_in_bin : ndarray of int
    mean_score, mean_hit : ndarray
        The mean score and the share of hits of the rows in a bin; both rise from bin to bin.
    band_low, band_high : ndarray
        The limits between which the isotonic fit of a calibrated model lies at ``mean_score``, with
        the probability asked for. They hold for one bin at a time.
    miscalibration, discrimination, uncertainty : float
        MCB, DSC and UNC. MCB counts noise as miscalibration.
    """

    lowest_score: np.ndarray
    highest_score: np.ndarray
    n_in_bin: np.ndarray
    mean_score: np.ndarray
    mean_hit: np.ndarray
    band_low: np.ndarray
    band_high: np.ndarray
    miscalibration: float
    discrimination: float
    uncertainty: float


def corp_diagram(
    scores: ArrayLike | None = None,
    hits: ArrayLike | None = None,
    *,
    logits: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    confidence_level: float = CONFIDENCE_LEVEL,
    replicates: int = 1000,
    seed: int = 0,
) -> CorpDiagram:
    """Return the reliability diagram by isotonic regression, with a consistency band.

    Parameters
    ----------
    scores, hits, logits, probabilities, labels
        The model's outputs, as for ``calbias.estimate``.
    confidence_level : float, default 0.95
        The probability of the band, above 0 and below 1.
    replicates : int, default 1000
        The number of data sets that the band is simulated from.
    seed : int, default 0

    Returns
    -------
    CorpDiagram

    Raises
    ------
    InputError
        For input that is not of this form.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021). Stable reliability diagrams for probabilistic
    classifiers. PNAS 118.

    Examples
    --------
    >>> import calbias
    >>> diagram = calbias.corp_diagram([0.1, 0.3, 0.4, 0.8], [0, 1, 0, 1])
    >>> diagram.mean_score.round(2), diagram.mean_hit
    (array([0.1 , 0.35, 0.8 ]), array([0. , 0.5, 1. ]))
    >>> diagram.discrimination, diagram.uncertainty
    (0.125, 0.25)
    """
    validate_whole("replicates", replicates, 1)
    validate_whole("seed", seed, 0)
    validate_level(confidence_level)
    scored = prepared(scores, hits, probabilities, logits, labels).scored
    return corp_of(scored, confidence_level, replicates, seed)


def corp_of(
    scored: Scored, level: float, replicates: int, seed: int, most_cells: int | None = None
) -> CorpDiagram:
    """Return the diagram of a Scored; its hits are redrawn in at most so many cells of scores."""
    sample = scored.by_score
    s, rows, outcomes = sample.scores, sample.rows, Outcomes.of(sample)
    fitted = nondecreasing(sample.hits / rows, rows)
    starts = np.flatnonzero(np.append(True, fitted[1:] > fitted[:-1]))
    size, total = (np.add.reduceat(x, starts) for x in (rows, rows * s))
    mean_score, mean_hit = total / size, fitted[starts]
    generator = stream(seed, "corp", str(sample.n))
    cells = joined_scores(sample, most_cells) if most_cells else (s, rows)
    fits = np.stack(
        [
            np.interp(
                mean_score,
                cells[0],
                nondecreasing(generator.binomial(*cells[::-1]) / cells[1], cells[1]),
            )
            for _ in range(replicates)
        ]
    )
    band = np.quantile(fits, [(1.0 - level) / 2, (1.0 + level) / 2], axis=0)
    _, *parts = brier_parts(outcomes, np.interp(outcomes.s, s, fitted))
    stops = np.append(starts[1:], s.size) - 1
    return CorpDiagram(s[starts], s[stops], size, mean_score, mean_hit, *band, *parts)
