"""Random words from counters, and sorted uniforms without sorting, in groups of four.

**Words** come from Philox4x32-10, a counter-based generator: Salmon, Moraes, Dror, Shaw, *Parallel
random numbers: as easy as 1, 2, 3* (SC 2011). The word at a counter is a function of key and
counter alone, so a replicate's numbers depend neither on the shard, nor on the thread, nor on what
was drawn before it.

**Sorted uniforms** are arrival times of a Poisson process. The first n of n + 1 partial sums of
exponentials, divided by the last one, are distributed as n sorted uniforms (Devroye, *Non-Uniform
Random Variate Generation*, 1986, V.3.1). Two facts give four partial sums for one logarithm: the
sum of four exponentials is -log(u1·u2·u3·u4), and given that sum the three partial sums inside are
three sorted uniforms on it. docs/papers/sampler.md has the proof. Their words come from
xoshiro256++ (Blackman and Vigna 2021) in eight lanes. Philox seeds the lanes from the key and
the replicate's number, so that a data set depends on nothing else.

Arrays are filled in blocks of 32 samples, eight groups of four: the vector at 32·block + 8·k holds
the k-th samples of the eight groups (``place_of``).
"""

from typing import Any

import numpy as np

from calbias.engine.jit import njit, uint32, uint64
from calbias.engine.simd import (
    LANES,
    bits_of,
    copies,
    float_of,
    lanes_from,
    last_lane,
    load,
    prefix_sums,
    select,
    store,
)

_MULTIPLIER_0 = uint64(0xD2511F53)
_MULTIPLIER_1 = uint64(0xCD9E8D57)
_WEYL_0 = uint64(0x9E3779B9)
_WEYL_1 = uint64(0xBB67AE85)
_HALF = uint64(32)
_LOW_HALF = uint64(0xFFFFFFFF)


@njit(inline="always")
def block(x0: Any, x1: Any, x2: Any, x3: Any, k0: Any, k1: Any) -> Any:
    """Return the four words at counter (x0, x1, x2, x3) under key (k0, k1).

    All are below 2^32, held in uint64; the counter may be WORDS of ``engine.simd``: eight blocks.
    """
    for _ in range(10):
        # the masks tell LLVM that products of 32 bits are enough
        product_0 = (x0 & _LOW_HALF) * _MULTIPLIER_0
        product_1 = (x2 & _LOW_HALF) * _MULTIPLIER_1
        x0 = (product_1 >> _HALF) ^ x1 ^ k0
        x1 = product_1 & _LOW_HALF
        x2 = (product_0 >> _HALF) ^ x3 ^ k1
        x3 = product_0 & _LOW_HALF
        k0 = (k0 + _WEYL_0) & _LOW_HALF
        k1 = (k1 + _WEYL_1) & _LOW_HALF
    return x0, x1, x2, x3


@njit
def fill_words(
    words: np.ndarray,
    n_blocks: int,
    first: int,
    key_0: int,
    key_1: int,
    counter_2: int,
    counter_3: int,
) -> None:
    """Fill columns of ``words`` (4, m ≥ n_blocks), uint32, with consecutive blocks.

    Column i holds the block at counter (first + i, 0, counter_2, counter_3).
    """
    third, fourth, key = uint64(counter_2), uint64(counter_3), (uint64(key_0), uint64(key_1))
    for i in range(n_blocks):
        counter = uint64(uint32(first + uint32(i)))
        x0, x1, x2, x3 = block(counter, uint64(0), third, fourth, key[0], key[1])
        words[0, i], words[1, i], words[2, i], words[3, i] = x0, x1, x2, x3


BLOCK = 4 * LANES
STATE_WORDS = 4 * LANES
MANTISSA = uint64(0x000FFFFFFFFFFFFF)
_EVEN = np.arange(0, 2 * LANES, 2, dtype=np.uint64)
_BITS_OF_2_52 = uint64(0x4330000000000000)
_2_52 = 2.0**52
_SQRT_HALF = uint64(0x3FE6A09E667F3BCD)
_LOWEST = uint64(0x3F96A09E667F3BCD)  # sqrt(1/2)·2^-5, below the least product, 2^-4
_LOG_2 = 0.6931471805599453


