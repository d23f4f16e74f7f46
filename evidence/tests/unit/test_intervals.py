"""Intervals of study ``interval_coverage``: each against an independent calculation."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import norm

from calbias.auditing.error.bins import binomial_limits
from calbias.auditing.error.estimator_bias import HEADLINE, audited_estimators, redraws
from calbias.auditing.error.interval import calibration_interval
from calbias.engine.seeding import stream
from calbias.engine.sorted_batch import of_sorted_scores
from calbias.samples.by_score import Scored
from evidence.cells.beta import BetaCell
from evidence.intervals import bootstrap
from evidence.intervals.monotone_band import band
from evidence.intervals.sun2024 import statistic, sun2024
from evidence.intervals.variational_bound import variational_bound
from evidence.runner import values_of
from evidence.steps.measure_coverage import covered, methods
from reproduction.judging import Sample

RNG = np.random.default_rng(7)


def uniform_sample(n=300, slope=1.0, seed=3):
    generator = np.random.default_rng(seed)
    scores = generator.random(n)
    return Sample(scores, generator.random(n) < 0.5 + slope * (scores - 0.5), seed=seed)


def mean_gap(data):
    """An estimator with a known distribution: the mean residual."""
    return np.abs(data.cum_gap[:, -1]) / data.scores.shape[1]


def ece():
    return audited_estimators(1.0)[HEADLINE]


def test_hits_are_drawn_at_their_rates_and_share_their_random_numbers():
    scores = np.sort(RNG.random(50))
    rates = np.r_[0.0, scores[1:-1], 1.0]
    low, high = (
        np.concatenate([data.hits() for data in redraws(scores, r, 8000, seed=5)])
        for r in (rates, np.minimum(rates + 0.1, 1.0))
    )
    np.testing.assert_allclose(low.mean(axis=0), rates, atol=5 * 0.5 / np.sqrt(8000))
    assert (low <= high).all()


def test_replicates_do_not_depend_on_how_many_there_are():
    scores = np.sort(RNG.random(40_000))  # one replicate a batch
    few, many = ([mean_gap(data) for data in redraws(scores, scores, m, seed=2)] for m in (2, 5))
    np.testing.assert_array_equal(few, many[:2])


def test_suns_statistic_on_a_case_by_hand():
    """Two bins of two: U = (−.2, .7) and (.2, −.9); T = ½ Σ_b (2 Ū² − M)·2/1 · …"""
    sample = Sample([0.2, 0.3, 0.8, 0.9], [0, 1, 1, 0])
    t, sigma = statistic(sample, n_bins=2)
    means, squares = np.array([0.25, -0.35]), np.array([0.265, 0.425])
    assert t == pytest.approx(np.sum(2 * (2 * means**2 - squares)) / 4)
    variance = np.sum(0.5 * (4 * means**2 * squares - 3 * means**4)) - np.sum(0.5 * means**2) ** 2
    assert sigma == pytest.approx(np.sqrt(variance))


def test_suns_lower_end_by_its_three_rules(monkeypatch):
    z, one_sided = norm.ppf(0.95), norm.ppf(0.9)
    for t, low in ((5.0, 5.0 - z), (2.9, 1.45), (1.5, 1.5 - one_sided), (-1.0, 0.0)):
        monkeypatch.setattr(f"{sun2024.__module__}.statistic", lambda *_, t=t: (t, 10.0))  # e = 1
        assert sun2024(uniform_sample(100), 0.9) == pytest.approx((low, max(t, 0.0) + z))


def test_resamples_are_those_of_rows_with_replacement():
    sample = uniform_sample(200, 0.5)
    values = bootstrap.resampled_estimates(sample, lambda data: data.cum_hit[:, -1] / 200, 1000)
    rate = sample.hits.mean()
    error = np.sqrt(rate * (1 - rate) / 200)
    assert values.mean() == pytest.approx(rate, abs=5 * error / np.sqrt(1000))
    assert values.std() == pytest.approx(error, rel=0.09)


def test_resampled_ties_are_averaged():
    sample = Sample(np.repeat([0.25, 0.75], 20), np.arange(40) % 2)

    def run(data):
        for row in range(len(data.scores)):
            again = of_sorted_scores(data.scores[row], np.diff(data.cum_hit)[row : row + 1])
            for name in ("tie_first", "tie_last", "cum_gap"):
                found, expected = getattr(data, name)[row], getattr(again, name)[0]
                np.testing.assert_allclose(found, expected, atol=1e-12)
        return data.cum_hit[:, -1]

    bootstrap.resampled_estimates(sample, run, 5)


def test_the_basic_interval_mirrors_the_percentile_one():
    sample, run = uniform_sample(500, 0.2), ece().run
    low, high = bootstrap.percentile_bootstrap(sample, run, 400)
    observed = run(sample.data)[0]
    mirrored = 2 * observed - high, 2 * observed - low
    assert bootstrap.basic_bootstrap(sample, run, 400) == pytest.approx(mirrored)


def test_the_monotone_band_against_all_runs_of_its_blocks():
    sample = uniform_sample(40)
    low, high = band(sample, 0.9, blocks=40)
    level = 1 - 2 * 0.1 / (40 * 41)

    def bound(end, i, j):
        return float(binomial_limits(sample.hits[i : j + 1].sum(), j + 1 - i, level)[end])

    for k in (0, 7, 39):
        lows = [bound(0, i, j) for i in range(k + 1) for j in range(i, k + 1)]
        highs = [bound(1, i, j) for i in range(k, 40) for j in range(i, 40)]
        assert low[k] == pytest.approx(max(lows), abs=1e-9)
        assert high[k] == pytest.approx(min(highs), abs=1e-9)


def test_the_monotone_band_within_blocks_and_at_ties():
    """Blocks (.1, .1, .4) and (.5, .5, .5): an end counts from a block's last or first score on."""
    sample = Sample([0.1, 0.1, 0.4, 0.5, 0.5, 0.5], [1, 0, 0, 1, 1, 0])
    low, high = band(sample, 0.4, blocks=2)
    (first, second, both), tops = binomial_limits(np.array([1, 2, 3]), np.array([3, 3, 6]), 0.8)
    assert low == pytest.approx([0.0, 0.0, first, *[max(second, both)] * 3])
    assert high == pytest.approx([min(tops[0], tops[2])] * 2 + [tops[1]] * 4)


