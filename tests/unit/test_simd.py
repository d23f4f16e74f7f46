"""Vectors of eight lanes: every operation against NumPy, bit by bit."""

import numpy as np
import pytest
from numba import njit, uint64
from numba.core.errors import TypingError

from calbias.engine import simd
from calbias.engine.simd import LANES, store

GENERATOR = np.random.default_rng(3)
A, B = GENERATOR.normal(size=(2, LANES))
A0 = float(A[0])
U, V = GENERATOR.integers(0, 2**63, (2, LANES)).astype(np.uint64)


def on_vectors(function, *arrays):
    """Return what ``function`` of the vectors of two arrays gives, as an array."""
    function, out = njit(function), np.empty_like(arrays[0])

    @njit
    def compiled(x, y, out):
        simd.store(out, 0, function(simd.load(x, 0), simd.load(y, 0)))

    compiled(*arrays, out)
    return out


FLOATS = (
    *(lambda x, y: x * y + x, lambda x, y: (x + y) / (x - y)),
    lambda x, y: 0.5 - ((x * 2 + 1.0) - y / 3.0),
)
WORDS = (
    *(lambda x, y: (x + y) * (x - y), lambda x, y: (x ^ y) + (x & y), lambda x, y: x | y),
    lambda x, y: ((x << uint64(17)) ^ (y >> uint64(3))) + (x & uint64(255)),
)


@pytest.mark.nightly
@pytest.mark.parametrize("function", FLOATS)
def test_arithmetic_of_floats(function):
    """Also with plain numbers; no fused multiply-add, whatever the processor has."""
    np.testing.assert_array_equal(on_vectors(function, A, B), function(A, B))


@pytest.mark.nightly
@pytest.mark.parametrize("function", WORDS)
def test_arithmetic_of_words(function):
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(on_vectors(function, U, V), function(U, V))


def network_sums(values):
    """The prefix sums in the order of the network that adds them, on every processor."""
    for step in (1, 2, 4):
        values = values + np.concatenate([np.zeros(step), values[:-step]])
    return values


def test_lanes_and_bits():
    @njit
    def lanes(first, second, out):
        x, y = simd.load(first, 0), simd.load(second, 0)
        store(out, 0, simd.select(x < y, x, y))
        store(out, 8, simd.select(x >= A0, y, x))
        store(out, 16, simd.select(x > 0.25, y, simd.copies(1.0)))
        store(out, 24, simd.prefix_sums(x))
        store(out, 32, simd.last_lane(x))
        store(out, 40, simd.float_of(simd.bits_of(x) + uint64(1 << 52)))  # one in the exponent
        store(out, 48, simd.lanes_from(x, y, 1))
        store(out, 56, simd.lanes_from(x, y, 2))

    out, both = np.empty((8, LANES)), np.concatenate([A, B])
    lanes(A, B, out.ravel())
    smaller, switched, larger = np.minimum(A, B), np.where(A >= A0, B, A), np.where(A > 0.25, B, 1)
    sums, last = network_sums(A), [A[-1]] * LANES
    expected = [smaller, switched, larger, sums, last, 2 * A, both[1:9], both[2:10]]
    np.testing.assert_array_equal(out, expected)


def test_the_sum_of_lanes_is_that_of_a_network():
    @njit
    def total(x):
        return simd.sum_of_lanes(simd.load(x, 0))

    fours = A[:4] + A[4:]
    twos = fours[:2] + fours[2:]
    assert total(A) == twos[0] + twos[1]
    np.testing.assert_allclose(network_sums(A), np.cumsum(A), rtol=1e-14)


def test_first_true():
    @njit
    def first_above(x, bound):
        return simd.first_true(simd.load(x, 0) > bound)

    x = np.arange(8.0)
    assert [first_above(x, bound) for bound in (-1.0, 0.0, 5.5, 7.0)] == [0, 1, 6, 8]


def test_rows_are_gathered_and_groups_stored():
    @njit
    def gathered(table, rows, out):
        for k, column in enumerate(simd.gather_rows(table, simd.load(rows, 0))):
            simd.store(out, 8 * k, column)

    @njit
    def grouped(x, out):
        vectors = simd.load(x, 0), simd.load(x, 8), simd.load(x, 16), simd.load(x, 24)
        simd.store_groups(out, 1, *vectors)

    table, rows = GENERATOR.random((20, 8)), GENERATOR.integers(0, 20, 8)
    columns = np.empty((8, 8))
    gathered(table.ravel(), rows.astype(np.uint64), columns.ravel())
    np.testing.assert_array_equal(columns, table[rows].T)
    samples, out = GENERATOR.random((4, 8)), np.zeros(34)
    grouped(samples.ravel(), out)
    np.testing.assert_array_equal(out, [0, *samples.T.ravel(), 0])


def test_other_arrays_are_refused():
    @njit
    def loaded(x):
        return simd.sum_of_lanes(simd.load(x, 0))

    for array in (np.zeros(16)[::2], np.zeros(8, np.float32)):
        with pytest.raises(TypingError, match="not a contiguous array of float64 or uint64"):
            loaded(array)


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_gather(kind):
    values = (100 * GENERATOR.random(40)).astype(kind)
    places = GENERATOR.integers(0, 40, LANES).astype(np.uint64)
    out = np.empty(LANES, np.float64 if kind is np.float64 else np.uint64)

    @njit
    def gathered(values, places, out):
        simd.store(out, 0, simd.gather(values, simd.load(places, 0)))

    gathered(values, places, out)
    np.testing.assert_array_equal(out, values[places])
