"""The averaged posterior: a textbook version by SciPy, toy cases worked by hand, properties."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from engine_data import drawn
from scipy.optimize import minimize
from scipy.special import expit

from calbias.engine import posterior
from calbias.engine.posterior import curve_models, curve_of
from calbias.engine.posterior_cells import cells_of, errors_of_curves
from calbias.engine.posterior_curves import fit_curves, segmentations
from calbias.engine.steep_line import steep_line
from calbias.errors import InputError
from calbias.estimation.api import estimate
from calbias.samples.by_score import Scored

NAME = "averaged_posterior"


def columns(scores, hits):
    scored = Scored.of(np.asarray(scores, float), np.asarray(hits))
    return scored.scores, scored.rows, scored.hits


def average_of(scores, hits):
    return posterior.average_of(*columns(scores, hits))


def prior_of(table, model):
    """The covariance (K, K) of a curve before the data."""
    place, tilt = table[6:]
    tau, s, length = model
    d = math.sqrt(5) * abs(place[:, None] - place) / (length or 1.0)
    return tau**2 * (1 + np.outer(tilt, tilt)) + s**2 * (1 + d + d * d / 3) * np.exp(-d)


def posterior_of(table, prior, mode):
    """The information of each cell at the mode, and the covariance there."""
    p = expit(table[3] + mode)
    weight = table[0] * p * (1 - p)
    return weight, prior - prior @ np.linalg.solve(prior + np.diag(1 / weight), prior)


@pytest.mark.parametrize("model", [0, 2, 5, 17, 29, 38])
@pytest.mark.parametrize("seed", [0, 1])
def test_evidence_mode_and_covariance_are_those_of_a_dense_optimiser(model, seed):
    scores, hits = drawn(400, seed, lambda s: s**1.6)
    cells = cells_of(*columns(scores, hits), 30)
    size, y, _, log_odds, *_ = cells.table
    prior = prior_of(cells.table, curve_models()[model])
    root = np.linalg.cholesky(prior + 1e-10 * np.eye(len(y)))

    def log_likelihood(f):
        return np.sum(y * (log_odds + f) - size * np.logaddexp(0, log_odds + f))

    def objective(x):  # f = root·x, x of independent standard normals
        slope = root.T @ (y - size * expit(log_odds + root @ x))
        return 0.5 * x @ x - log_likelihood(root @ x), x - slope

    best = minimize(objective, np.zeros(len(y)), jac=True, method="BFGS", options={"gtol": 1e-8})
    f = root @ best.x
    weight, covariance = posterior_of(cells.table, prior, f)
    determinant = np.linalg.slogdet(np.eye(len(y)) + prior * weight)[1]
    fits = fit_curves(cells.table, curve_models()[[model]])
    assert fits.modes[0] == pytest.approx(f, abs=2e-3)
    assert fits.deviations[0] == pytest.approx(np.sqrt(np.diag(covariance)), rel=5e-3, abs=1e-4)
    evidence = -best.fun - log_likelihood(0 * f) - 0.5 * determinant
    assert fits.evidence[0] == pytest.approx(evidence, abs=5e-3)


@pytest.mark.parametrize("model", [1, 8, 20])
def test_moments_are_those_of_draws_from_the_approximation(model):
    """Means of ℓ1 and of the square within 2 %; the delta method's deviation within 10 %."""
    scores, hits = drawn(2000, 3, lambda s: s**2)
    cells = cells_of(*columns(scores, hits), 12)
    _, _, score, log_odds, _, weight, *_ = cells.table
    fits = fit_curves(cells.table, curve_models()[[model]])
    prior = prior_of(cells.table, curve_models()[model])
    _, covariance = posterior_of(cells.table, prior, fits.modes[0])
    draws = np.random.default_rng(0).multivariate_normal(fits.modes[0], covariance, 40_000)
    gaps = expit(log_odds + draws) - score
    l1, square = abs(gaps) @ weight, gaps**2 @ weight
    errors = errors_of_curves(cells.table, fits.modes, fits.covariances)
    assert errors.l1[0] == pytest.approx(l1.mean(), rel=0.02)
    assert errors.square[0] == pytest.approx(square.mean(), rel=0.02)
    assert np.sqrt(errors.variance[0]) == pytest.approx(square.std(), rel=0.1)


