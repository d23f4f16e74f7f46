"""Bins, ECE_bin, ECE_debias, ECE_lb, the diagram: by hand, and against textbook versions."""

import math

import numpy as np
import oracles
import pytest
from command import python
from engine_data import data_sets, drawn
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refuses

import calbias
from calbias.engine.sorted_batch import (
    bin_numbers,
    edges,
    of_sorted_scores,
    ranks_of_bins,
    sorted_data_set,
)
from calbias.estimation.api import estimate

BINNINGS = ["ew", "em"]


@pytest.mark.parametrize("binning", BINNINGS)
@given(data=data_sets(), n_bins=st.sampled_from([1, 2, 3, 5, 15, 40]))
@example(data=([0.6000000000000001, 0.6, 0.4, 0.2, 0.8], [0, 1, 0, 1, 1]), n_bins=5)
@example(data=([0.5], [1]), n_bins=15)
@example(data=([0.0, 1.0], [1, 0]), n_bins=40)
def test_agrees_with_the_textbook(binning, data, n_bins):
    labels = oracles.mean_labels(*data)
    n_used = oracles.n_bins_of(data[0], labels, binning, n_bins)
    for norm in (1, 2, 3.5):
        result = estimate(f"ece_bin_{binning}", *data, n_bins=n_bins, norm=norm)
        expected = oracles.ece_bin(data[0], labels, binning, n_bins, norm)
        assert result[:2] == (pytest.approx(expected, rel=1e-12, abs=1e-12), n_used)
        word = {"ew": "width", "em": "mass"}[binning]
        assert calbias.ece(*data, n_bins, norm, word) == result.value


@pytest.mark.parametrize("binning", BINNINGS)
@given(data=data_sets(), n_bins=st.sampled_from([1, 2, 3, 5, 15, 40]))
@example(data=([0.5], [1]), n_bins=1)
@example(data=([0.9, 0.9, 0.9], [1, 0, 1]), n_bins=2)
def test_ece_debias_agrees_with_the_textbook(binning, data, n_bins):
    expected = oracles.debiased_square(data[0], oracles.mean_labels(*data), binning, n_bins)
    signed = estimate(f"ece_debias_unclipped_{binning}", *data, n_bins=n_bins).value
    assert signed * abs(signed) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert estimate(f"ece_debias_{binning}", *data, n_bins=n_bins).value == max(signed, 0.0)


@pytest.mark.parametrize(
    ("scores", "n_bins", "sizes"),
    [
        # a boundary at rank 2 of the group [1, 4) is nearer to 1: {0.1}, {0.5 × 3, 0.9 × 2}
        ([0.1, 0.5, 0.5, 0.5, 0.5, 0.9], 3, [1, 4, 1]),
        # boundaries 2 and 4 of the group [1, 5) go down and up
        ([0.5, 0.5, 0.9, 0.9], 4, [2, 2]),  # 1 and 3 are as far from either end: up
        ([0.9] * 200, 15, [200]),
        ([0.2] * 3 + [0.6] * 7, 2, [3, 7]),
    ],
)
def test_equal_mass_bins_never_cut_equal_scores(scores, n_bins, sizes):
    hits = np.arange(len(scores)) % 2
    assert estimate("ece_bin_em", scores, hits, n_bins=n_bins).n_bins == len(sizes)
    ranks = sorted_data_set(scores, hits).ranks(n_bins, "equal_mass")[0]
    assert np.diff(np.unique(ranks)).tolist() == sizes


