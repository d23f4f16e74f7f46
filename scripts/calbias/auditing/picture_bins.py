"""Bins of a reliability picture: narrow where scores crowd, and never across equal scores."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from calbias.conventions import CONFIDENCE_LEVEL
from calbias.scored import Scored

MOST_BINS, ROWS_PER_BIN = 20, 20


class PictureBins(NamedTuple):
    """Neighbouring scores with their share of hits; arrays (b,), fractions.

    Attributes
    ----------
    lowest_score, highest_score : ndarray
        Of the rows in a bin.
    n_in_bin : ndarray of int
    mean_score, mean_hit : ndarray
    low, high : ndarray
        Exact binomial limits (Clopper and Pearson) of the share of hits; one bin at a time.
    """

    lowest_score: np.ndarray
    highest_score: np.ndarray
    n_in_bin: np.ndarray
    mean_score: np.ndarray
    mean_hit: np.ndarray
    low: np.ndarray
    high: np.ndarray


def picture_bins(
    scored: Scored, confidence_level: float = CONFIDENCE_LEVEL, design_effect: float = 1.0
) -> PictureBins:
    """Return bins in equal steps of half the share of ranks and half the score's distance.

    At most 20 steps, of 20 rows or more on average. Rows of equal scores stay in one bin. The
    limits are of the number of rows divided by the ``design_effect``.
    """
    scored = scored.by_score
    scores, rows, hits = scored.scores, scored.rows, scored.hits
    steps = int(min(MOST_BINS, max(1, scored.n // ROWS_PER_BIN)))
    reach = max(float(scores[-1] - scores[0]), 1e-300)
    place = 0.5 * (np.cumsum(rows) - 0.5 * rows) / scored.n + 0.5 * (scores - scores[0]) / reach
    step = np.minimum((steps * place).astype(np.int64), steps - 1)
    starts = np.flatnonzero(np.diff(step, prepend=-1) > 0)
    size, n_hits = np.add.reduceat(rows, starts), np.add.reduceat(hits, starts)
    tail = (1.0 - confidence_level) / 2.0
    k, m = n_hits / design_effect, (size - n_hits) / design_effect
    low = np.where(n_hits > 0, betaincinv(np.maximum(k, 1e-9), m + 1, tail), 0.0)
    high = np.where(n_hits < size, betaincinv(k + 1, np.maximum(m, 1e-9), 1.0 - tail), 1.0)
    return PictureBins(
        scores[starts],
        scores[np.r_[starts[1:], scores.size] - 1],
        size,
        np.add.reduceat(scores * rows, starts) / size,
        n_hits / size,
        low,
        high,
    )
