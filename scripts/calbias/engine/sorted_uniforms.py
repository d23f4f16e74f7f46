"""Sorted uniforms without sorting: partial sums of exponentials over their total.

Devroye, *Non-Uniform Random Variate Generation* (1986), V.3.1: of n + 1 independent exponentials
the first n partial sums, divided by the total, are distributed as n sorted uniforms. The work goes
through pieces that stay in the first-level cache.
"""

from numba import float64, int32, uint32, uint64

from calbias.engine.jit import njit
from calbias.engine.philox import fill_words
from calbias.engine.simd import bits_of, float_of

PIECE = 1024
MANTISSA = uint64(0x000FFFFFFFFFFFFF)
_SQRT_HALF = uint64(0x3FE6A09E667F3BCD)
_HALF_ROOT = uint64(0x3FD6A09E667F3BCD)  # sqrt(1/2)/2, below the smallest number, 1/2
_LOG_2 = 0.6931471805599453


@njit(error_model="numpy")
def sum_exponentials(key, replicate, words, sums, marks):
    """Fill ``sums`` (m,) with partial sums of m exponentials; return the total.

    ``marks`` (m,), uint32, is filled with words of the same Philox blocks. ``words`` is scratch of
    shape (4, PIECE/2), uint32. All is a function of key, replicate number and m.
    """
    m = sums.shape[0]
    low, high = uint32(replicate), uint32(replicate >> uint64(32))
    total = 0.0
    for start in range(0, m, PIECE):
        size = min(PIECE, m - start)
        half = (size + 1) // 2
        fill_words(words, half, uint32(start // 2), key[0], key[1], low, high)
        for part in range(2):
            first, count = uint64(start + part * half), half if part == 0 else size - half
            _exponentials(words, part, sums, first, count)
            for i in range(count):
                marks[first + uint64(i)] = words[part + 2, i]
        total = cumulate(sums, uint64(start), size, total)
    return total


@njit(error_model="numpy")
def _exponentials(words, row, out, start, count):
    """Fill ``count`` entries of ``out`` with -log((w + 1/2)/2^32), to 5e-11 relative."""
    for i in range(count):
        bits = bits_of(float64(words[row, i]) + 0.5) - _HALF_ROOT
        exponent = float64(int32(bits >> uint64(52)))
        m = float_of((bits & MANTISSA) + _SQRT_HALF)  # in [sqrt(1/2), sqrt(2))
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        series = 1.0 + z * (1 / 3 + z * (1 / 5 + z * (1 / 7 + z * (1 / 9 + z * (1 / 11)))))
        out[start + uint64(i)] = (33.0 - exponent) * _LOG_2 - 2.0 * s * series


@njit(error_model="numpy")
def cumulate(values, start, count, before):
    """Replace ``count`` values from ``start`` on by partial sums that begin with ``before``.

    Returns the last one. Four chains of sums run side by side.
    """
    q = uint64(count // 4)
    second = start + q
    third = second + q
    fourth = third + q
    a = b = c = 0.0
    for i in range(q):
        a += values[start + i]
        b += values[second + i]
        c += values[third + i]
    b += before + a
    a, b, c, d = before, before + a, b, b + c
    for i in range(q):
        a += values[start + i]
        b += values[second + i]
        c += values[third + i]
        d += values[fourth + i]
        values[start + i], values[second + i] = a, b
        values[third + i], values[fourth + i] = c, d
    for i in range(fourth + q, start + uint64(count)):
        d += values[i]
        values[i] = d
    return d
