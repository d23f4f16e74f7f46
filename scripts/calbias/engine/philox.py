"""Random words from Philox4x32-10, a counter-based generator.

Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy as 1, 2, 3* (SC 2011). The word at a
counter is a function of key and counter alone, so a replicate's numbers depend neither on the
shard, nor on the thread, nor on what was drawn before it.
"""

from typing import Any

import numpy as np

from calbias.engine.jit import njit, uint32, uint64

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
