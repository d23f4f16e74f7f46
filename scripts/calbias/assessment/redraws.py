"""Estimates on a model's own scores with hits redrawn from a known calibration curve."""

import numpy as np

from calbias.engine.seeding import generator
from calbias.engine.sorted_batch import of_sorted_scores

NULL = "null"  # the random stream of calibrated data sets
_SAMPLES_PER_BATCH = 1 << 17


def redrawn_batches(scores, rates, replicates, seed, name):
    """Yield (slice of the replicates, SortedBatch) with hits ~ Bernoulli(``rates`` (n,)).

    ``scores`` (n,) stay as they are; the random stream is that of (seed, name, n).
    """
    random = generator(seed, name, scores.size).random
    order = np.argsort(scores, kind="stable")
    scores, rates = scores[order], rates[order]
    rows = max(1, _SAMPLES_PER_BATCH // scores.size)
    for start in range(0, replicates, rows):
        batch = slice(start, min(start + rows, replicates))
        hits = random((batch.stop - batch.start, scores.size)) < rates
        yield batch, of_sorted_scores(scores, hits)


def redrawn_estimates(scores, rates, runs, replicates, seed, name):
    """Return {estimator: (replicates,)}; ``runs`` are {estimator: function of a SortedBatch}."""
    values = {estimator: np.empty(replicates) for estimator in runs}
    for batch, data in redrawn_batches(scores, rates, replicates, seed, name):
        for estimator, run in runs.items():
            values[estimator][batch] = run(data)[0]
    return values
