"""The t-test's sensitivity and the rounding of every TCE."""

import itertools

import numpy as np
import pandas as pd
import pytest
from claims_data import GROUP, TABLES

from calbias import Curve, Scenario, true_calibration_error
from calbias.simulation import simulate_estimates
from pipeline.scenarios import printed_coefficients, printed_fits
from pipeline.table_schema import columns_of
from reproduction.steps.compare_estimators import t_test_sensitivity, within_rounding
from reproduction.steps.compute_tce_rounding import tce_range, tce_rounding

FITS = printed_fits(TABLES["roelofs2022_table2_beta_fits"], TABLES["roelofs2022_table3_glm_fits"])
PAIR = ["ece_debias_em", "ece_sweep_em"]


def small_bias(models, sizes, m, seed):
    """Table ``bias`` of experiment realistic as the pipeline would write it."""
    rows = []
    for model in models:
        scenario = FITS[model].scenario()
        tce = 100 * true_calibration_error(scenario, norm=2)
        for n in sizes:
            found = simulate_estimates(scenario, n, np.arange(m), PAIR, seed=seed)
            for name, (values, _) in found.items():
                rows.append(("realistic", model, name, n, m, 100 * values.mean() - tce))
    columns = "experiment scenario estimator n_samples n_replicates bias_percent"
    return pd.DataFrame(rows, columns=columns.split())


def test_printed_fits_are_sorted_by_published_aic():
    fit = FITS["resnet110_SD_c10"]
    assert (fit.alpha, fit.beta) == (2.1714, 0.0394)
    assert fit.curves[0] == Curve("logit_logflip_b0_b1", -0.27, -0.35)
    assert (fit.curves[1].name, fit.curves[1].b0) == ("logit_logit_b1", 0.0)


def test_sensitivity_uses_the_pipelines_data_sets():
    models, sizes, sweep = ["resnet110_c10", "densenet161_imgnet"], [100, 200], PAIR[1]
    bias = small_bias(models, sizes, 50, seed=3)
    table = t_test_sensitivity(bias, FITS, GROUP, seed=3, rounding_draws=2)
    assert list(table.columns) == list(columns_of("t_test_sensitivity"))
    table = table.set_index("choice")
    configured, of_sweep = table.loc["as_configured"], table["mean_abs_bias_b_percent"]
    pairs = bias.pivot(index=["scenario", "n_samples"], columns="estimator", values="bias_percent")
    assert configured["mean_abs_bias_a_percent"] == pytest.approx(pairs[PAIR[0]].abs().mean())
    assert of_sweep["as_configured"] == pytest.approx(pairs[sweep].abs().mean())
    # unclipping changes debias only: the sweep comes back from the same streams
    assert of_sweep["unclipped_debias"] == pytest.approx(of_sweep["as_configured"], abs=1e-9)
    assert table.loc[["as_configured", "without_largest_n"], "n_pairs"].tolist() == [4, 2]
    roots = []
    for model, n in itertools.product(models, sizes):
        scenario, name = FITS[model].scenario(), "ece_debias_unclipped_em"
        values, _ = simulate_estimates(scenario, n, np.arange(50), [name], seed=3)[name]
        square = np.mean(values * abs(values))
        root = np.sign(square) * abs(square) ** 0.5
        roots.append(100 * abs(root - true_calibration_error(scenario, norm=2)))
    root = table.loc["root_of_mean_square", "mean_abs_bias_a_percent"]
    assert root == pytest.approx(np.mean(roots))
    assert of_sweep["root_of_mean_square"] == pytest.approx(of_sweep["as_configured"], abs=1e-9)
    # two parameters in the third decimal move the means, a little
    moved = (of_sweep[["rounding_1", "rounding_2"]] - of_sweep["as_configured"]).abs()
    assert moved.between(0, 0.5, inclusive="neither").all()
    assert abs(of_sweep["second_best_glm"] - of_sweep["as_configured"]) > 1e-3
    one, p = table.loc["one_sided", "p_value"], configured["p_value"]
    assert one == pytest.approx(p / 2 if configured["t_statistic"] > 0 else 1 - p / 2)
    d = pairs[PAIR[0]].abs() - pairs[sweep].abs()
    of_m = d.mean() / (d.std(ddof=0) / np.sqrt(len(d)))
    assert table.loc["population_variance", "t_statistic"] == pytest.approx(of_m)