def line_evidence(table, first, last, spread):
    """The log evidence of a line on some cells by a sum over a grid of x₀, x₁ (trapezoidal)."""
    size, y, _, log_odds, *_ = table[:, first : last + 1]
    x = np.linspace(-6 * spread, 6 * spread, 161)
    slope = x if last - first >= 2 else np.zeros(1)
    eta = log_odds + x[:, None, None] + slope[:, None] * (log_odds - log_odds.mean())
    gain = np.sum(y * eta - size * np.logaddexp(0, eta), axis=-1)
    gain -= np.sum(y * log_odds - size * np.logaddexp(0, log_odds))
    step = (x[1] - x[0]) / (math.sqrt(2 * math.pi) * spread)
    log_prior = -0.5 * x[:, None] ** 2 / spread**2 + math.log(step)
    if slope.size > 1:
        log_prior = log_prior - 0.5 * slope**2 / spread**2 + math.log(step)
    return np.logaddexp.reduce((gain + log_prior).ravel())


def test_the_evidence_of_segmentations_is_the_sum_over_all_of_them():
    """Four cells have eight segmentations; a segment is calibrated or one of two lines."""
    scores, hits = drawn(400, 1, lambda s: np.where(s > 0.7, s - 0.2, s))
    table = cells_of(*columns(scores, hits), 4).table
    pi, rate = 0.5, 1 / 4
    total = 0.0
    for cuts in product((0, 1), repeat=3):
        edges = [0, *(k + 1 for k in range(3) if cuts[k]), 4]
        share = rate ** sum(cuts) * (1 - rate) ** (3 - sum(cuts))
        for first, end in pairwise(edges):
            lines = [line_evidence(table, first, end - 1, spread) for spread in (0.3, 1.0)]
            share *= pi + 0.25 * sum(np.exp(lines))
        total += share
    evidence, errors = segmentations(table, [(pi, 1)], 200)
    assert evidence[0] == pytest.approx(math.log(total), abs=0.05)
    assert errors.l1.shape == (1, 200)
    assert 0.01 < errors.l1.mean() < 0.12  # the truth is about 0.07


def test_the_steep_line_is_that_of_a_dense_optimiser_and_its_evidence_a_sum_over_a_grid():
    """Log odds 1 + 1.5 L where the score says L; the prior is flat next to the likelihood."""
    scores, hits = drawn(300, 2, lambda s: expit(1 + 1.5 * np.log(s / (1 - s))), (2.0, 3.0))
    table = cells_of(*columns(scores, hits), 60).table
    size, y, score, log_odds, _, weight, _, tilt = table

    def loss(x):
        eta = log_odds + x[0] + x[1] * tilt
        loss_of_null = size @ np.logaddexp(0, log_odds) - y @ log_odds
        return size @ np.logaddexp(0, eta) - y @ eta - loss_of_null + x @ x / 2e4

    x = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-7}).x
    evidence, errors = steep_line(table)
    gap = expit(log_odds + x[0] + x[1] * tilt) - score
    assert errors.l1 == pytest.approx([weight @ abs(gap)], rel=1e-5)
    assert errors.square == pytest.approx([weight @ gap**2], rel=1e-5)
    around = np.linspace(-2, 2, 81)
    heights = [-loss(x + np.array(move)) for move in product(around, around)]
    prior = 0.05**2 / (2 * math.pi * 100**2)
    assert evidence == pytest.approx(np.logaddexp.reduce(heights) + math.log(prior), abs=0.03)


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("at", [0.3, 0.52, 0.8])
@pytest.mark.parametrize("upwards", [True, False])
def test_hits_that_a_threshold_separates(n, at, upwards):
    """Evenly spaced scores: ∫ |1(s > t) − s| is t²/2 + (1 − t)²/2, and ½ + t(1 − t) downwards."""
    scores = (np.arange(n) + 0.5) / n
    hits = (scores > at) == upwards
    truth = (at**2 + (1 - at) ** 2) / 2 if upwards else 0.5 + at * (1 - at)
    assert average_of(scores, hits).l1 == pytest.approx(truth, abs=0.04 if n == 100 else 0.008)


