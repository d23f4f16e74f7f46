"""Scores that were rounded, and what each of them may have been before.

All scores may lie on a grid of equal steps (decimals, multiples of 1/20), have few significant
bits (bfloat16, float16), or their log odds may. A score then stands for any value within half a
step of it, and a score of exactly 1 for values below 1. Of the kinds that fit the coarsest counts.
The values alone are read, not their type: 0.85 as a float32 is a decimal number.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from calbias.scored import Floats

_Range = Callable[[Floats], tuple[Floats, Floats]]

_DENOMINATORS = {  # by the least number of distinct scores that show such a step
    5: np.append(np.arange(1.0, 1001.0), 1e4),
    3: np.array([10.0, 20.0, 100.0, 1e3, 1e4]),
    0: np.array([100.0, 1e3, 1e4]),
}
_CERTAIN = 2  # so many distinct scores count a 0 and a 1 together
_DECIMALS = {10.0**k: f"{k} decimal{'s' if k > 1 else ''}" for k in range(1, 5)}
_BITS = {"bfloat16": (8, 0.0), "float16": (11, 2.0**-24)}  # significant bits, least step
_FEW, _FEW_LOG_ODDS = 5, 10  # distinct scores: fewer are no sign of significant bits, or steps
_SOME = 2000  # scores that are looked at first
_CANDIDATES = 20
_DIVISORS = 10.0  # the least distance of log odds is at most so many steps


class Rounding(NamedTuple):
    """What was found, or None, and the least and greatest value (m,) that each score stands for.

    ``end`` is how far a score of 0 or 1 may be from there: a quarter of the step of its type.
    """

    name: str | None
    low: Floats
    high: Floats
    end: float


def rounding_of(scores: Floats) -> Rounding:
    """Return the Rounding of scores (m,) in [0, 1].

    Where none is found a score stands for itself. The type is float32 if each score is one.
    """
    inner = scores[(scores > 0.0) & (scores < 1.0)]
    is_single = inner.size > 0 and bool((inner.astype(np.float32) == inner).all())
    precision = 2.0 ** (-24 if is_single else -53)
    some = np.unique(inner[:: max(inner.size // _SOME, 1)])
    values = some.size + (_CERTAIN if inner.size < scores.size else 0)
    kinds = list(_kinds(some, precision, values))
    if kinds and some.size < inner.size:
        kinds = list(_kinds(np.unique(inner), precision, values))
    found, low, high = None, scores, scores
    for name, range_of in kinds:
        least, most = range_of(scores)
        if np.mean(most - least) > np.mean(high - low):
            found, low, high = name, least, most
    return Rounding(found, np.maximum(low, 0.0), np.minimum(high, 1.0), 0.25 * precision)


def _kinds(inner: Floats, precision: float, values: int) -> Iterator[tuple[str, _Range]]:
    """Yield the names of what fits all scores in (0, 1), distinct and ascending, and ranges."""
    if (k := _denominator(inner, precision, values)) is not None:
        name = _DECIMALS.get(k, f"multiples of 1/{k:g}")
        yield name, lambda scores: (scores - 0.5 / k, scores + 0.5 / k)
    if inner.size < _FEW:
        return
    for name, (bits, least) in _BITS.items():
        if np.all(_remainder(inner, _steps(inner, bits, least)[1]) == 0.0):
            yield name, partial(_around, bits=bits, least=least)
    x = logit(inner)
    error = 2.0 * precision / (inner * (1.0 - inner)) + 2.0**-52 * np.abs(x)
    exact = error <= 10.0 * error.min()  # not near 0 and 1
    x, error = x[exact], error[exact]
    if x.size < _FEW_LOG_ODDS:
        return
    if (step := _common_step(np.diff(x), 4.0 * float(error.max()))) is not None:
        name = f"log odds in steps of {step:.3g}"
        yield name, partial(_of_log_odds, range_of=lambda x: (x - 0.5 * step, x + 0.5 * step))
    for name, (bits, _) in _BITS.items():
        spacing = _steps(x, bits, 0.0)[1]
        if np.all(_remainder(x, spacing) <= error) and np.median(error / spacing) < 0.01:
            around = partial(_around, bits=bits, least=0.0)
            yield f"log odds in {name}", partial(_of_log_odds, range_of=around)


def _denominator(inner: Floats, precision: float, values: int) -> float | None:
    """Return the least k ≤ 1000, or 10⁴, of which all scores are multiples of 1/k."""
    if not inner.size:
        return None
    fits = next(each for least, each in _DENOMINATORS.items() if values >= least)
    for some in (inner[:: max(inner.size // 20, 1)], inner):
        apart = _remainder(np.multiply.outer(fits, some), 1.0).max(axis=1)
        fits = fits[apart <= (precision + 2.0**-51) * fits][:_CANDIDATES]
    return float(fits[0]) if fits.size else None


def _common_step(distances: Floats, error: float) -> float | None:
    """Return the greatest step of which all distances (m,) are multiples."""
    least = float(distances.min())
    tolerance = error * distances / least
    for divisor in np.arange(1.0, _DIVISORS + 1.0):
        step = least / divisor
        if step > 20.0 * tolerance.max() and np.all(_remainder(distances, step) <= tolerance):
            return step
    return None


def _remainder(values: Floats, step: Floats | float) -> Floats:
    """Return the distance of values from multiples of the steps."""
    return np.abs(values - step * np.rint(values / step))


def _steps(values: Floats, bits: int, least: float) -> tuple[Floats, Floats]:
    """Return the distances to the next values towards 0, and away, with so many bits."""
    fraction, exponent = np.frexp(values)
    above = np.ldexp(1.0, exponent - bits)
    below = np.where(np.abs(fraction) == 0.5, 0.5 * above, above)
    return np.maximum(below, least), np.maximum(above, least)


def _around(values: Floats, bits: int, least: float) -> tuple[Floats, Floats]:
    """Return the least and greatest value that is rounded to each."""
    inward, outward = (0.5 * step for step in _steps(values, bits, least))
    is_negative = values < 0.0
    return (
        values - np.where(is_negative, outward, inward),
        values + np.where(is_negative, inward, outward),
    )


def _of_log_odds(scores: Floats, range_of: _Range) -> tuple[Floats, Floats]:
    """Return the range of scores by that of their log odds; 0 and 1 stand for themselves."""
    inside = (scores > 0.0) & (scores < 1.0)
    low, high = scores.copy(), scores.copy()
    ends = range_of(logit(scores[inside]))
    low[inside], high[inside] = (expit(end) for end in ends)
    return low, high