def test_sensitivity_of_a_run_without_the_pair_is_empty():
    bias = small_bias(["resnet110_c10"], [100], 5, seed=3)
    assert t_test_sensitivity(bias[:1], FITS, GROUP, seed=3).empty
    assert t_test_sensitivity(bias.assign(experiment="perfect"), FITS, GROUP, seed=3).empty


def test_within_rounding_moves_printed_coefficients_only():
    generator = np.random.default_rng(0)
    scenario = FITS["resnet_wide32_c10"].scenario()  # logit_logit_b1
    for _ in range(20):
        curve = within_rounding(scenario, generator).curve
        assert curve.b0 == 0.0
        assert 0 < abs(curve.b1 - 0.26) <= 0.005
    assert printed_coefficients(scenario.curve) == ["b1"]


def test_range_of_a_power_like_curve_is_found_at_corners_and_a_minimum_inside_the_box():
    def by_hand(d):  # E(c - c^d)² under the density 2c
        return np.sqrt(2 * (1 / 4 - 2 / (d + 3) + 1 / (2 * d + 2)))

    low, high = tce_range(Scenario("x", 2.0, 1.0, Curve("log_log_b1", 0.0, 2.0)))
    # the Beta parameters move it too
    assert (low, high) == pytest.approx((by_hand(1.995), by_hand(2.005)), abs=3e-5)
    assert low < by_hand(1.995) < by_hand(2.005) < high
    low, _ = tce_range(Scenario("x", 2.0, 1.0, Curve("log_log_b0_b1", 0.0, 1.003)))
    assert low < 5e-5  # b0 = 0, b1 = 1 is perfect calibration, and inside


@pytest.fixture(scope="module")
def table():
    """The norm is an option: tests/reproduction/steps/test_pages.py."""
    return tce_rounding({name: FITS[name] for name in ("resnet152_imgnet", "densenet40_c10")})


def test_a_range_holds_the_tce_of_the_best_and_of_the_second_best_curve(table):
    assert list(table) == list(columns_of("tce_rounding"))
    assert table["parameters"].value_counts().tolist() == [2, 2, 2]  # the last are of the text
    curves = table[table["scenario"] == "resnet152_imgnet"].set_index("parameters")["curve"]
    assert curves["lowest_aic"] == "logflip_logflip_b0_b1"
    assert curves["second_lowest_aic"] == "logit_logit_b0_b1"
    assert not table.duplicated(["scenario", "curve"]).any()  # so that figures find one row
    assert (table["low_percent"] < table["tce_percent"]).all()
    assert (table["tce_percent"] < table["high_percent"]).all()
    width = table["high_percent"] - table["low_percent"]
    assert width[table["parameters"] != "text"].between(0.2, 1.2).all()


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("beta_2.8_0.05_power_2", (2.85, 0.045), (2.75, 0.055)),
        ("beta_1.1_0.1_power_2", (1.15, 0.05), (1.05, 0.15)),
    ],
)
def test_the_parameters_of_the_text_vary_by_half_their_last_digit(table, name, low, high):
    """More mass at 1 has less error, so the corners are known; the exponent stays 2."""
    row = table.set_index("scenario").loc[name]
    for ends, column in ((low, "low_percent"), (high, "high_percent")):
        corner = Scenario("x", *ends, Curve("power", 0.0, 2.0))
        assert row[column] == pytest.approx(100 * true_calibration_error(corner, norm=2), rel=1e-3)
