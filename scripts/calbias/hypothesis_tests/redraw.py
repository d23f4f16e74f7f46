"""Redraw tests: given its scores, a calibrated model's hits have a known law, so draw from it.

    p = (1 + #{T* ≥ T}) / (1 + R),  T* of R redraws y* ~ Bernoulli(s) on the same scores

Exact for any statistic whose large values speak against calibration, whatever the scores: any
estimator, and any test file that defines ``statistics``. Consistency resampling (Bröcker and Smith
2007); Vaicenavicius et al. (AISTATS 2019).
"""

import numpy as np

from calbias.engine.sorted_batch import of_sorted_scores
from calbias.errors import InputError

_SAMPLES_AT_ONCE = 1 << 17


def redraw_p_value(statistics, scores, hits, n_redraws, generator) -> float:
    """Return the p-value of perfect calibration by redrawn hits.

    Parameters
    ----------
    statistics : callable
        From a SortedBatch of m rows to values (m,).
    scores : array_like (n,)
        In [0, 1].
    hits : array_like (n,)
        1 where the prediction was correct.
    n_redraws : int
        R, at least 1; the least p-value is 1/(1 + R).
    generator : numpy.random.Generator

    Returns
    -------
    float
        In (0, 1].

    Raises
    ------
    InputError
        For n_redraws below 1.

    Examples
    --------
    >>> scores = np.full(100, 0.9)
    >>> def gap(data):
    ...     return np.abs(data.cum_gap[:, -1])
    >>> redraw_p_value(gap, scores, np.arange(100) < 60, 199, np.random.default_rng(0))
    0.005
    """
    if n_redraws < 1:
        raise InputError(f"n_redraws must be at least 1, not {n_redraws}")
    order = np.argsort(scores, kind="stable")
    scores, hits = np.asarray(scores, float)[order], np.asarray(hits)[order]
    observed = statistics(of_sorted_scores(scores, hits[None]))[0]
    n_as_large = 0
    rows = max(1, _SAMPLES_AT_ONCE // scores.size)
    for start in range(0, n_redraws, rows):
        shape = min(rows, n_redraws - start), scores.size
        drawn = statistics(of_sorted_scores(scores, generator.random(shape) < scores))
        # a hair below counts as equal: sums in another order differ by rounding
        n_as_large += np.count_nonzero(drawn >= observed - 1e-12 * abs(observed))
    return float((1 + n_as_large) / (1 + n_redraws))