@pytest.mark.parametrize("binning", BINNINGS)
@given(data=data_sets(), n_bins=st.sampled_from([1, 2, 3, 5, 15, 40]))
def test_ece_lb_agrees_with_the_textbook(binning, data, n_bins):
    labels = oracles.mean_labels(*data)
    for norm in (1, 2, 3.5):
        value = estimate(f"ece_label_binned_{binning}", *data, n_bins=n_bins, norm=norm).value
        expected = oracles.ece_label_binned(data[0], labels, binning, n_bins, norm)
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_groups_of_equal_scores_share_their_mean_hit():
    data = sorted_data_set([0.5, 0.5, 0.5, 0.2], [1, 0, 0, 1])
    np.testing.assert_allclose(data.hits(), [[1, 1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_array_equal(data.tie_first, [[0, 1, 1, 1, 4]])
    np.testing.assert_array_equal(data.tie_last, [[0, 1, 4, 4, 4]])


def test_input_order_is_kept_on_request():
    data = sorted_data_set([0.5, 0.5, 0.2, 0.5], [1, 0, 1, 1], ties="input_order")
    np.testing.assert_array_equal(data.hits(), [[1, 1, 0, 1]])
    assert data.tie_first.shape == data.tie_last.shape == (1, 0)


def test_the_users_arrays_are_left_alone():
    scores, hits = np.array([0.9, 0.1]), np.array([True, False])
    sorted_data_set(scores, hits)
    assert (scores.tolist(), hits.tolist()) == ([0.9, 0.1], [True, False])


test_unknown_ties = refuses(
    sorted_data_set,
    ([0.5], [1], "random", "ties must be one of average, input_order, not 'random'"),
)


test_unsorted_scores = refuses(
    lambda scores: of_sorted_scores(np.array(scores), np.ones((1, len(scores)))),
    *(
        (scores, "must ascend")
        for scores in ([0.2, 0.3, 0.1], [0.2, np.nan], [np.nan], [1.1], [-0.1, 0.5], [])
    ),
)


@given(n=st.integers(1, 300), b=st.integers(1, 400))
@example(n=7, b=10**6 + 1)
def test_equal_mass_ranks(n, b):
    """Rank i is in bin floor(i·b/n)."""
    expected = np.searchsorted(np.arange(n) * b // n, np.arange(b + 1))
    assert ranks_of_bins(np.zeros((1, n)), b, "equal_mass")[0].tolist() == expected.tolist()


@pytest.mark.parametrize("n", [7, 8, 31, 32, 33, 64, 65, 200, 1003])
@pytest.mark.parametrize("power", [0.02, 1, 50])
def test_edges_among_many_scores_are_found_as_by_numpy(n, power):
    """Also where nearly all scores are below the first edge, or above the last one."""
    scores = np.random.default_rng(n).random((40, n)) ** power
    scores[20:] = scores[20:].round(2)
    scores.sort(axis=1)
    inner = np.arange(1, 20) / 20
    expected = [[0, *np.searchsorted(row, inner), n] for row in scores]
    for m in (1, 2, 40):
        np.testing.assert_array_equal(ranks_of_bins(scores[:m], 20, "equal_width"), expected[:m])


def test_the_bins_of_the_diagram_by_hand():
    diagram = calbias.reliability_diagram([0.05, 0.15, 0.95, 1.0], [0, 1, 1, 1], n_bins=10)
    assert diagram.n_in_bin.tolist() == [1, 1, 2]  # empty bins are left out
    assert diagram.mean_score == pytest.approx([0.05, 0.15, 0.975])
    assert diagram.mean_hit.tolist() == [0, 1, 1]
    assert diagram.lowest_score.tolist() == [0.05, 0.15, 0.95]
    assert diagram.highest_score.tolist() == [0.05, 0.15, 1.0]


NUMBA_LESS = """
import sys
sys.modules["numba"] = None
import calbias
from calbias.sklearn import calibration_error
scores, hits = calbias.example()
print(calbias.ece(scores, hits), calbias.estimate("ece_sweep_em", scores, hits).value)
print(calibration_error(hits, scores), calbias.estimate("ece_debias_em", scores, hits).value)
try:
    calbias.estimate("kde", scores, hits)
except calbias.InputError as error:
    print(error)
"""


def test_no_bit_depends_on_the_order_of_the_rows():
    scores, hits = drawn(40_000, shapes=(0.2, 0.7))  # more than are summed at a time
    order = np.random.default_rng(1).permutation(scores.size)
    small, none = scores * 1e-9, 0 * hits  # nothing but what is left of a score after 27 bits
    assert calbias.ece(small[order], none) == calbias.ece(small, none)
    value = calbias.ece(scores, hits)
    assert calbias.ece(scores[order], hits[order]) == value
    gaps = [math.fsum((scores - hits)[(scores * 15).astype(int) == k]) for k in range(15)]
    assert value == pytest.approx(math.fsum(map(abs, gaps)) / scores.size, rel=1e-14)


@pytest.mark.parametrize("n_bins", [*range(1, 101), 1000, 999_983])
def test_a_score_on_an_edge_is_in_the_upper_bin(n_bins):
    inner = edges(n_bins)[1:-1][:2000]
    k = np.arange(1, inner.size + 1)
    assert (bin_numbers(inner, n_bins) == k).all()
    assert (bin_numbers(np.nextafter(inner, 0), n_bins) == k - 1).all()
    assert bin_numbers(np.array([0.0, 1.0]), n_bins).tolist() == [0, n_bins - 1]


def test_what_works_without_numba():
    first, second, refusal = python(NUMBA_LESS).splitlines()
    scores, hits = calbias.example()
    sweep = calbias.estimate("ece_sweep_em", scores, hits).value
    debias = calbias.estimate("ece_debias_em", scores, hits).value
    assert [*map(float, first.split()), *map(float, second.split())] == pytest.approx(
        [calbias.ece(scores, hits), sweep, sweep, debias]
    )
    assert refusal.endswith("pip install numba")
