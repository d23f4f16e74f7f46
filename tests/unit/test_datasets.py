"""The sorted form of a data set: sums over ranks, groups of equal scores, bad input."""

import numpy as np
import pytest
from engine_data import data_sets
from hypothesis import given

from calbias.engine.sorted_batch import sorted_data_set
from calbias.errors import InputError


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
    scores, hits = data
    made = sorted_data_set(scores, hits)
    assert made.cum_hit[0, -1] == sum(hits)
    ends = np.flatnonzero(np.diff(made.scores[0])) + 1
    below = [
        sum(h for c, h in zip(scores, hits, strict=True) if c < made.scores[0, i]) for i in ends
    ]
    np.testing.assert_array_equal(made.cum_hit[0, ends], below)


def test_the_users_arrays_are_left_alone():
    scores, hits = np.array([0.9, 0.1]), np.array([True, False])
    sorted_data_set(scores, hits)
    assert scores.tolist() == [0.9, 0.1]
    assert hits.tolist() == [True, False]


def test_unknown_ties():
    with pytest.raises(InputError, match="ties must be one of average, input_order, not 'random'"):
        sorted_data_set([0.5], [1], ties="random")


def test_ranks_of_bins_are_searched_once():
    data = sorted_data_set([0.1, 0.6, 0.7], [0, 1, 1])
    assert data.ranks(2, "equal_width").tolist() == [[0, 1, 3]]
    assert data.ranks(2, "equal_mass").tolist() == [[0, 2, 3]]
    assert data.ranks(2, "equal_width") is data.ranks(2, "equal_width")
