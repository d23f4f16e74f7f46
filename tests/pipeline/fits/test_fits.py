"""Fits of Beta distributions and of GLMs: by hand, by their equations, on the published file."""

import csv
import doctest
from functools import partial
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from checkout import TABLE_3
from fits_data import draw, fit_glm, genuine
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.special import psi
from scipy.stats import beta as beta_distribution
from scipy.stats import chi2

from calbias.reading.output_file import Fold
from calbias.reading.top_label import top_label_of_scores
from calbias.truth.curves import GLM_NAMES, Curve
from pipeline.fits import beta as module
from pipeline.fits.beta import beta_from_means, fisher_information, fit_beta
from pipeline.fits.design import LOG_MISS_AT_ONE, below_one
from pipeline.fits.glm import Labelled, best_fit, fit_all, refit
from reproduction.goodness_of_fit import (
    N_HITS,
    distance,
    joined_bins,
    p_of_chances,
    p_of_curve,
)
from reproduction.outputs import _extra, hits_of_all_ranks

shapes = st.floats(np.log(0.03), np.log(200)).map(np.exp)


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


def of_scores(groups):
    """Return (log c, log(1 - c), hit) of {score: (hits, misses)}."""
    scores = np.concatenate([np.full(sum(counts), c) for c, counts in groups.items()])
    hit = np.concatenate([np.repeat([1, 0], counts) for counts in groups.values()])
    return np.log(scores), np.log1p(-scores), hit


SLOPE = (np.log(5) - np.log(1 / 3)) / (np.log(9) - np.log(2 / 3))


@pytest.mark.parametrize(
    ("name", "groups", "b0", "b1"),
    [
        # log odds of the groups are log(1/3) and log 5; logit(c) is log(2/3) and log 9
        ("logit_logit_b0_b1", {0.4: (1, 3), 0.9: (5, 1)}, np.log(5) - SLOPE * np.log(9), SLOPE),
        # a slope alone on one score
        ("log_log_b1", {0.5: (7, 3)}, np.nan, np.log(0.7) / np.log(0.5)),
        ("logflip_logflip_b1", {0.5: (7, 3)}, np.nan, np.log(0.3) / np.log(0.5)),
        ("logit_logflip_b1", {0.5: (7, 3)}, np.nan, np.log(7 / 3) / np.log(0.5)),
        # seven hits at 0.5, three misses at 0.25: the loss 7·b·log 2 - 3·log(1 - 4^-b) is
        # stationary where 4^b - 1 = 6/7
        ("log_log_b1", {0.5: (7, 0), 0.25: (0, 3)}, np.nan, np.log(13 / 7) / np.log(4)),
    ],
)
def test_coefficients_by_hand(name, groups, b0, b1):
    fit = fit_glm(name, *of_scores(groups))
    assert (fit.b0, fit.b1) == pytest.approx((b0, b1), rel=1e-8, nan_ok=True)


def test_selection_is_by_the_smallest_aic_in_the_order_of_the_names():
    fits = fit_all(*draw(1.0, 1.0, Curve("logit_logit_b0_b1", -1.0, 2.0), 4000))
    assert [fit.glm for fit in fits] == list(GLM_NAMES)
    assert best_fit(fits).glm == "logit_logit_b0_b1"
    for k in (1, 2):
        assert {fit.aic - 2 * fit.nll for fit in fits if fit.glm.count("_b") == k} == {2.0 * k}


def test_a_score_of_one_is_the_next_float_below_or_dropped():
    log_score, log1m_score, hit = draw(2.8, 0.05, Curve("logit_logit_b0_b1", -0.4, 0.4), 800)
    rounded = np.where(log1m_score < -36, 1.0, np.exp(log_score))
    with np.errstate(divide="ignore"):
        columns = np.log(rounded), np.log1p(-rounded)
    with pytest.warns(UserWarning, match="scores are exactly 1"):
        kept = fit_glm("logit_logit_b0_b1", *columns, hit)
    floored = np.maximum(columns[1], LOG_MISS_AT_ONE)
    assert kept.nll == fit_glm("logit_logit_b0_b1", columns[0], floored, hit).nll

    below = rounded < 1
    for log1m_score in (columns[1], floored):  # at 1, or already reduced as in float32_2020
        dropped = fit_all(columns[0], log1m_score, hit, drop_scores_equal_to_one=True)
        alone = fit_all(columns[0][below], columns[1][below], hit[below])
        assert [fit.nll for fit in dropped] == [fit.nll for fit in alone]
        assert below.sum() < 800


test_dropping_every_score_is_refused = refuses(
    partial(fit_all, drop_scores_equal_to_one=True),
    ([0.0, 0.0], [-np.inf, -np.inf], [0, 1], "no score is below 1"),
)


