"""Where bins begin: exact edges, exact integer arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbias.engine.binning import IS_EQUAL_MASS, first_rank, ranks_of_bins

EQUAL_WIDTH, EQUAL_MASS = IS_EQUAL_MASS["equal_width"], IS_EQUAL_MASS["equal_mass"]


@given(n=st.integers(1, 300), b=st.integers(1, 400))
def test_equal_mass_ranks(n, b):
    """Rank i is in bin floor(i·b/n)."""
    bins = [i * b // n for i in range(n)]
    scores = np.linspace(0, 1, n)
    for k in range(b + 1):
        expected = next((i for i in range(n) if bins[i] >= k), n)
        assert first_rank(k, b, scores, EQUAL_MASS) == expected


@pytest.mark.parametrize("b", [1, 2, 3, 5, 7, 10, 15, 49, 1000])
def test_scores_on_equal_width_edges_begin_their_bin(b):
    edges = np.array([k / b for k in range(b)] + [1.0])
    for k in range(1, b):
        assert first_rank(k, b, edges, EQUAL_WIDTH) == k
        below = np.sort(np.append(edges, np.nextafter(edges[k], 0)))
        assert first_rank(k, b, below, EQUAL_WIDTH) == k + 1
    assert first_rank(b, b, edges, EQUAL_WIDTH) == b + 1  # score 1 is in the last bin
    assert first_rank(0, b, edges, EQUAL_WIDTH) == 0


@pytest.mark.parametrize("binning", IS_EQUAL_MASS)
@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=40), b=st.integers(1, 60))
def test_ranks_of_all_bins_at_once(binning, scores, b):
    rows = np.sort([scores, np.round(scores, 1)], axis=1)
    ranks = ranks_of_bins(rows, b, binning)
    assert ranks_of_bins(rows[:1], b, binning).tolist() == ranks[:1].tolist()
    for row, scores in zip(ranks, rows, strict=True):
        expected = [first_rank(k, b, scores, IS_EQUAL_MASS[binning]) for k in range(b + 1)]
        assert row.tolist() == expected


def test_large_products_do_not_overflow():
    scores = np.linspace(0, 1, 7)
    assert first_rank(10**6, 10**6 + 1, scores, EQUAL_MASS) == 7