@njit
def place_of(i: int) -> int:
    """Return where sample i is in the arrays that ``sum_exponentials`` fills."""
    return i - i % BLOCK + i % 4 * LANES + i % BLOCK // 4


@njit
def seed_lanes(key: np.ndarray, replicate: int, state: np.ndarray) -> None:
    """Fill the ``state`` (32,) uint64 of eight generators: a lane's words are from two blocks."""
    zero, even = copies(uint64(0)), load(_EVEN, 0)
    low, high = copies(replicate & _LOW_HALF), copies(replicate >> uint64(32))
    first, second = uint64(key[0]), uint64(key[1])
    lower = block(even, zero, low, high, first, second)
    upper = block(even + uint64(1), zero, low, high, first, second)
    for k in range(4):
        store(state, k * LANES, lower[k] | (upper[k] << 32))


@njit
def next_words(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return (words, new state) of xoshiro256++ in each lane; ``a`` to ``d`` are the state."""
    total = a + d
    words = ((total << 23) | (total >> 41)) + a
    shifted = b << 17
    c, d = c ^ a, d ^ b
    b, a = b ^ c, a ^ d
    return words, a, b, c ^ shifted, (d << 45) | (d >> 19)


@njit
def low_half(words: Any) -> Any:
    """Return w + 1/2, FLOATS, for the low 32 bits w of each word."""
    return float_of((words & _LOW_HALF) | _BITS_OF_2_52) - (_2_52 - 0.5)


@njit
def high_half(words: Any) -> Any:
    """Return w + 1/2, FLOATS, for the high 32 bits w of each word."""
    return float_of((words >> 32) | _BITS_OF_2_52) - (_2_52 - 0.5)


@njit(error_model="numpy")
def minus_log(product: Any) -> Any:
    """Return -log(product/2^128), to 5e-11 relative, for FLOATS from 2^-4 to 2^128."""
    bits = bits_of(product) - _LOWEST
    exponent = float_of((bits >> 52) | _BITS_OF_2_52) - (_2_52 + 5.0)
    m = float_of((bits & MANTISSA) + _SQRT_HALF)  # in [sqrt(1/2), sqrt(2))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = (((((z * (1 / 11) + 1 / 9) * z + 1 / 7) * z + 1 / 5) * z + 1 / 3) * z) + 1.0
    return (128.0 - exponent) * _LOG_2 - s * series * 2.0


@njit
def sum_exponentials(state: np.ndarray, n_blocks: int, sums: np.ndarray, marks: np.ndarray) -> None:
    """Fill ``sums`` (32·n_blocks,) with partial sums of exponentials, by ``place_of``.

    ``marks`` (16·n_blocks,) uint64 gets 32 random bits for each sample: samples 0 and 1 of a group
    have the low and high half of one word, samples 2 and 3 the halves of the word 8 places on.
    """
    a, b, c, d = load(state, 0), load(state, 8), load(state, 16), load(state, 24)
    before = copies(0.0)
    for k in range(n_blocks):
        first, a, b, c, d = next_words(a, b, c, d)
        second, a, b, c, d = next_words(a, b, c, d)
        product = (low_half(first) * high_half(first)) * (low_half(second) * high_half(second))
        block_sums = minus_log(product)
        ends = before + prefix_sums(block_sums)
        starts = before + lanes_from(copies(0.0), prefix_sums(block_sums), 7)
        before = last_lane(ends)

        first, a, b, c, d = next_words(a, b, c, d)
        second, a, b, c, d = next_words(a, b, c, d)
        x, y, z = low_half(first), high_half(first), low_half(second)
        x, y = select(x < y, x, y), select(x < y, y, x)
        y, z = select(y < z, y, z), select(y < z, z, y)
        x, y = select(x < y, x, y), select(x < y, y, x)
        share = block_sums * 2.0**-32
        position = uint64(k * BLOCK)
        store(sums, position, starts + share * x)
        store(sums, position + uint64(8), starts + share * y)
        store(sums, position + uint64(16), starts + share * z)
        store(sums, position + uint64(24), ends)

        first, a, b, c, d = next_words(a, b, c, d)
        second, a, b, c, d = next_words(a, b, c, d)
        store(marks, uint64(k * 2 * LANES), first)
        store(marks, uint64(k * 2 * LANES + LANES), second)
