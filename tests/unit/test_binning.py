"""Where bins begin: exact edges, exact integer arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbias.engine.binning import IS_EQUAL_MASS, ranks_of_bins


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


def test_large_products_do_not_overflow():
    assert ranks_of(np.linspace(0, 1, 7), 10**6 + 1, "equal_mass")[10**6] == 7
