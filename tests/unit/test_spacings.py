"""Partial sums of exponentials in groups of four: each step against plain Python."""

import math

import numpy as np
import pytest
from numba import njit

from calbias.engine import sorted_uniforms
from calbias.engine.philox import fill_words
from calbias.engine.simd import load, store
from calbias.engine.sorted_uniforms import minus_log, next_words, seed_lanes

MASK = 2**64 - 1
# Of the authors' xoshiro256plusplus.c, with the state 1, 2, 3, 4.
KNOWN_WORDS = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]


def next_word(state):
    """One step of xoshiro256++ on a list of four Python ints; return the word."""
    s0, s1, s2, s3 = state
    total = (s0 + s3) & MASK
    word = ((total << 23 | total >> 41) + s0) & MASK
    s2, s3 = s2 ^ s0, s3 ^ s1
    state[:] = s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17 & MASK), (s3 << 45 | s3 >> 19) & MASK
    return word


def halves(word):
    return (word & 0xFFFFFFFF) + 0.5, (word >> 32) + 0.5


def seeded(key=(3, 4), replicate=9):
    state = np.empty(32, np.uint64)
    seed_lanes(np.array(key, np.uint32), np.uint64(replicate), state)
    return state


def slow_sums(state, n_blocks):
    """Return (sums, marks), lists in order of the samples, in plain Python."""
    lanes = [[int(word) for word in state.reshape(4, 8)[:, lane]] for lane in range(8)]
    sums, marks, before = [], [], 0.0
    for _ in range(n_blocks):
        for lane in lanes:
            words = [next_word(lane) for _ in range(6)]
            u = [half / 2**32 for word in words[:2] for half in halves(word)]
            whole = -math.log(math.prod(u))
            inside = sorted([*halves(words[2]), halves(words[3])[0]])
            sums += [before + whole * x / 2**32 for x in inside] + [before + whole]
            marks += [int(half) for word in words[4:] for half in halves(word)]
            before += whole
    return sums, marks


def test_words_are_those_of_xoshiro():
    state = [1, 2, 3, 4]
    assert [next_word(state) for _ in range(5)] == KNOWN_WORDS

    @njit
    def step(state, out):
        a, b, c, d = load(state, 0), load(state, 8), load(state, 16), load(state, 24)
        words, a, b, c, d = next_words(a, b, c, d)
        store(out, 0, words)
        for k, lanes in enumerate((a, b, c, d)):
            store(state, 8 * k, lanes)

    state, out = seeded(), np.empty(8, np.uint64)
    slow = [[int(word) for word in state.reshape(4, 8)[:, lane]] for lane in range(8)]
    for _ in range(20):
        step(state, out)
        assert out.tolist() == [next_word(lane) for lane in slow]


def test_lanes_are_seeded_by_philox():
    state = seeded(replicate=2**32 * 7 + 5)
    words = np.empty((4, 16), np.uint32)
    three, four, five, seven, zero = (np.uint32(k) for k in (3, 4, 5, 7, 0))
    fill_words(words, 16, zero, three, four, five, seven)
    assert state.tobytes() == words.tobytes()
    assert np.unique(state).size == 32
    assert not np.isin(seeded(replicate=6), state).any()


def test_logarithms():
    @njit
    def compiled(x, out):
        for i in range(0, x.size, 8):
            store(out, i, minus_log(load(x, i)))

    generator = np.random.default_rng(1)
    x = 2.0 ** generator.uniform(-4, 128, 8000)
    x[:4] = 0.5**4, (2.0**32 - 0.5) ** 4, 2.0**127, np.nextafter(2.0**128, 0)
    out = np.empty(x.size)
    compiled(x, out)
    np.testing.assert_allclose(out, 128 * np.log(2) - np.log(x), rtol=6e-11, atol=5e-14)


@pytest.mark.parametrize("n_blocks", [1, 2, 7])
def test_sums_and_marks_are_those_of_plain_python(n_blocks):
    state = seeded()
    sums, marks = np.empty(32 * n_blocks), np.empty(16 * n_blocks, np.uint64)
    sorted_uniforms.sum_exponentials(state, n_blocks, sums, marks)
    slow, slow_marks = slow_sums(state, n_blocks)
    order = [sorted_uniforms.place_of(i) for i in range(32 * n_blocks)]
    np.testing.assert_allclose(sums[order], slow, rtol=1e-10)
    assert (np.diff(sums[order]) >= 0).all()
    pairs = marks.view(np.uint32).reshape(n_blocks, 2, 8, 2)  # word, group, half
    assert pairs.transpose(0, 2, 1, 3).ravel().tolist() == slow_marks
