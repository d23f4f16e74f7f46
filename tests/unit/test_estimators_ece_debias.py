"""ECE_debias: by hand, and against the textbook version; other packages: test_peers.py."""

import numpy as np
import oracles
import pytest
from engine_data import data_sets
from hypothesis import example, given
from hypothesis import strategies as st

from calbias.estimation.api import estimate

BINNINGS = ["ew", "em"]


@pytest.mark.parametrize("binning", BINNINGS)
@given(data=data_sets(), n_bins=st.sampled_from([1, 2, 3, 5, 15, 40]))
@example(data=([0.5], [1]), n_bins=1)
@example(data=([0.9, 0.9, 0.9], [1, 0, 1]), n_bins=2)
def test_agrees_with_the_textbook(binning, data, n_bins):
    scores, hits = data
    expected = oracles.debiased_square(scores, oracles.mean_labels(scores, hits), binning, n_bins)
    signed = estimate(f"ece_debias_unclipped_{binning}", scores, hits, n_bins).value
    clipped = estimate(f"ece_debias_{binning}", scores, hits, n_bins).value
    assert signed * abs(signed) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert clipped == max(signed, 0.0)


def test_by_hand():
    """f = 0.8, y = 1/2, n = 4: (0.3² - 0.25/3) = 0.09 - 0.08333."""
    value = estimate("ece_debias_ew", [0.7, 0.8, 0.8, 0.9], [1, 1, 0, 0], n_bins=1).value
    assert value == pytest.approx(np.sqrt(0.09 - 0.25 / 3))


def test_a_negative_sum_is_clipped_or_keeps_its_sign():
    scores, hits = [0.5, 0.5], [0, 1]  # 0² - 0.25/1
    assert estimate("ece_debias_ew", scores, hits).value == 0.0
    assert estimate("ece_debias_unclipped_ew", scores, hits).value == pytest.approx(-0.5)


def test_bins_of_one_are_dropped_and_their_share_with_them():
    """Two bins, of one and of three samples: the one's weight is not given to the other."""
    value = estimate("ece_debias_ew", [0.1, 0.6, 0.7, 0.8], [1, 1, 1, 1], n_bins=2).value
    assert value == pytest.approx(np.sqrt(3 / 4 * 0.3**2))
    assert estimate("ece_debias_em", [0.1, 0.9], [1, 0], n_bins=2).value == 0.0
