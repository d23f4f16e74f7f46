"""Bootstrap intervals, of estimates on resamples of the rows, each a sorted data set.

Davison and Hinkley, *Bootstrap Methods and their Application* (1997), section 5.2. The percentile
bootstrap stands here as a warning. A calibration error estimate is biased upwards, and on a
resample it is biased once more: the interval of a calibrated model does not reach down to 0, its
true error. The basic bootstrap takes the bias on a resample for the bias of the estimate.
"""

from collections.abc import Callable

import numpy as np
from numba import uint32, uint64
from numpy.typing import NDArray

from calbias.auditing.error.interval import Interval
from calbias.defaults import CONFIDENCE_LEVEL
from calbias.engine.jit import njit
from calbias.engine.random_words import fill_words
from calbias.engine.seeding import stream_key
from calbias.engine.sorted_batch import SortedBatch
from reproduction.judging import Sample

Floats = NDArray[np.float64]
Run = Callable[[SortedBatch], Floats]
"""An estimator: values (m,) of the data sets of a batch."""

_SAMPLES_PER_BATCH = 1 << 16


def percentile_bootstrap(sample: Sample, run: Run, replicates: int) -> Interval:
    """Return the Interval of quantiles of an estimator ``run(data) -> (m,)`` on resamples."""
    values = resampled_estimates(sample, run, replicates)
    return Interval(
        *np.quantile(values, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2]).tolist()
    )


def basic_bootstrap(sample: Sample, run: Run, replicates: int) -> Interval:
    """Return the Interval: twice the estimate less the percentile interval, cut at 0."""
    low, high = percentile_bootstrap(sample, run, replicates)
    observed = float(run(sample.data)[0])
    return Interval(max(2 * observed - high, 0.0), max(2 * observed - low, 0.0))


def resampled_estimates(sample: Sample, run: Run, replicates: int) -> Floats:
    """Return the estimates (replicates,) of ``run`` on resamples of n rows with replacement."""
    n = sample.n
    rows = max(1, min(replicates, _SAMPLES_PER_BATCH // n))
    batch = SortedBatch.empty(rows, n)._replace(
        tie_first=np.empty((rows, n + 1), np.int64), tie_last=np.empty((rows, n + 1), np.int64)
    )
    key = stream_key(sample.seed, "bootstrap", n)
    words, counts = np.empty((4, (n + 3) // 4), np.uint32), np.empty(n, np.int64)
    values = np.empty(replicates)
    for start in range(0, replicates, rows):
        data = batch.first(min(rows, replicates - start))
        _resample(start, key, sample.scores, sample.hits, words, counts, *data)
        values[start : start + len(data.scores)] = run(data)
    return values


@njit
def _resample(
    first: int,
    key: NDArray[np.uint32],
    scores: Floats,
    hits: NDArray[np.uint8],
    words: NDArray[np.uint32],
    counts: NDArray[np.int64],
    out: Floats,
    cum_gap: Floats,
    cum_hit: Floats,
    tie_first: NDArray[np.int64],
    tie_last: NDArray[np.int64],
) -> None:
    n, quarter = scores.shape[0], words.shape[1]
    for row in range(out.shape[0]):
        fill_words(words, quarter, uint32(0), key[0], key[1], uint32(first + row), uint32(0xB007))
        counts[:] = 0
        for part in range(4):
            for i in range(min(quarter, n - part * quarter)):
                counts[(uint64(words[part, i]) * uint64(n)) >> uint64(32)] += 1
        gap = total = 0.0
        cum_gap[row, 0] = cum_hit[row, 0] = 0.0
        tie_first[row, 0] = tie_last[row, 0] = 0
        begin = rank = 0
        while begin < n:  # a group of equal scores: its rows share their mean hit
            end, size, group = begin, 0, 0.0
            while end == begin or (end < n and scores[end] == scores[begin]):
                size += counts[end]
                group += counts[end] * hits[end]
                end += 1
            for i in range(size):
                out[row, rank + i] = scores[begin]
                cum_hit[row, rank + i + 1] = total + (i + 1) / size * group
                gap += scores[begin] - group / size
                cum_gap[row, rank + i + 1] = gap
                inside = i + 1 < size
                tie_first[row, rank + i + 1] = rank if inside else rank + i + 1
                tie_last[row, rank + i + 1] = rank + size if inside else rank + i + 1
            rank += size
            total += group
            begin = end
