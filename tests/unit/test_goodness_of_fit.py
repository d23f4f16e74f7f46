"""How well fits describe scores and hits, and what splines of all ranks do: by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2

from calbias import Curve
from calbias.logits.output_file import Fold
from calbias.logits.top_label import top_label_of_scores
from reproduction.goodness_of_fit import N_HITS, distance, p_of_curve
from reproduction.outputs import _extra, hits_of_all_ranks


def test_distance_of_distribution_functions_on_both_sides_of_a_step():
    """Of three uniform scores the function is a quarter below at 1/4 and above at 3/4."""
    for scores, expected in (([0.25, 0.5, 0.75], 0.25), ([0.1, 0.2, 0.3], 0.7), ([0.9], 0.9)):
        top = top_label_of_scores(np.array(scores), np.ones(len(scores), np.uint8))
        assert distance(top, 1.0, 1.0) == pytest.approx(expected)


def test_scores_beyond_the_top_score_count_as_missing_there():
    top = top_label_of_scores(np.array([0.25, 0.5, 0.75, 0.9995]), np.ones(4, np.uint8))
    assert distance(top, 1.0, 1.0) == pytest.approx(0.25)  # at 3/4; 0.249 at the end
    top = top_label_of_scores(np.full(4, 0.9995), np.ones(4, np.uint8))
    assert distance(top, 1.0, 1.0) == pytest.approx(0.999)


def test_p_of_the_hits_by_chi_squared():
    """Two rows a bin, hit by a coin: one of each is no deviation, two hits are one of 1²/½."""
    scores, hits = np.linspace(0.1, 0.9, 2 * N_HITS), np.tile([1, 0], N_HITS)
    coin = Curve("logit_logit_b0", 0.0)
    assert p_of_curve(top_label_of_scores(scores, hits), coin, 1) == 1
    hits[1] = 1
    p = p_of_curve(top_label_of_scores(scores, hits), coin, 1)
    assert p == pytest.approx(chi2.sf(2, N_HITS - 1))


def test_splines_of_all_ranks_prefer_the_rank_that_is_right_more_often():
    """All rows have one score; the first class is right in two of five, the second in three."""
    logits, labels = np.tile([1.0, 0.0], (10, 1)), np.array([0, 0, 1, 1, 1] * 2)
    fold = Fold(logits, labels)
    assert hits_of_all_ranks(fold, fold).tolist() == (labels == 1).tolist()
    often = Fold(logits, 1 - labels)
    assert hits_of_all_ranks(often, fold).tolist() == (labels == 0).tolist()


def test_how_far_the_entries_of_a_vector_are_apart():
    assert [*_extra(SimpleNamespace(weights=np.array([1.0, 2.0, 3.0]))).values()] == [1, 3, 0.5]
    assert _extra(SimpleNamespace(weights=np.ones((3, 3)))) == {}