def test_binomial_limits_by_their_closed_form():
    assert binomial_limits(0, 10, 0.95) == pytest.approx((0.0, 1 - 0.025**0.1))
    assert binomial_limits(10, 10, 0.95) == pytest.approx((0.025**0.1, 1.0))
    assert binomial_limits(3, 10, 0.95) == pytest.approx(
        (0.0667395, 0.6524529), abs=1e-6
    )  # a textbook's


def test_the_variational_bound_by_its_formula():
    """Of rows 40 a block, curves by a general optimiser."""
    sample = uniform_sample(200, 0.2)
    block = stream(3, "variational", "200").permutation(200) % 5
    x, y, terms = logit(sample.scores), sample.hits.astype(float), []
    for k in range(1, 5):
        past, here = block < k, block == k

        def loss(ab, x=x[past], y=y[past]):
            return np.sum(np.logaddexp(0, (1 - 2 * y) * (ab[0] + ab[1] * x)))

        a, b = minimize(loss, [0.0, 1.0]).x
        s = sample.scores[here]
        terms += [*np.sign(expit(a + b * x[here]) - s) * (y[here] - s)]
    low = np.mean(terms) - norm.ppf(0.95) * np.std(terms, ddof=1) / np.sqrt(160)
    assert low > 0.05
    assert variational_bound(sample) == pytest.approx((low, np.inf))
    assert variational_bound(uniform_sample(200)).low == 0


def test_the_truths_of_uniform_scores_by_hand():
    wave, expected = BetaCell("uniform", "wave"), (0.03 * 2 / np.pi, 0.03**2 / 2)
    assert (wave.truth("l1"), wave.truth("l2^2")) == pytest.approx(expected, rel=1e-3)
    assert BetaCell("saturated", "calibrated").truth("l1") < 1e-15


def test_each_interval_is_judged_against_the_error_of_its_norm():
    """Uniform scores whose hits are a coin's: the ℓ1 error is 1/4, the ℓ2 error √(1/12)."""
    cell = BetaCell("uniform", "calibrated")
    data = Sample(RNG.random(60), RNG.integers(0, 2, 60), seed=1)
    every = [methods(cell, 2)[name] for name in ("calbias", "calbias_l2")]
    interval = calibration_interval(Scored.of(data.scores, data.hits))
    for p, method in enumerate(every, start=1):
        assert method.values([data])[0] == pytest.approx(interval.at(p, 0.95))
    coin = SimpleNamespace(name="coin", truth={"l1": 1 / 4, "l2": 12**-0.5}.get)
    ends = {"calbias": [(0.2, 0.26)], "calbias_l2": [(0.26, 0.3)], "verdict": [True]}
    values = {name: np.array(pairs) for name, pairs in ends.items()}
    rows = covered(coin, 400, dict(zip(ends, every, strict=False)), values)
    assert [row["coverage"] for row in rows] == [1, 1]


def test_a_cell_of_the_coverage_table():
    cell = BetaCell("uniform", "slope_0.8")
    every = methods(cell, 4, draws=20)
    found = values_of(every, cell.batches(200, 0, 4))
    rows = {row["method"]: row for row in covered(cell, 200, every, found)}
    assert {*rows, "verdict"} == set(every)
    assert rows["sun2024"]["n_data_sets"] == 2
    assert all(row["low"] <= row["coverage"] <= row["high"] for row in rows.values())
    assert rows["percentile_bootstrap"]["coverage"] == 0
    assert np.isnan(rows["variational_bound"]["mean_length"])
