"""Data sets with the user's own scores and hits drawn from a given probability at each score.

Where the probabilities are the scores themselves, the model is calibrated: with the statistics T*
of R such data sets, a redraw test has p = (1 + #{T* ≥ T}) / (1 + R). It is exact for any statistic
whose large values speak against calibration (consistency resampling, Bröcker and Smith 2007;
Vaicenavicius et al., AISTATS 2019).

The 32 random bits that decide a hit are a function of the key, the replicate and the rank alone.
Two calls with different probabilities therefore share their random numbers, and the batch size does
not change the data sets.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from calbias.engine.jit import njit, uint32
from calbias.engine.random_words import fill_words
from calbias.engine.seeding import stream_key
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores

_SAMPLES_PER_BATCH = 1 << 16


class FixedScores:
    """n ascending scores (n,) in [0, 1] whose hits are drawn again, by the stream of a name."""

    def __init__(self, scores: np.ndarray, seed: int = 0, name: str = "audit") -> None:
        self.scores = np.ascontiguousarray(scores, dtype=np.float64)
        n = self.scores.size
        self.key = stream_key(seed, name, n)
        self.starts = np.flatnonzero(np.r_[True, self.scores[1:] != self.scores[:-1]])
        self.cum_score = np.r_[0.0, np.cumsum(self.scores)]
        rows = max(1, _SAMPLES_PER_BATCH // n)
        template = of_sorted_scores(self.scores, np.zeros((1, n)))
        self._batch = SortedBatch.empty(rows, n)._replace(
            tie_first=np.tile(template.tie_first, (rows, 1)),
            tie_last=np.tile(template.tie_last, (rows, 1)),
        )
        self._batch.scores[:] = self.scores
        self._words = np.empty((4, (n + 3) // 4), np.uint32)

    def observed(self, hits: np.ndarray) -> SortedBatch:
        """Return the SortedBatch, one row, of the hits (n,) in the order of the scores."""
        data = self._batch.first(1)
        _fill_sums(np.asarray(hits, float), self.starts, self.cum_score, *data[1:3], 0)
        return SortedBatch(*(array.copy() for array in data))

    def batches(self, rates: np.ndarray, replicates: int) -> Iterator[tuple[slice, SortedBatch]]:
        """Yield (slice of the replicates, SortedBatch) with hits drawn at rates (n,).

        The arrays are reused: a batch is valid until the next one is asked for.
        """
        limits = np.ceil(np.clip(rates, 0.0, 1.0) * 2.0**32 - 0.5)
        rows = len(self._batch.scores)
        for start in range(0, replicates, rows):
            m = min(rows, replicates - start)
            data = self._batch.first(m)
            _draw(start, self.key, limits, self._words, self.starts, self.cum_score, *data[1:3])
            yield slice(start, start + m), data

    def estimates(
        self,
        rates: np.ndarray,
        runs: Mapping[str, Callable[[SortedBatch], np.ndarray]],
        replicates: int,
    ) -> dict[str, np.ndarray]:
        """Return {name: (replicates,)} of the estimators ``runs``, {name: run(data) -> (m,)}."""
        values = {name: np.empty(replicates) for name in runs}
        for rows, data in self.batches(rates, replicates):
            for name, run in runs.items():
                values[name][rows] = run(data)
        return values


@njit
def _draw(
    first: int,
    key: np.ndarray,
    limits: np.ndarray,
    words: np.ndarray,
    starts: np.ndarray,
    cum_score: np.ndarray,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
) -> None:
    """Fill the sums (m, n + 1) of replicates ``first`` and following."""
    n, quarter = limits.shape[0], words.shape[1]
    hits = np.empty(n)
    for row in range(cum_hit.shape[0]):
        fill_words(words, quarter, uint32(0), key[0], key[1], uint32(first + row), uint32(0x5EED))
        for part in range(4):
            begin = part * quarter
            for i in range(min(quarter, n - begin)):
                hits[begin + i] = 1.0 if words[part, i] < limits[begin + i] else 0.0
        _fill_sums(hits, starts, cum_score, cum_gap, cum_hit, row)


@njit
def _fill_sums(
    hits: np.ndarray,
    starts: np.ndarray,
    cum_score: np.ndarray,
    cum_gap: np.ndarray,
    cum_hit: np.ndarray,
    row: int,
) -> None:
    """Fill one row's partial sums; within a group of equal scores the hit is the group's mean."""
    n = hits.shape[0]
    cum_gap[row, 0] = cum_hit[row, 0] = 0.0
    if starts.shape[0] == n:
        total = 0.0
        for i in range(n):
            total += hits[i]
            cum_hit[row, i + 1] = total
            cum_gap[row, i + 1] = cum_score[i + 1] - total
        return
    before = 0.0
    for g in range(starts.shape[0]):
        start = starts[g]
        end = starts[g + 1] if g + 1 < starts.shape[0] else n
        if end - start == 1:  # without the division
            before += hits[start]
            cum_hit[row, end] = before
            cum_gap[row, end] = cum_score[end] - before
            continue
        group = 0.0
        for i in range(start, end):
            group += hits[i]
        for i in range(start, end):
            cum = before + (i + 1 - start) / (end - start) * group
            cum_hit[row, i + 1] = cum
            cum_gap[row, i + 1] = cum_score[i + 1] - cum
        before += group
