"""Top-label scores: by hand, against slow sums, and on the paper's own file."""

import math

import numpy as np
import pytest
from checkout import GENUINE
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refuses
from scipy.optimize import minimize
from scipy.special import betaln

from calbias.logits import top_label as scores
from calbias.logits.pickles import read_pickle
from calbias.logits.top_label import REDUCTION_2020, top_label


def beta_mle(top):
    """Maximum likelihood (alpha, beta) of a TopLabel's scores from their sufficient statistics."""
    log_score, log1m_score = top.log_score.mean(), top.log1m_score.mean()

    def loss(parameters):
        a, b = np.exp(parameters)
        return betaln(a, b) - (a - 1) * log_score - (b - 1) * log1m_score

    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
    return np.exp(minimize(loss, [0.7, -2.5], method="Nelder-Mead", options=options).x)


def test_rows_by_hand():
    """Of tied classes the first is the top class; labels may be a column."""
    p = [[0.7, 0.2, 0.1], [0.25, 0.25, 0.5], [0.4, 0.4, 0.2], [0.4, 0.4, 0.2]]
    top = top_label(np.log(p), [[0], [1], [0], [1]])
    assert top.score == pytest.approx([0.7, 0.5, 0.4, 0.4], rel=1e-15)
    assert top.log_score == pytest.approx(np.log([0.7, 0.5, 0.4, 0.4]), rel=1e-15)
    assert top.log1m_score == pytest.approx(np.log([0.3, 0.5, 0.6, 0.6]), rel=1e-14)
    assert top.hit.tolist() == [1, 0, 1, 0]
    assert [array.dtype for array in top] == [np.float64] * 3 + [np.uint8]


def test_log_miss_survives_where_the_score_rounds_to_one():
    top = top_label(np.array([[800.0, 0.0, 0.0], [-1000.0, -1000.0, -900.0]]), [0, 2])
    assert top.score.tolist() == [1.0, 1.0]
    assert top.log1m_score == pytest.approx([math.log(2) - 800, math.log(2) - 100], rel=1e-15)
    assert top.log_score[1] == pytest.approx(-2 * math.exp(-100), rel=1e-12, abs=0)


def test_other_logits_of_minus_infinity_leave_no_nan():
    top = top_label(np.array([[1.0, -np.inf, -np.inf], [1.0, 1.0, -np.inf]]), [0, 0])
    assert (top.log1m_score[0], top.score[0], top.score[1]) == (-np.inf, 1, pytest.approx(0.5))


@given(arrays(np.float64, (4, 5), elements=st.floats(-50, 50)), st.floats(-1e3, 1e3))
def test_logarithms_belong_together_and_ignore_a_shift(logits, shift):
    top = top_label(logits, [0] * 4)
    assert np.exp(top.log_score) + np.exp(top.log1m_score) == pytest.approx(np.ones(4), rel=1e-14)
    assert np.all(top.score >= 0.2 - 1e-15)
    moved = top_label(logits + shift, [0] * 4)
    assert moved.log1m_score == pytest.approx(top.log1m_score, abs=1e-11)


@given(arrays(np.float32, (3, 4), elements=st.floats(-30, 30, width=32)))
def test_exact_agrees_with_a_slow_sum(logits):
    top = top_label(logits, [0] * 3)
    for row, log_score, log1m_score in zip(logits, top.log_score, top.log1m_score, strict=True):
        *others, _ = e = sorted(math.exp(float(z) - float(row.max())) for z in row)
        assert log_score == pytest.approx(-math.log1p(math.fsum(others)), rel=1e-13)
        miss = math.log(math.fsum(others)) - math.log(math.fsum(e))
        assert log1m_score == pytest.approx(miss, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("softmax", ["exact", "float32_2020"])
def test_blocks_of_rows_do_not_show(monkeypatch, softmax):
    rng = np.random.default_rng(1)
    logits, labels = rng.normal(size=(103, 7)).astype(np.float32), rng.integers(7, size=103)
    whole = top_label(logits, labels, softmax)
    monkeypatch.setattr(scores, "_ELEMENTS", 70)
    for a, b in zip(whole, top_label(logits, labels, softmax), strict=True):
        assert np.array_equal(a, b)


def test_float32_2020_rounds_and_reduces():
    top = top_label(np.array([[30.0, 0.0], [0.0, 0.0]]), [0, 0], "float32_2020")
    assert top.score.tolist() == [1.0 - REDUCTION_2020, 0.5 - 1e-16]
    assert top.log1m_score[0] == pytest.approx(math.log(2.0**-53), rel=1e-12)
    assert top.score[0] < 1


test_refusals = refuses(
    top_label,
    ([[0.0, 1.0], [0.0, np.nan]], [0, 0], "exact", "row 1 .* NaN or infinite"),
    ([[0.0, np.inf]], [0], "float32_2020", "row 0 .* NaN or infinite"),
)


def test_which_softmax_gives_the_published_fit_of_the_genuine_file():
    """By a slow fit; more: test_fits_beta.py."""
    _, fold = read_pickle(GENUINE)
    exact, rounded = top_label(*fold, "exact"), top_label(*fold, "float32_2020")
    assert beta_mle(rounded) == pytest.approx([2.7752, 0.0478], abs=5e-5)
    assert beta_mle(exact) == pytest.approx([4.8796, 0.09106], rel=1e-4)
    assert np.mean(rounded.score == 1.0 - REDUCTION_2020) == pytest.approx(0.483, abs=5e-4)
    assert rounded.score.max() < 1
    assert exact.hit.mean() == 0.9356  # Gupta et al. 2021, Table 5
