import doctest

import mpmath
import numpy as np
import pytest
from fits_data import draw, genuine
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.special import psi
from scipy.stats import beta as beta_distribution

from calbias.truth.curves import Curve
from pipeline.fits import beta as module
from pipeline.fits.beta import beta_from_means, fisher_information, fit_beta
from pipeline.fits.design import LOG_MISS_AT_ONE

shapes = st.floats(np.log(0.03), np.log(200)).map(np.exp)


@pytest.mark.parametrize(
    ("softmax", "alpha", "beta"), [("float32_2020", 2.7752, 0.0478), ("exact", 4.880, 0.0911)]
)
def test_the_genuine_file_gives_the_published_parameters(softmax, alpha, beta):
    top = genuine(softmax)
    fit = fit_beta(top.log_score, top.log1m_score)
    digits = (4, 4) if softmax == "float32_2020" else (3, 4)
    assert tuple(map(round, fit[:2], digits)) == (alpha, beta)
    assert fit.n_samples == 10_000


@given(shapes, shapes)
def test_means_of_a_beta_distribution_give_it_back(alpha, beta):
    found = beta_from_means(psi(alpha) - psi(alpha + beta), psi(beta) - psi(alpha + beta))
    np.testing.assert_allclose(found, (alpha, beta), rtol=1e-7)


@given(st.lists(st.floats(-9, 3), min_size=2, max_size=30).filter(lambda x: np.ptp(x) > 0.3))
def test_the_score_equations_hold_and_swapping_tails_swaps_parameters(log_odds_of_a_miss):
    x = np.array(log_odds_of_a_miss)
    log_score, log1m_score = -np.logaddexp(0, x), x - np.logaddexp(0, x)
    fit, swapped = fit_beta(log_score, log1m_score), fit_beta(log1m_score, log_score)
    np.testing.assert_allclose((swapped.beta, swapped.alpha), fit[:2], rtol=1e-6)
    a, b = mpmath.mpf(fit.alpha), mpmath.mpf(fit.beta)
    for shape, mean in ((a, log_score.mean()), (b, log1m_score.mean())):
        expected = mpmath.digamma(shape) - mpmath.digamma(a + b)
        assert abs(expected - mean) < 1e-9 * (1 + abs(mean))


def test_uniform_scores_by_hand_and_the_example_of_the_docstring():
    # E log c = E log(1 - c) = -1 for Beta(1, 1): psi(1) - psi(2) = -1.
    assert beta_from_means(-1.0, -1.0) == pytest.approx((1, 1), rel=1e-12)
    assert doctest.testmod(module) == (0, 2)


def test_loss_is_that_of_the_distribution():
    log_score, log1m_score, _ = draw(2.0, 0.5, Curve("identity"), 5000)
    fit = fit_beta(log_score, log1m_score)
    density = beta_distribution.logpdf(np.exp(log_score), fit.alpha, fit.beta)
    assert fit.nll == pytest.approx(-density.sum(), rel=1e-9)
    # The likelihood ratio of the truth is chi-square with two degrees of freedom.
    truth = beta_distribution.logpdf(np.exp(log_score), 2.0, 0.5)
    assert 0 <= 2 * (density.sum() - truth.sum()) < 13.8  # its 0.999 quantile


def test_errors_are_the_spread_over_data_sets():
    fits = [fit_beta(*draw(1.1, 0.1, Curve("identity"), 500, seed)[:2]) for seed in range(200)]
    spread = np.std([fit[:2] for fit in fits], axis=0, ddof=1)
    covariance = np.linalg.inv(500 * fisher_information(1.1, 0.1))
    np.testing.assert_allclose(spread, np.sqrt(np.diag(covariance)), rtol=0.15)


def test_a_score_of_one_is_taken_as_the_next_float_below_and_warned_of():
    scores = np.array([0.3, 0.9, 1.0, 1.0])
    with np.errstate(divide="ignore"), pytest.warns(UserWarning, match="2 of 4 scores are exactly"):
        fit = fit_beta(np.log(scores), np.log1p(-scores))
    below = np.array([0.3, 0.9, 1 - 2**-53, 1 - 2**-53])
    assert fit == fit_beta(np.log(below), np.log1p(-below))
    assert np.log1p(-(1 - 1e-16)) == pytest.approx(LOG_MISS_AT_ONE, rel=1e-15)


test_bad_scores_are_refused_by_row = refuses(
    fit_beta,
    ([], [], "at least 1"),
    ([-1.0], [-1.0, -2.0], "one length"),
    (np.log([0.4, 0.4]), np.log([0.6, 0.6]), "all scores are equal"),
    ([np.nan, -0.1], [-1.0, -2.0], "row 0 .* not finite"),
    ([np.log(0.5), -np.inf], [np.log(0.5), 0.0], "row 1 .* not finite"),
    ([0.1, -0.1], [-1.0, -2.0], "row 0 .* outside"),
    (np.log([0.5, 0.9]), np.log([0.5, 0.2]), "row 1 .* not log c and log"),
)


test_means_that_no_beta_distribution_has_are_refused = refuses(
    beta_from_means, (np.log(0.5), np.log(0.5), "too close together")
)
