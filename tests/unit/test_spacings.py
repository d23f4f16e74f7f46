"""Exponentials and partial sums: against NumPy, and the scalar formula of the cubics."""

import numpy as np
import pytest

from calbias.engine.jit import njit
from calbias.engine.simd import LANES, add_power_sums, bits_of, float_of, sum_of_lanes, two_cubics
from calbias.engine.sorted_uniforms import PIECE, _exponentials, cumulate, sum_exponentials


def exponentials_of(words):
    out = np.empty(words.size)
    _exponentials(words[None], 0, out, np.uint64(0), words.size)
    return out


def test_exponentials_are_logarithms():
    words = np.random.default_rng(1).integers(0, 2**32, 100_000, dtype=np.uint32)
    words[:4] = 0, 1, 2**31, 2**32 - 1
    expected = -np.log((words + 0.5) / 2**32)
    np.testing.assert_allclose(exponentials_of(words), expected, rtol=6e-11, atol=1e-15)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 100, 1023])
def test_partial_sums(count):
    values = np.random.default_rng(2).random(count + 5)
    summed = values.copy()
    last = cumulate(summed, np.uint64(2), count, 10.0)
    inside = slice(2, 2 + count)
    np.testing.assert_allclose(summed[inside], 10 + np.cumsum(values[inside]), rtol=1e-14)
    assert last == (summed[inside][-1] if count else 10.0)
    np.testing.assert_array_equal(summed[:2], values[:2])
    np.testing.assert_array_equal(summed[2 + count :], values[2 + count :])


@pytest.mark.parametrize("m", [1, 2, 3, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7])
def test_sums_and_marks_are_functions_of_their_words(m):
    key = np.array([3, 4], np.uint32)
    results = []
    for fill in (0, 255):
        words = np.full((4, PIECE // 2), fill, np.uint32)
        sums, marks = np.empty(m), np.full(m, fill, np.uint32)
        total = sum_exponentials(key, np.uint64(9), words, sums, marks)
        assert total == sums[-1]
        assert (np.diff(sums, prepend=0.0) > 0).all()
        results.append((sums.tobytes(), marks.tobytes()))
    assert results[0] == results[1]


def test_bits():
    @njit
    def there_and_back(x):
        return bits_of(x), float_of(bits_of(x))

    assert there_and_back(1.5) == (0x3FF8000000000000, 1.5)


def test_cubics_have_the_bits_of_their_formula():
    """No fused multiply-add, whatever the machine has: the same numbers everywhere."""

    @njit
    def compiled(table, k, t):
        return two_cubics(table, np.uint64(k), t)

    generator = np.random.default_rng(3)
    table = generator.normal(size=80)
    for k in (0, 8, 72):
        for t in generator.random(50):
            row = table[k : k + 8].reshape(4, 2)
            expected = (row[0] + (t * t) * row[2]) + t * (row[1] + (t * t) * row[3])
            assert compiled(table, k, t) == tuple(expected)


def test_power_sums_have_the_bits_of_their_formula():
    @njit
    def compiled(scores, cum_hit, lanes):
        for i in range(np.uint64(0), np.uint64(16), np.uint64(LANES)):
            add_power_sums(scores, cum_hit, i, 1.0, -1.0, 30.0, 0.5, lanes)
        return sum_of_lanes(lanes, np.uint64(LANES))

    generator = np.random.default_rng(4)
    scores, hits = generator.random(16), generator.integers(0, 2, 16)
    lanes = np.zeros(6 * LANES)
    total = compiled(scores, np.concatenate([[0.0], np.cumsum(hits)]), lanes)
    x = ((1 - scores) * 30 - 0.5).reshape(2, LANES)
    y = hits.reshape(2, LANES)
    terms = x, x * x, x * x * x, y * x, y * x * x, y * x * (x * x)
    np.testing.assert_array_equal(lanes.reshape(6, LANES), [a[0] + a[1] for a in terms])
    assert total == pytest.approx((x * x).sum(), rel=1e-15)
