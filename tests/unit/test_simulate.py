"""Replicates: all estimators on the same data sets, and means that the oracle sampler confirms."""

import itertools

import numpy as np
import pytest
from engine_data import MODELS, SAMPLE_SIZES, published_scenario
from oracles import draw_scores_slowly
from scipy import stats

from calbias import Curve, Scenario
from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from calbias.estimation.loading import load_estimator
from calbias.simulation import simulate_estimates

ESTIMATORS = (
    *(f"ece_{kind}_{bins}" for kind in ("bin", "debias", "sweep") for bins in ("ew", "em")),
    "kde",
)


def slow_data_set(scenario, n, generator):
    """Return the SortedBatch of one row drawn from log-Gamma variates, ordered by log(1 - c)."""
    log_score, log1m_score = draw_scores_slowly(scenario.alpha, scenario.beta, n, generator)
    order = np.argsort(-log1m_score)
    hits = generator.random(n) < scenario.curve.hit(log_score, log1m_score)
    scores = np.where(log1m_score < log_score, -np.expm1(log1m_score), np.exp(log_score))
    return sorted_data_set(scores[order], hits[order], ties="input_order")


@pytest.fixture(scope="module")
def deviations():
    """Differences of the two samplers' means over their errors: (70 cells, 7 estimators)."""
    generator = np.random.default_rng(12)
    run = {name: load_estimator(name) for name in ESTIMATORS}
    rows = []
    for scenario, n in itertools.product(map(published_scenario, MODELS), SAMPLE_SIZES):
        m = max(20, 12_000 // n)
        fast = simulate_estimates(scenario, n, range(m), ESTIMATORS, seed=4)
        slow = SortedBatch.concatenated([slow_data_set(scenario, n, generator) for _ in range(m)])
        pairs = [(fast[name][0], run[name](slow, 15, 2.0)[0]) for name in ESTIMATORS]
        rows.append([(a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / m)
                     for a, b in pairs])  # fmt: skip
    return np.array(rows)


@pytest.mark.parametrize("k", range(len(ESTIMATORS)), ids=ESTIMATORS)
def test_means_of_all_seventy_cells_against_the_oracle_sampler(deviations, k):
    """The squares add up to chi² with 70 degrees of freedom, and the signs balance."""
    z = deviations[:, k]
    assert z.size == 70
    assert stats.chi2(70).sf(np.sum(z**2)) > 1e-4
    assert abs(z.sum()) / np.sqrt(70) < 4.5
    assert np.abs(z).max() < 5


def test_all_estimators_see_the_same_data_sets():
    scenario = published_scenario("densenet40_c100")
    together = simulate_estimates(scenario, 300, range(20), ESTIMATORS, seed=1)
    for name in ESTIMATORS:
        alone = simulate_estimates(scenario, 300, range(20), [name], seed=1)
        np.testing.assert_array_equal(alone[name], together[name])
    binned, lb = (
        simulate_estimates(scenario, 300, range(20), [f"ece_{kind}_ew"], seed=1)
        for kind in ("bin", "label_binned")
    )
    assert (lb["ece_label_binned_ew"][0] >= binned["ece_bin_ew"][0] - 1e-12).all()


def test_an_estimator_given_as_a_function():
    def first_score(data, n_bins, norm):
        return data.scores[:, 0].copy(), np.full(len(data.scores), n_bins)

    scenario = Scenario("uniform", 1.0, 1.0, Curve("identity"))
    (values, n_bins), (reverse, _) = (
        simulate_estimates(scenario, 10, order, {"mine": first_score}, n_bins=4)["mine"]
        for order in ([5, 3], [3, 5])
    )
    assert n_bins.tolist() == [4, 4]
    assert reverse.tolist() == values[::-1].tolist()


def test_a_perfectly_calibrated_uniform_model():
    """E ece_bin² with one bin is Var(mean score - mean hit) = E[c(1 - c)]/n = 1/(6n)."""
    scenario = Scenario("uniform", 1.0, 1.0, Curve("identity"))
    values = simulate_estimates(scenario, 50, range(20_000), ["ece_bin_ew"], n_bins=1)
    squares = values["ece_bin_ew"][0] ** 2
    assert squares.mean() == pytest.approx(1 / 300, abs=5 * squares.std() / np.sqrt(20_000))
