"""exp, log and functions of them, of eight numbers at once, with the same bits everywhere.

Relative errors are below 1e-15. ``engine.simd`` says what a vector is.
"""

import math
from typing import Any

from numba import uint64

from calbias.engine.jit import njit
from calbias.engine.simd import LANES, bits_of, copies, float_of, select

_LOWEST, _HIGHEST = -708.0, 709.0  # exponents whose exponential is a normal number
_PER_LOG_2 = 1.4426950408889634
_LOG_2_HIGH, _LOG_2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_ROUNDING = 1.5 * 2.0**52  # a number that is added to it is rounded to a whole number
_HALF_LOG_2_PI = 0.9189385332046727
_EXP = tuple(1.0 / math.factorial(k) for k in range(14))
_MANTISSA = uint64(0x000FFFFFFFFFFFFF)
_SQRT_HALF = uint64(0x3FE6A09E667F3BCD)
_BITS_OF_2_52 = uint64(0x4330000000000000)
_SHIFT = uint64((1 << 10) - 1)  # makes the exponent of a number from sqrt(1/2) on positive


@njit
def exp_of(x: Any) -> Any:
    """Return e^x, FLOATS; below -708 it is e^-708, above 709 e^709."""
    x = select(x > _LOWEST, x, copies(_LOWEST))
    x = select(x < _HIGHEST, x, copies(_HIGHEST))
    quotient = x * _PER_LOG_2 + _ROUNDING
    power = bits_of(quotient) << 52
    quotient = quotient - _ROUNDING
    r = (x - quotient * _LOG_2_HIGH) - quotient * _LOG_2_LOW
    square = r * r
    fourth = square * square
    a = (_EXP[0] + r) + square * (r * _EXP[3] + _EXP[2])
    b = (r * _EXP[5] + _EXP[4]) + square * (r * _EXP[7] + _EXP[6])
    c = (r * _EXP[9] + _EXP[8]) + square * (r * _EXP[11] + _EXP[10])
    d = r * _EXP[13] + _EXP[12]
    return float_of(bits_of(a + fourth * (b + fourth * (c + fourth * d))) + power)


@njit(error_model="numpy")
def log_of(x: Any) -> Any:
    """Return log x, FLOATS, of positive normal numbers."""
    bits = bits_of(x) + (_SHIFT << 52) - _SQRT_HALF
    exponent = float_of((bits >> 52) | _BITS_OF_2_52) - (2.0**52 + float(_SHIFT))
    m = float_of((bits & _MANTISSA) + _SQRT_HALF)  # in [sqrt(1/2), sqrt(2))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = (((z * (2 / 19) + 2 / 17) * z + 2 / 15) * z + 2 / 13) * z + 2 / 11
    series = ((((series * z + 2 / 9) * z + 2 / 7) * z + 2 / 5) * z + 2 / 3) * z
    return exponent * _LOG_2_HIGH + (s * 2.0 + (s * series + exponent * _LOG_2_LOW))


@njit(error_model="numpy")
def log_gamma_of(z: Any) -> Any:
    """Return log Γ(z), FLOATS, for z from 1 to 1e30: Stirling's series at z + 8."""
    product = z * (z + 1.0) * (z + 2.0) * (z + 3.0) * (z + 4.0) * (z + 5.0) * (z + 6.0) * (z + 7.0)
    x = z + 8.0
    per_x = 1.0 / x
    square = per_x * per_x
    series = (square * (-691 / 360360) + 1 / 1188) * square - 1 / 1680
    series = ((series * square + 1 / 1260) * square - 1 / 360) * square + 1 / 12
    return (x - 0.5) * log_of(x) - x + _HALF_LOG_2_PI + series * per_x - log_of(product)


@njit
def padded(n: int) -> int:
    """Return the least multiple of eight that is at least n."""
    return (n + LANES - 1) // LANES * LANES
