"""Rows in the order in which they were given: sums over bins without sorting.

A ``Scored`` sorts the rows, since intervals, curves and tests need the order. Sums over bins of
equal width do not need it, and take about a sixth of the time.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calbias.engine.sorted_batch import IS_EQUAL_MASS, bin_numbers
from calbias.samples.by_score import BinSums, Scored

_CHUNK = 1 << 14  # rows whose arrays stay in a processor's cache
_TO_27_BITS, _TO_54_BITS = 2.0**25, 0.375  # x + c - c is x rounded to 2⁻²⁷, and to 2⁻⁵⁴


@dataclass(frozen=True, eq=False)
class UnsortedRows:
    """Checked scores (n,) in [0, 1] and hits (n,) of 0 and 1, uint8."""

    scores: NDArray[np.float64]
    hits: NDArray[np.uint8]

    @cached_property
    def scored(self) -> Scored:
        """The rows by score."""
        return Scored.of(self.scores, self.hits)

    def bins(self, n_bins: int, binning: str) -> BinSums:
        """Return the sums over the bins that hold rows.

        They do not depend on the order of the rows: a score is rounded to 2⁻⁵⁴ and split into a
        multiple of 2⁻²⁷ and the remainder, whose sums are exact for up to 2²⁶ rows.
        """
        if IS_EQUAL_MASS[binning]:
            return self.scored.bins(n_bins, binning)
        size, step = 2 * n_bins, max(_CHUNK, n_bins)
        counts, high_sums, low_sums = np.zeros(size, np.int64), np.zeros(size), np.zeros(size)
        for start in range(0, self.scores.size, step):
            scores = self.scores[start : start + step]
            bin_and_hit = bin_numbers(scores, n_bins)
            bin_and_hit += bin_and_hit
            bin_and_hit += self.hits[start : start + step]
            high = scores + _TO_27_BITS
            high -= _TO_27_BITS
            low = scores - high
            low += _TO_54_BITS
            low -= _TO_54_BITS
            counts += np.bincount(bin_and_hit, minlength=size)
            high_sums += np.bincount(bin_and_hit, high, size)
            low_sums += np.bincount(bin_and_hit, low, size)
        misses, hits = counts.reshape(-1, 2).T
        is_full = (misses + hits) > 0
        hits, rows = hits[is_full], (misses + hits)[is_full]
        high, low = (sums.reshape(-1, 2).sum(axis=1)[is_full] for sums in (high_sums, low_sums))
        return BinSums(rows, hits, high + low - hits, rows, rows, n_bins)