def test_coefficients_do_not_depend_on_the_optimiser_or_the_row_order():
    columns = draw(1.1, 0.2, Curve("logflip_logflip_b0_b1", -0.12, 0.58), 3000)
    order = np.random.default_rng(1).permutation(3000)
    expected = [(fit.b0, fit.b1, fit.nll) for fit in fit_all(*columns)]
    shuffled = fit_all(*(column[order] for column in columns))
    for other in (fit_all(*columns, use_statsmodels=False), shuffled):
        np.testing.assert_allclose([(f.b0, f.b1, f.nll) for f in other], expected, rtol=1e-9)


test_bad_input_is_refused = refuses(
    partial(
        fit_glm,
        name="logit_logit_b0_b1",
        log_score=np.log([0.5, 0.6, 0.7]),
        log1m_score=np.log([0.5, 0.4, 0.3]),
        hit=[0, 1, 1],
    ),
    ({"name": "probit_b0"}, "unknown GLM 'probit_b0': choose from logit_logit_b0"),
    ({"hit": [1, 1, 1]}, "all 3 rows are hits"),
    ({"hit": [0, 0, 0]}, "all 3 rows are misses"),
    ({"hit": [0, 2, 1]}, "row 1 .* neither 0 nor 1"),
    ({"hit": [0, 1]}, "one value for each of the 3"),
    (dict.fromkeys(["log1m_score", "log_score"], np.log([0.5] * 3)), "are equal"),
    ({"log_score": [0.2, -1.0, -1.0]}, "row 0 .* outside"),
)


def test_separated_hits_and_misses_are_warned_of():
    with pytest.warns(UserWarning, match="separate hits from misses"):
        fit = fit_glm("logit_logit_b0_b1", *of_scores({0.4: (0, 5), 0.9: (5, 0)}))
    assert fit.nll < 1e-6


@pytest.mark.nightly
def test_the_published_aics_are_means_over_resamples_without_the_scores_of_one():
    """Table 3: ten resamples a model, drawn separately; scores of 1 dropped after resampling."""
    top = genuine("float32_2020")
    with open(TABLE_3, encoding="utf-8", newline="") as file:
        rows = {r["glm"]: r for r in csv.DictReader(file) if r["model"] == "resnet110_c10"}
    inside = below_one(top.log1m_score)
    columns = top.log_score[inside], top.log1m_score[inside], top.hit[inside]
    rng, z = np.random.default_rng(0), []
    for fit in fit_all(*columns, use_statsmodels=False):
        counts = rng.multinomial(10_000, np.full(10_000, 1e-4), size=20)[:, inside]
        data = Labelled(*columns[:2], counts * columns[2], counts * (1 - columns[2].astype(int)))
        aic = refit(fit, data)[1]
        assert aic.mean() < 4600  # 4780 for the intercept where the scores of 1 are kept
        # The published mean of ten differs from ours of twenty by sd·√(1/10 + 1/20).
        spread = aic.std(ddof=1) * np.sqrt(1 / 10 + 1 / 20)
        z.append((float(rows[fit.glm]["aic"]) - aic.mean()) / spread)
    assert np.abs(z).max() < 3.5
    assert np.abs(np.mean(z)) < 1.5


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
    """Ten rows a bin, hit by a coin: five are no deviation, seven are one of 2²/2.5."""
    scores, hits = np.linspace(0.1, 0.9, 10 * N_HITS), np.tile([1, 0], 5 * N_HITS)
    coin = Curve("logit_logit_b0", 0.0)
    assert p_of_curve(top_label_of_scores(scores, hits), coin, 1) == 1
    hits[[1, 3]] = 1
    p = p_of_curve(top_label_of_scores(scores, hits), coin, 1)
    assert p == pytest.approx(chi2.sf(4 / 2.5, N_HITS - 1))


def test_bins_are_joined_until_five_hits_and_misses_are_expected():
    """One miss among scores near 1 is no evidence: 7e-29 was printed of such a bin."""
    hits, misses = np.array([6.0, 5.0, 9.0, 9.9]), np.array([6.0, 6.0, 4.0, 0.1])
    assert joined_bins(hits, misses).tolist() == [0, 1, 1, 1]
    assert joined_bins(hits, misses / 100).tolist() == [0, 0, 0, 0]
    n = 10 * N_HITS
    log_odds = np.linspace(0, 3, n)
    chances = np.where(np.arange(n) < n // 2, 0.5, 1 - 1e-6)
    seen = np.tile([1, 0], n // 2) | (np.arange(n) >= n // 2)
    seen[-1] = 0
    assert p_of_chances(log_odds, seen, chances, 1) > 0.5
    assert np.isnan(p_of_chances(log_odds, seen, np.full(n, 1 - 1e-6), 1))


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
