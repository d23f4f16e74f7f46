"""What is measured on networks of known truth: laws, smooth curves, the second program."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import calbias
from calbias.estimation.loading import load_estimator
from calbias.simulation import simulate_cells

sys.path.insert(0, str(Path(__file__).parents[2] / "networks"))

from measured.cause import steps_curve
from measured.judged import SATURATED, statements
from measured.laws import (
    LOWER,
    LOWEST_BIN,
    Law,
    beta_quantile,
    logs,
    population_law,
    scores_quantile,
)
from measured.own_scores import curves, summary
from measured.second_program import debiased, swept, truth_by_halves
from measured.shipped import read_network, table
from measured.smooth import smooth_curve


@pytest.mark.parametrize("name", [name for name in table() if table()[name]["role"] != "judging"])
def test_true_error_of_a_sketch_is_the_measured_one(name):
    network = read_network(name)
    law = population_law(network.cells)
    for norm in (1, 2):
        measured, error = (float(network.row[f"l{norm}{suffix}_percent"]) for suffix in ("", "_se"))
        assert abs(100 * law.true_error(norm) - measured) < 4 * error + 0.05


def test_a_law_of_beta_and_curve_draws_what_its_scenario_draws():
    curve = calbias.Curve("logit_logit_b0_b1", b0=-0.3, b1=0.6)
    scenario = calbias.Scenario("same stream", 2.0, 0.3, curve)
    law = Law.make(beta_quantile(2.0, 0.3), lambda x: curve.hit(*logs(x)))
    truth = calbias.true_calibration_error(scenario, norm=2)
    assert abs(law.true_error() - truth) < 1e-5
    [(values, _)] = simulate_cells(
        law.sampler("same stream", 500, 3),
        np.arange(200),
        {"ece_bin_em": load_estimator("ece_bin_em")},
        [("ece_bin_em", 15)],
        2.0,
    )
    expected = calbias.bias("ece_bin_em", scenario, 500, replicates=200, norm=2, seed=3)
    assert abs(values.mean() - expected.mean_estimate) < 1e-4


def test_own_scores_are_drawn_in_order():
    quantile = scores_quantile(np.random.default_rng(4).normal(size=300).round(1))
    law = Law.make(quantile, expit)
    for data in law.sampler("own scores", 500, 1).batches(np.arange(50)):
        assert (np.diff(data.scores, axis=1) > -1e-12).all()


def test_a_lowest_gap_changes_only_the_lowest_fifteenth():
    flat = Law.make(beta_quantile(2.0, 0.3), lambda x: expit(0.5 * x))
    other = Law(flat.scores, flat.scores - 0.05)
    changed = flat.with_lowest_gap(other)
    low = LOWER < LOWEST_BIN
    gap = changed.scores - changed.hits
    assert np.allclose(gap[low & (changed.hits > 0)], 0.05)
    assert np.array_equal(changed.hits[~low], flat.hits[~low])
    assert np.ptp((flat.scores - flat.with_lowest_gap().hits)[low]) < 0.01


@pytest.mark.parametrize("slope", [0.5, 1.0])
def test_smooth_curve_of_a_line_is_the_line(slope):
    x = np.linspace(-2, 6, 400)
    n = np.full(400, 1000.0)
    curve = smooth_curve(x, n, n * expit(slope * x - 0.2))
    assert np.abs(curve(x[5:-5]) - expit(slope * x[5:-5] - 0.2)).max() < 1e-3


def test_smooth_curve_follows_a_bend():
    rng = np.random.default_rng(1)
    x = np.sort(rng.normal(2, 2, 20_000))
    chance = expit(x - 1.5 * np.exp(-((x - 2) ** 2)))
    curve = smooth_curve(x, np.ones(20_000), (rng.random(20_000) < chance).astype(float))
    assert np.sqrt(np.mean((curve(x) - chance) ** 2)) < 0.01


def test_steps_are_monotone_and_near_the_curve():
    x = np.linspace(-4, 4, 2000)
    curve = steps_curve(x, np.full(2000, 500.0), 500 * expit(0.7 * x), 50)
    assert np.abs(curve(x[40:-40]) - expit(0.7 * x[40:-40])).max() < 2e-3
    falling = steps_curve(x, np.ones(2000), (x < 0).astype(float), 50)
    assert (np.diff(falling(x)) >= 0).all()


@pytest.mark.parametrize(
    ("order", "shift", "low", "verdicts"),
    [
        (-0.1, 0.1, 0.02, "holds refuted holds holds holds holds holds"),
        (0.02, 0.02, 0.02, "open open open open open refuted open"),
        (0.1, 0.0, 0.0, "refuted holds open open open refuted open"),
        (0.1, -0.1, -0.02, "refuted holds refuted refuted open refuted refuted"),
    ],
)
def test_statements_are_judged_by_the_rule(order, shift, low, verdicts):
    values = {"difference": order, "excess": shift, "nearer than the fit": shift}

    def row_of(what, _group, law, _estimator):
        value = low if law == "beta_glm_true_low" else values[what]
        p = 0.001 if abs(value) > 0.05 else 0.5
        return pd.Series({"value": value, "se": 0.025, "p": p, "n_networks": 12, "n_above_0": 6})

    assert " ".join(s.verdict for s in statements(row_of)) == verdicts


def test_one_kind_of_task_alone_refutes_that_saturation_makes_the_shift():
    def row_of(_what, group, _law, _estimator):
        value = 0.1 if group != f"{SATURATED}, uncertain" else -0.1
        return pd.Series({"value": value, "se": 0.02, "p": 0.001, "n_networks": 6, "n_above_0": 6})

    assert statements(row_of)[4].verdict == "refuted"


def test_second_program_agrees_with_the_estimators():
    rng = np.random.default_rng(2)
    scores = np.sort(rng.beta(3, 0.5, 1500))
    hits = (rng.random(1500) < scores**2).astype(np.int64)
    for function, name in ((debiased, "ece_debias_em"), (swept, "ece_sweep_em")):
        expected = calbias.estimate(name, scores, hits, norm=2).value
        assert abs(function(scores, hits) - expected) < 1e-12


def test_second_truth_is_that_of_a_shifted_score():
    rng = np.random.default_rng(3)
    log_odds = rng.normal(1, 1, 400_000)
    scores = expit(log_odds)
    hits = (rng.random(400_000) < scores - 0.05).astype(float)
    assert abs(truth_by_halves(log_odds, scores, hits) - 0.05) < 0.003


def test_laws_are_compared_over_networks():
    """Two rows of each of three networks are one observation; a difference is paired."""
    bias = {"posterior": (0.4, 0.6, 1.3), "own_scores": (0.1, -0.2, 0.3)}
    rows = pd.DataFrame(
        {"use": "audit", "rows": 300, "role": "judging", "estimator": "kde", "law": law,
         "name": name, "bias": value + sign, "true_bias": sign, "error_of_truth": -value}
        for law, values in bias.items()
        for name, value in zip("abc", values, strict=True)
        for sign in (-1.0, 1.0)
    )  # fmt: skip
    found = {(row["what"], row["law"]): row for row in summary(rows)}
    assert found["miss, mean", "own_scores"]["value"] == pytest.approx(0.2)
    difference = found["miss, mean", "posterior − own_scores"]
    assert (difference["value"], difference["n_networks"]) == (pytest.approx(1.7 / 3, abs=1e-4), 3)
    assert difference["se"] == pytest.approx(np.std([0.3, 0.4, 1.0], ddof=1) / 3**0.5, abs=1e-4)
    assert found["error_of_truth, mean", "own_scores"]["value"] == pytest.approx(-0.2 / 3, abs=1e-4)


def test_both_curves_of_a_file_are_near_the_true_one():
    rng = np.random.default_rng(6)
    scores = np.sort(expit(rng.normal(1, 1.5, 20_000)))
    true = scores**1.5
    for law, rates in curves(scores, (rng.random(20_000) < true).astype(float)).items():
        assert np.mean(np.abs(rates - true)) < 0.012, law
