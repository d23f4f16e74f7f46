"""A population in cells: curve, truth and draws against closed forms and plain loops."""

import numpy as np
import pytest
from refusals import refuses
from scipy.special import expit, logit
from scipy.stats import norm

import calbias

WIDTH = 0.02
CELLS = np.arange(-300, 500)
EDGES = np.arange(-300, 501) * WIDTH


def curve(log_odds):
    """Return a true curve that is no line in the log odds."""
    return expit(0.6 * log_odds + 0.4 * np.sin(log_odds))


def population(n_rows, seed=3):
    """Return a CountedScenario of rows whose log odds are N(1, 1.5)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(1, 1.5, n_rows)
    x = x[(x > EDGES[0]) & (x < EDGES[-1])]
    hits = rng.random(len(x)) < curve(x)
    n, of_hits = np.histogram(x, EDGES)[0], np.histogram(x[hits], EDGES)[0]
    return calbias.CountedScenario("cells", CELLS[n > 0], n[n > 0], of_hits[n > 0], width=WIDTH)


@pytest.fixture(scope="module")
def counted():
    return population(1_000_000)


def test_the_curve_and_its_error(counted):
    x = np.linspace(-2, 5, 50)
    np.testing.assert_allclose(expit(counted.logit_hit(x)), curve(x), atol=0.008)
    t = np.linspace(-7, 9, 100_001)
    density = norm.pdf(t, 1, 1.5)
    for p in (1, 2):
        exact = np.average(np.abs(expit(t) - curve(t)) ** p, weights=density) ** (1 / p)
        assert calbias.true_calibration_error(counted, norm=p) == pytest.approx(exact, abs=4e-4)


def test_scores_that_are_true_probabilities(counted):
    """No curve is fitted: the error is 0, and hits are as frequent as the scores say."""
    calibrated = counted.calibrated()
    assert calbias.true_calibration_error(calibrated) == 0
    scores, hits = calbias.simulate(calibrated, 5000, replicates=40)
    assert abs(np.mean(hits - scores)) < 4 * 0.5 / scores.size**0.5
    same, _ = calbias.simulate(counted, 5000, replicates=40)
    np.testing.assert_array_equal(scores, same)


def test_a_calibrated_population_has_no_error():
    n = np.full(400, 2000)
    cells = np.arange(-100, 300)
    hits = np.random.default_rng(1).binomial(n, expit((cells + 0.5) * WIDTH))
    calibrated = calbias.CountedScenario("calibrated", cells, n, hits, width=WIDTH)
    raw = np.mean((hits / n - expit((cells + 0.5) * WIDTH)) ** 2) ** 0.5
    assert calbias.true_calibration_error(calibrated, norm=2) < 0.002 < raw / 3


def test_quantiles_are_exact_in_both_tails():
    few = calbias.CountedScenario("few", [0, 2], [1, 3], [0, 3], width=1.0)
    tails = np.array([0.0, 0.125, 0.25, 0.625, 1.0])
    np.testing.assert_allclose(few.log_odds(tails, False), [0, 0.5, 1, 2.5, 3])
    np.testing.assert_allclose(few.log_odds(1 - tails, True), [0, 0.5, 2, 2.5, 3])


def test_draws_are_in_order_where_cells_are_far_apart_and_where_one_holds_few_floats():
    gaps = calbias.CountedScenario("gaps", [-300, 0, 40, 700], [5, 90, 300, 9], [2, 40, 200, 9])
    narrow = calbias.CountedScenario("narrow", [1_500_000], [400], [300], width=1e-5)
    for scenario in (gaps, narrow):
        scores, _ = calbias.simulate(scenario, 5000, replicates=20)
        assert np.diff(scores, axis=1).min() >= 0


def test_the_population_of_a_models_own_scores():
    rng = np.random.default_rng(8)
    x = rng.normal(1, 1.5, 20_000)
    own = calbias.CountedScenario.from_scores("own", expit(x), rng.random(x.size) < curve(x))
    exact = np.mean((expit(x) - curve(x)) ** 2) ** 0.5
    assert calbias.true_calibration_error(own, norm=2) == pytest.approx(exact, abs=0.008)
    tails = np.array([0.01, 0.5])
    np.testing.assert_allclose(own.log_odds(tails, False), np.quantile(x, tails), atol=0.02)


@pytest.mark.parametrize(
    ("scores", "hits"),
    [([0.9], [1]), ([0.0, 1.0], [1, 0]), ([1.0] * 9, [1] * 9), ([0.5] * 4, [0] * 4)],
)
def test_few_and_extreme_scores_have_a_population(scores, hits):
    few = calbias.CountedScenario.from_scores("few", scores, hits)
    drawn, _ = calbias.simulate(few, 50)
    assert 0 <= calbias.true_calibration_error(few) <= 1
    assert min(scores) - 0.02 <= drawn.min() <= drawn.max() <= max(scores) + 0.02


@pytest.mark.slow
def test_draws_are_of_the_population_and_its_curve(counted):
    scores, hits = calbias.simulate(counted, 1000, replicates=2000, seed=4)
    x = logit(scores).ravel()
    share = counted.n / counted.n.sum()
    drawn = np.histogram(x, np.append(counted.cells, counted.cells[-1] + 1) * WIDTH)[0] / x.size
    assert np.max(np.abs(np.cumsum(drawn) - np.cumsum(share))) < 2 / x.size**0.5
    for low, high in ((-3, -1), (-1, 1), (1, 3), (3, 6)):
        inside = (x > low) & (x < high)
        expected = curve(x[inside]).mean()
        error = (expected * (1 - expected) / inside.sum()) ** 0.5
        assert abs(hits.ravel()[inside].mean() - expected) < 4 * error + 0.002


@pytest.mark.slow
def test_bias_as_in_plain_loops(counted):
    measured = calbias.bias("ece_bin_em", counted, 300, replicates=4000, norm=2)
    rng = np.random.default_rng(5)
    estimates = []
    for _ in range(2000):
        cell = rng.choice(len(counted.n), 300, p=counted.n / counted.n.sum())
        x = np.sort((counted.cells[cell] + rng.random(300)) * WIDTH)
        hits = rng.random(300) < curve(x)
        gaps = [np.mean(part) for part in np.array_split(expit(x) - hits, 15)]
        estimates.append(np.mean(np.square(gaps)) ** 0.5)
    error = np.std(estimates) / 2000**0.5
    assert abs(np.mean(estimates) - measured.mean_estimate) < 4 * error + 0.0005
    assert 0.01 < calbias.bias("ks", counted, 300, replicates=9).truth < 0.2
    assert measured.truth == calbias.true_calibration_error(counted, norm=2)


test_refusals = refuses(
    lambda *arguments: calbias.CountedScenario("name", *arguments),
    ([0, 1], [5], [2], "one length"),
    ([], [], [], "one length"),
    ([1, 0], [5, 5], [2, 2], "ascending"),
    ([0, 1], [5, 0], [2, 0], "n of at least 1"),
    ([0, 1], [5, 5], [2, 6], "hits from 0 to n"),
    ([0, 1], [5, 5], [2, 2], 0.0, "width"),
)
test_refusals_of_own_scores = refuses(
    lambda *arguments: calbias.CountedScenario.from_scores("name", *arguments),
    ([1.5], [1], "scores in"),
    ([], [], "at least one"),
    ([0.5, 0.6], [1], "one hit for each"),
    ([0.5], [0.5], "0 or 1"),
)