def test_no_threshold_separates_outcomes_that_are_all_equal():
    """Twenty hits at scores of 0.6 are no reason to think that every further row is a hit."""
    assert estimate("averaged_posterior", np.full(20, 0.6), np.ones(20)).value < 0.3
    assert estimate("averaged_posterior", np.full(20, 0.4), np.zeros(20)).value < 0.3


def test_data_that_only_the_steep_line_explains_have_a_curve():
    scores = (np.arange(40_000) + 0.5) / 40_000
    curve = curve_of(average_of(scores, scores < 0.5))
    assert np.isfinite(curve.mean).all()


def test_a_saturated_end_adds_its_unlikely_outcomes_and_nothing_else():
    """All scores are 1; two of ten are misses: |d|/n = 0.2, ((d² − m)/(e n))^½ = 0.02^½."""
    hits = [1] * 8 + [0] * 2
    average = average_of(np.ones(10), hits)
    assert average.cells.table.shape[1] == 0
    assert average.l1 == pytest.approx(0.2)
    assert average.cells.ends[1] == pytest.approx([0.2, 0.02, 0.02, 4 * 2**2 * 2 / (10 * 10) ** 2])
    assert estimate(NAME, np.ones(10), np.ones(10)).value == 0.0
    assert estimate(NAME, np.zeros(10), np.zeros(10)).value == 0.0
    assert estimate(NAME, np.zeros(4), [0, 0, 0, 1]).value == pytest.approx(0.25)


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_extreme_data_give_finite_fractions(n):
    rows = np.arange(n)
    for scores in (np.full(n, 0.7), rows / max(n - 1, 1), np.where(rows % 2, 0.0, 1.0)):
        for hits in (np.ones(n), np.zeros(n), rows % 2, scores > 0.5):
            average = average_of(scores, hits)
            assert 0 <= min(average.l1, average.l2) <= max(average.l1, average.l2) <= 1


def test_one_score_of_a_wrong_rate():
    """At 0.7 nine of ten rows are hits, of 2000: the error is 0.2."""
    value = estimate(NAME, np.full(2000, 0.7), np.arange(2000) % 10 > 0).value
    assert value == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize("digits", [1, 2])
def test_a_finer_split_of_a_tie_changes_nothing(digits):
    """Tied scores moved apart by less than any cell's width, hits spread evenly over them."""
    scores, hits = drawn(4000, 5, lambda s: s**1.4)
    scores = np.clip(np.round(scores, digits), 0.1, 0.9)
    tied = estimate(NAME, scores, hits).value
    apart = estimate(NAME, scores + 1e-9 * np.random.default_rng(1).random(4000), hits).value
    assert apart == pytest.approx(tied, rel=0.15)


def curve_at(scores, hits, *options):
    return curve_of(average_of(scores, hits), *options)


def test_curve_of_saturated_scores_is_the_diagonal():
    curve = curve_at(np.ones(5), np.ones(5), np.array([0.0, 0.4, 1.0]))
    assert curve.mean.tolist() == [0.0, 0.4, 1.0]


@pytest.mark.parametrize("at", [1.2, np.nan])
def test_curve_refuses(at):
    with pytest.raises(InputError):
        curve_at([0.2, 0.7], [0, 1], np.array([at]))
