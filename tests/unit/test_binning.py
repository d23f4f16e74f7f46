"""The sorted form of a data set, and where its bins begin: exact edges, exact arithmetic."""

import numpy as np
import pytest
from engine_data import data_sets
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from calbias.engine.binning import IS_EQUAL_MASS, ranks_of_bins
from calbias.engine.sorted_batch import sorted_data_set


def test_sums_over_ranks():
    data = sorted_data_set([0.9, 0.1, 0.5], [1, 0, 1])
    np.testing.assert_array_equal(data.scores, [[0.1, 0.5, 0.9]])
    np.testing.assert_array_equal(data.cum_hit, [[0, 0, 1, 2]])
    np.testing.assert_allclose(data.cum_gap, [[0, 0.1, -0.4, -0.5]])
    np.testing.assert_array_equal(data.hits(), [[0, 1, 1]])


def test_groups_of_equal_scores_share_their_mean_hit():
    data = sorted_data_set([0.5, 0.5, 0.5, 0.2], [1, 0, 0, 1])
    np.testing.assert_allclose(data.hits(), [[1, 1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_array_equal(data.tie_first, [[0, 1, 1, 1, 4]])
    np.testing.assert_array_equal(data.tie_last, [[0, 1, 4, 4, 4]])


def test_input_order_is_kept_on_request():
    data = sorted_data_set([0.5, 0.5, 0.2, 0.5], [1, 0, 1, 1], ties="input_order")
    np.testing.assert_array_equal(data.hits(), [[1, 1, 0, 1]])
    assert data.tie_first.shape == data.tie_last.shape == (1, 0)


@given(data=data_sets())
def test_totals_and_group_ends_are_exact(data):
    made = sorted_data_set(*data)
    assert made.cum_hit[0, -1] == sum(data[1])
    for end in np.flatnonzero(np.diff(made.scores[0])) + 1:
        below = [h for c, h in zip(*data, strict=True) if c < made.scores[0, end]]
        assert made.cum_hit[0, end] == sum(below)


def test_the_users_arrays_are_left_alone():
    scores, hits = np.array([0.9, 0.1]), np.array([True, False])
    sorted_data_set(scores, hits)
    assert (scores.tolist(), hits.tolist()) == ([0.9, 0.1], [True, False])


test_unknown_ties = refuses(
    sorted_data_set,
    ([0.5], [1], "random", "ties must be one of average, input_order, not 'random'"),
)


def test_ranks_of_bins_are_searched_once():
    data = sorted_data_set([0.1, 0.6, 0.7], [0, 1, 1])
    assert data.ranks(2, "equal_width").tolist() == [[0, 1, 3]]
    assert data.ranks(2, "equal_mass").tolist() == [[0, 2, 3]]
    assert data.ranks(2, "equal_width") is data.ranks(2, "equal_width")


def ranks_of(scores, n_bins, binning):
    return ranks_of_bins(np.array([scores]), n_bins, binning)[0].tolist()


@given(n=st.integers(1, 300), b=st.integers(1, 400))
def test_equal_mass_ranks(n, b):
    """Rank i is in bin floor(i·b/n)."""
    bins = [i * b // n for i in range(n)]
    expected = [next((i for i in range(n) if bins[i] >= k), n) for k in range(b + 1)]
    assert ranks_of(np.linspace(0, 1, n), b, "equal_mass") == expected


@pytest.mark.parametrize("b", [1, 2, 3, 5, 7, 10, 15, 49, 1000])
def test_scores_on_equal_width_edges_begin_their_bin(b):
    """Score 1 is in the last bin."""
    edges = np.array([k / b for k in range(b)] + [1.0])
    assert ranks_of(edges, b, "equal_width") == [*range(b), b + 1]
    for k in range(1, b, max(1, b // 20)):
        below = np.sort(np.append(edges, np.nextafter(edges[k], 0)))
        assert ranks_of(below, b, "equal_width")[k] == k + 1


@pytest.mark.parametrize("binning", IS_EQUAL_MASS)
@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=40), b=st.integers(1, 60))
def test_ranks_of_many_data_sets_are_as_one_by_one(binning, scores, b):
    rows = np.sort([scores, np.round(scores, 1)], axis=1)
    for row, ranks in zip(rows, ranks_of_bins(rows, b, binning).tolist(), strict=True):
        assert ranks == ranks_of(row, b, binning)


@pytest.mark.parametrize("n", [7, 8, 31, 32, 33, 64, 65, 200, 1003])
@pytest.mark.parametrize("power", [0.02, 1, 50])
def test_edges_among_many_scores_are_found_as_by_numpy(n, power):
    """Also where nearly all scores are below the first edge, or above the last one."""
    scores = np.random.default_rng(n).random((40, n)) ** power
    scores[20:] = scores[20:].round(2)
    scores.sort(axis=1)
    inner = np.arange(1, 20) / 20
    expected = [[0, *np.searchsorted(row, inner), n] for row in scores]
    np.testing.assert_array_equal(ranks_of_bins(scores, 20, "equal_width"), expected)


def test_large_products_do_not_overflow():
    assert ranks_of(np.linspace(0, 1, 7), 10**6 + 1, "equal_mass")[10**6] == 7
