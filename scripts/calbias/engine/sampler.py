"""Simulated data sets of a scenario, drawn in sorted order and with their prefix sums.

Sorted uniforms come from exponential spacings: no sort. Score and hit probability come from the
scenario's QuantileTable; the hit is decided by a second word. Each sample costs one 64-bit half of
a Philox block. The work goes through pieces that stay in the first-level cache.
"""

import numpy as np
from numba import float64, int32, uint32, uint64

from calbias.engine.jit import njit
from calbias.engine.quantile_table import (
    CELLS_PER_OCTAVE,
    MIDDLE_CELLS,
    OCTAVES,
    TAIL,
    build_quantile_table,
)
from calbias.engine.seeding import stream_key
from calbias.engine.simd import bits_of, float_of, two_cubics
from calbias.engine.sorted_batch import SortedBatch
from calbias.engine.sorted_uniforms import MANTISSA, PIECE, cumulate, sum_exponentials
from calbias.errors import InputError

_SAMPLES_PER_BATCH = 1 << 15  # keeps a batch's arrays in the second-level cache
_BITS_OF_ONE = uint64(0x3FF0000000000000)
_WORD = 2.0**-32
_SMALLEST = TAIL * 0.5**OCTAVES
_CELL_BITS = int(np.log2(CELLS_PER_OCTAVE))
_FIRST_CELL = uint64((1023 + int(np.log2(_SMALLEST))) * CELLS_PER_OCTAVE)


class Sampler:
    """Draws the replicates of one scenario at one sample size, in any order, in batches.

    A data set is a function of ``seed``, the scenario, ``n_samples`` and the replicate's number
    alone. Raises InputError unless n_samples is at least 1.
    """

    def __init__(self, scenario, n_samples, seed, table=None):
        if n_samples < 1:
            raise InputError(f"n_samples must be at least 1, not {n_samples}")
        self.n_samples = n_samples
        self.table = build_quantile_table(scenario) if table is None else table
        self.key = stream_key(seed, scenario.name, n_samples)

    def batches(self, replicates):
        """Yield a SortedBatch for each run of entries of ``replicates``, an array of numbers.

        The arrays are reused: a batch is valid until the next one is asked for.
        """
        replicates = np.asarray(replicates, dtype=np.uint64)
        rows = max(1, min(_SAMPLES_PER_BATCH // self.n_samples, replicates.size))
        data = SortedBatch.empty(rows, self.n_samples)
        scratch = (
            np.empty((4, PIECE // 2), np.uint32),
            np.empty(self.n_samples + 1),
            np.empty(self.n_samples + 1, np.uint32),
            np.empty(PIECE, np.uint32),
            np.empty(PIECE),
            np.empty(PIECE),
        )
        for start in range(0, replicates.size, rows):
            batch = replicates[start : start + rows]
            if batch.size < rows:
                data = data.first(batch.size)
            _draw(batch, self.key, self.table, scratch, *data.drawn_arrays())
            yield data


def draw(scenario, n_samples, replicate, seed):
    """Return the SortedBatch of one replicate: one row."""
    return next(Sampler(scenario, n_samples, seed).batches([replicate]))


@njit(error_model="numpy")
def _draw(replicates, key, table, scratch, scores, cum_gap, cum_hit):
    """Fill the rows of scores (m, n) and of the sums (m, n + 1)."""
    words, sums, marks, cells, where, hit_rate = scratch
    n = scores.shape[1]
    for row in range(replicates.shape[0]):
        total = sum_exponentials(key, replicates[row], words, sums, marks)
        low = np.searchsorted(sums[:n], TAIL * total)
        high = np.searchsorted(sums[:n], (1.0 - TAIL) * total, side="right")
        score, gaps, hits = scores[row], cum_gap[row], cum_hit[row]
        gaps[0] = hits[0] = 0.0
        start = 0
        while start < n:
            first = uint64(start)
            if start < low:
                size = min(PIECE, low - start)
                _locate_in_tail(0.0, 1.0 / total, sums, first, size, cells, where)
                _look_up(table.lower, cells, where, first, size, score, hit_rate)
            elif start < high:
                size = min(PIECE, high - start)
                _locate_in_middle(MIDDLE_CELLS / total, sums, first, size, cells, where)
                _look_up(table.middle, cells, where, first, size, score, hit_rate)
            else:
                size = min(PIECE, n - start)
                _locate_in_tail(total, 1.0 / total, sums, first, size, cells, where)
                _look_up(table.upper, cells, where, first, size, score, hit_rate)
            _decide_hits(marks, hit_rate, score, first, size, gaps, hits)
            cumulate(gaps, first + uint64(1), size, gaps[first])
            cumulate(hits, first + uint64(1), size, hits[first])
            start += size


@njit(error_model="numpy")
def _locate_in_middle(scale, sums, start, size, cells, where):
    """Fill the cells of u = sums/total, and the places within them in [0, 1)."""
    for i in range(size):
        x = sums[start + uint64(i)] * scale
        cell = int32(x)
        cells[i] = uint32(cell)
        where[i] = x - float64(cell)


@njit(error_model="numpy")
def _locate_in_tail(end, scale, sums, start, size, cells, where):
    """Fill the cells of the distances |sums - end|/total from the end of (0, 1), and the places.

    A cell is a distance's exponent and the leading bits of its mantissa.
    """
    for i in range(size):
        bits = bits_of(max(abs(sums[start + uint64(i)] - end) * scale, _SMALLEST))
        cells[i] = (bits >> uint64(52 - _CELL_BITS)) - _FIRST_CELL
        where[i] = float_of(((bits << uint64(_CELL_BITS)) & MANTISSA) | _BITS_OF_ONE) - 1.0


@njit(error_model="numpy")
def _look_up(coefficients, cells, where, start, size, score, hit_rate):
    for i in range(size):
        c, p = two_cubics(coefficients, uint64(cells[i]) * uint64(8), where[i])
        score[start + uint64(i)] = min(c, 1.0)
        hit_rate[i] = p


@njit(error_model="numpy")
def _decide_hits(marks, hit_rate, score, start, size, gaps, hits):
    """Fill score - hit and hit, of ranks from ``start`` on, one place further on."""
    for i in range(size):
        rank = start + uint64(i)
        hit = 1.0 if (float64(marks[rank]) + 0.5) * _WORD < hit_rate[i] else 0.0
        gaps[rank + uint64(1)] = score[rank] - hit
        hits[rank + uint64(1)] = hit
