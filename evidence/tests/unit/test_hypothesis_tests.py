"""Tests of calibration: textbook formulas, published quantiles, size and power."""

import math

import numpy as np
import pytest
from refusals import refuses
from scipy.optimize import minimize
from scipy.special import logit
from scipy.stats import chi2, norm

from calbias import Curve, Scenario
from calbias.auditing.error.estimator_bias import redraws
from calbias.engine.sampler import Sampler
from calbias.engine.sorted_batch import of_sorted_scores, sorted_data_set
from calbias.estimation.registry import usable_norm
from calbias.multiclass.noise import redraw_p_value
from evidence.calibration_tests import NAMES, TESTS, load_test, mad_tail, range_tail
from evidence.estimators import estimate, estimator_file, known_estimators
from evidence.steps.measure_power import power_rows

CALIBRATED = Scenario("calibrated", 2.0, 1.0, Curve("identity"))
OVERCONFIDENT = Scenario("over", 2.0, 1.0, Curve("logit_logit_b1", 0.0, 0.6))


@pytest.fixture
def example():
    generator = np.random.default_rng(4)
    scores = np.sort(generator.beta(2, 1, 300))
    return scores, (generator.random(300) < scores**1.2).astype(float)


def test_rules_know_the_names():
    assert set(NAMES) == set(TESTS)


def p_of(name, scores, hits):
    return load_test(name).values(sorted_data_set(scores, hits))[0]


def test_spiegelhalter_by_its_formula(example):
    s, y = example
    z = np.sum((y - s) * (1 - 2 * s)) / math.sqrt(np.sum((1 - 2 * s) ** 2 * s * (1 - s)))
    assert p_of("spiegelhalter", s, y) == pytest.approx(2 * norm.cdf(-abs(z)))


def test_cox_by_its_formulas(example):
    s, y = example
    design = np.column_stack([np.ones_like(s), logit(s)])
    gradient = design.T @ (y - s)
    information = design.T @ (design * (s * (1 - s))[:, None])
    score = gradient @ np.linalg.solve(information, gradient)
    assert p_of("cox_score", s, y) == pytest.approx(chi2.sf(score, 2))

    def loss(b):
        eta = design @ b
        return np.sum(np.logaddexp(0, eta) - y * eta)

    ratio = 2 * (loss([0, 1]) - minimize(loss, [0.0, 1.0], options={"gtol": 1e-9}).fun)
    assert p_of("cox_lrt", s, y) == pytest.approx(chi2.sf(ratio, 2), rel=1e-5)


def test_hosmer_lemeshow_by_its_formula(example):
    f, hits = (rows.reshape(10, 30).mean(axis=1) for rows in example)
    total = np.sum(30 * (hits - f) ** 2 / (f * (1 - f)))
    assert p_of("hosmer_lemeshow", *example) == pytest.approx(chi2.sf(total, 10))
    assert p_of("hosmer_lemeshow_8df", *example) == pytest.approx(chi2.sf(total, 8))


def test_tcal_adaptive_by_its_formula(example):
    s, y = example
    best = 0.0
    for m in (2, 4, 8, 16, 32):
        total = variance = 0.0
        for b in range(m):
            inside = np.minimum((s * m).astype(int), m - 1) == b
            if (size := inside.sum()) > 1:
                r, v = (y - s)[inside], (s * (1 - s))[inside]
                total += (r.sum() ** 2 - (r**2).sum()) / size
                variance += 2 * (v.sum() ** 2 - (v**2).sum()) / size**2
        best = max(best, total / math.sqrt(variance))
    statistic = load_test("tcal_adaptive").values(sorted_data_set(s, y))[0]
    assert statistic == pytest.approx(best)


@pytest.mark.parametrize(
    ("tail", "quantiles"),
    [
        (range_tail, {0.5: 1.5145, 0.1: 2.2412, 0.05: 2.4977, 0.01: 3.0233}),
        (mad_tail, {0.5: 1.149, 0.1: 1.960, 0.05: 2.2414, 0.01: 2.807}),
    ],
)
def test_published_quantiles_of_the_limits(tail, quantiles):
    found = tail(np.array(list(quantiles.values())))
    assert found == pytest.approx(list(quantiles), rel=2e-3)
    assert (np.diff(tail(np.linspace(0, 5, 200))) <= 1e-12).all()
    assert tail(np.array([0.0]))[0] == 1


def test_p_values_of_cumulative_deviations_by_their_formula(example):
    s, y = example
    sums, sigma = np.cumsum(np.append(0, y - s)), math.sqrt(np.sum(s * (1 - s)))
    assert p_of("ecce_mad_series", s, y) == pytest.approx(mad_tail(np.abs(sums).max() / sigma))
    assert p_of("ecce_r_series", s, y) == pytest.approx(range_tail(np.ptp(sums) / sigma))


def test_a_redraw_test_has_the_estimate_as_its_statistic(example):
    for name in known_estimators():
        test, norm = load_test(f"redraw_{name}"), usable_norm(name, 2, estimator_file(name))
        assert not test.has_p_values
        [found] = test.values(sorted_data_set(*example))
        expected = estimate(name, *example, norm=norm).value
        assert found == pytest.approx(expected, rel=1e-12), name


def test_power_of_tests_with_p_values_and_of_redraws():
    tests = ["spiegelhalter", "redraw_ece_bin_em"]
    rows = [*power_rows(tests, [CALIBRATED, OVERCONFIDENT], [1000], 200, seed=3)]
    rates = {(row["test"], row["scenario"]): row["rejection_rate"] for row in rows}
    for test in tests:
        assert rates[test, "calibrated"] < 0.11
        assert rates[test, "over"] > 0.5


def test_redraws_by_hand():
    """Ten scores of 0.5 with ten hits: of 1023 redraws about one has as large a gap."""
    scores = np.full(10, 0.5)

    def gap(data):
        return np.abs(data.cum_gap[:, -1])

    drawn = np.concatenate([gap(data) for data in redraws(scores, scores, 20_000)])
    observed = [gap(of_sorted_scores(scores, y[None])) for y in (np.ones(10), np.arange(10) % 2)]
    p = [redraw_p_value(values[0], drawn) for values in observed]
    assert p == [pytest.approx(2 / 1024, abs=0.0015), 1]


@pytest.mark.parametrize("name", list(TESTS))
def test_tied_scores_and_certain_scores(name):
    for scores in (np.full(20, 0.7), np.ones(20), np.zeros(20), np.repeat([0.3, 1.0], 10)):
        for hits in (np.ones(20), np.arange(20) % 2):
            (value,) = load_test(name).values(sorted_data_set(scores, hits))
            assert math.isfinite(value)
            assert not load_test(name).has_p_values or 0 <= value <= 1


@pytest.mark.parametrize("name", list(TESTS))
def test_rows_do_not_depend_on_each_other(name):
    data = next(Sampler(OVERCONFIDENT, 200, 0).batches(range(5)))
    pairs = zip(data.scores, data.hits(), strict=True)
    alone = [load_test(name).values(of_sorted_scores(s, hits[None]))[0] for s, hits in pairs]
    assert load_test(name).values(data) == pytest.approx(alone)


test_an_unknown_test_is_refused = refuses(
    load_test, ("cox", r"unknown test 'cox'\. Did you mean cox_lrt")
)
