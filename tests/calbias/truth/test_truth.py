"""Calibration curves and the true calibration error: formulas, closed forms, mpmath elsewhere."""

import mpmath
import numpy as np
import pytest
from engine_data import MODELS, published_scenario
from hypothesis import given
from hypothesis import strategies as st
from nightly import daily
from refusals import refuses

from calbias.truth.curves import GLM_NAMES, NAMED_CURVES, Curve
from calbias.truth.scenarios import Scenario, validate_scenario
from calbias.truth.targets import (
    TARGETS,
    Population,
    options_taken,
    population_of_scenario,
    target_value,
    target_value_of_sample,
)
from calbias.truth.true_error import gap, integral, sign_changes, true_calibration_error

LINKS = {
    "logit": lambda x: 1 / (1 + np.exp(-x)),
    "log": lambda x: np.minimum(np.exp(x), 1),
    "logflip": lambda x: 1 - np.minimum(np.exp(x), 1),
}
TRANSFORMS = {
    "logit": lambda c: np.log(c / (1 - c)),
    "log": np.log,
    "logflip": lambda c: np.log(1 - c),
}
C = np.linspace(0.01, 0.99, 99)
LOGS = np.log(C), np.log1p(-C)


def glm(name, b0, b1):
    """Return T at C by the formula g(T) = b0 + b1·t(c)."""
    link, transform, terms = name.split("_", 2)
    b0 = 0 if terms == "b1" else b0
    b1 = 0 if terms == "b0" else b1
    return LINKS[link](b0 + b1 * TRANSFORMS[transform](C))


@pytest.mark.parametrize("name", GLM_NAMES)
def test_the_glm_family(name):
    for b0, b1 in ((-0.24, 0.3), (-0.9, 2.53), (-0.55, -0.38)):
        curve, expected = Curve(name, b0, b1), glm(name, b0, b1)
        np.testing.assert_allclose(curve.hit(*LOGS), expected, rtol=1e-12, atol=1e-14)
        not_hit = np.exp(curve.log_not_hit(*LOGS))
        np.testing.assert_allclose(not_hit, 1 - expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (Curve("identity"), C),
        (Curve("linear", 0.25, 0.75), 0.25 + 0.75 * C),
        (Curve("linear", b0=0.25), 0.25 + 0 * C),
        (Curve("linear", b1=0.5), 0.5 * C),
        (Curve("power", 0.0, 2.5), C**2.5),
        (NAMED_CURVES["logistic"], 1 / (1 + np.exp(5 - 10 * C))),
    ],
)
def test_the_other_curves(curve, expected):
    np.testing.assert_allclose([curve.hit(*LOGS), curve.at(C)], [expected] * 2, rtol=1e-13)
    np.testing.assert_allclose(np.exp(curve.log_not_hit(*LOGS)), 1 - expected, rtol=1e-12)


def test_the_curve_of_a_tables_row():
    for row, curve in (
        ({"curve": "linear", "b0": 0.5, "b1": None}, Curve("linear", 0.5)),
        ({"glm": "log_log_b1", "b0": float("nan"), "b1": 2}, Curve("log_log_b1", b1=2.0)),
        ({"curve": "identity", "glm": "x", "b0": None, "b1": None}, Curve("identity")),
    ):
        assert Curve.from_row(row) == curve


def test_a_link_that_leaves_the_unit_interval_is_clipped():
    curve = Curve("log_log_b0_b1", 0.5, 1.0)  # e^0.5·c exceeds 1 above 0.607
    assert (curve.hit(*LOGS).max(), curve.log_not_hit(*LOGS)[-1]) == (1.0, -np.inf)


def test_slopes_against_differences():
    curves = [Curve(name, -0.4, 0.7) for name in (*GLM_NAMES, "identity", "linear", "power")]
    for curve in (*curves, NAMED_CURVES["logistic"]):
        sign, log_slope = curve.log_abs_slope(*LOGS)
        up, down = (curve.hit(np.log(c), np.log1p(-c)) for c in (C + 1e-6, C - 1e-6))
        slope = sign * np.exp(log_slope)
        np.testing.assert_allclose(slope, (up - down) / 2e-6, 1e-6, 1e-8, err_msg=curve.name)


@pytest.mark.parametrize("exponent", [1, 8, 15, 16, 17, 30, 300])
def test_near_one_the_information_is_in_log_miss(exponent):
    """1 - T of scores that differ from 1 by 10^-k, where the float64 score is 1 from k = 17 on."""
    with mpmath.workdps(400):
        miss = mpmath.mpf(10) ** -exponent
        exact = {
            Curve("identity"): miss,
            Curve("linear", 0.25, 0.75): 0.75 * miss,
            Curve("power", 0.0, 3.0): 1 - (1 - miss) ** 3,
            Curve("logflip_logflip_b0_b1", -0.24, 0.3): mpmath.exp(-0.24) * miss ** mpmath.mpf(0.3),
            Curve("logit_logit_b1", 0.0, 0.5): 1 / (1 + ((1 - miss) / miss) ** 0.5),
        }
        for curve, not_hit in exact.items():
            value = curve.log_not_hit(float(mpmath.log1p(-miss)), float(mpmath.log(miss)))
            assert float(value) == pytest.approx(float(mpmath.log(not_hit)), rel=1e-13)


test_bad_scenarios = refuses(
    lambda *values: validate_scenario(Scenario("x", *values), "row 1"),
    *((alpha, beta, Curve("identity"), f"row 1: alpha {alpha} and beta {beta} must be finite and")
      for alpha, beta in ((0, 1), (1, 0), (np.inf, 1), (1, np.inf), (np.nan, 1))),
    (1, 1, Curve("powr"), "row 1: unknown curve 'powr'"),
    (1, 1, Curve("linear", 0.0, np.inf), "row 1: b0 0.0 and b1 inf must be finite"),
    (1, 1, Curve("linear", np.nan, 0.0), "row 1: b0 nan"),
)  # fmt: skip

test_an_unknown_curve = refuses(
    Curve("logistik").at, ([0.5], r"unknown curve 'logistik'. Did you mean logistic\?")
)


def test_a_line_that_leaves_the_unit_interval_is_clipped():
    """2c - 1/2 is 0 up to 1/4 and 1 from 3/4: |T - c| has four triangles of base and height 1/4."""
    line = Curve("linear", -0.5, 2.0)
    np.testing.assert_array_equal(line.at([0.1, 0.5, 0.9]), [0, 0.5, 1])
    scenario = Scenario("steep", 1.0, 1.0, line)
    assert true_calibration_error(scenario) == pytest.approx(1 / 8, rel=1e-12)


SCORES = [(1, 1), (2.8, 0.05), (1.1, 0.1), (2.7752, 0.0478), (0.5, 0.5), (30, 4), (0.2, 3)]


@pytest.mark.parametrize(("alpha", "beta"), [*SCORES, (0.03, 0.03), (200, 0.03), (200, 200)])
def test_power_curves(alpha, beta):
    def moment(power):
        a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
        return mpmath.beta(a + power, b) / mpmath.beta(a, b)

    for d in (1.01, 2, 0.5, 1000):
        with mpmath.workdps(40):  # the terms of the closed form cancel
            exponent = mpmath.mpf(d)
            squared = moment(2) - 2 * moment(1 + exponent) + moment(2 * exponent)
            expected, absolute = mpmath.sqrt(squared), abs(moment(1) - moment(exponent))
        scenario = Scenario("power", alpha, beta, Curve("power", 0.0, d))
        for norm, value in ((2, expected), (1, absolute)):
            found = true_calibration_error(scenario, norm=norm)
            assert found == pytest.approx(float(value), rel=1e-12), (d, norm)


def test_a_line_over_a_narrow_distribution():
    """T = c + 0.1: the integral of a density that is 1e-5 wide."""
    scenario = Scenario("narrow", 1e10, 1e10, Curve("linear", 0.1, 1.0))
    assert true_calibration_error(scenario) == pytest.approx(0.1, rel=1e-4)
    assert target_value("mce", scenario) == pytest.approx(0.1, rel=1e-4)  # other bins are empty


def test_the_gap_near_one_is_not_lost_to_rounding():
    """1 - c = 1e-18: c and T both round to 1, their difference is 1e-18 - 1e-9."""
    curve = Curve("logflip_logflip_b1", 0.0, 0.5)
    log1m_score = np.log([1e-18])
    value = gap(curve, np.log1p(-np.exp(log1m_score)), log1m_score)[0]
    assert value == pytest.approx(1e-9 - 1e-18, rel=1e-13)


def test_a_steep_curve_is_found_between_the_panels():
    """The error of a step at 1/2 is 1/4; slope k in the log odds takes 2 · 1/4 · log 2/k away."""
    steep = Scenario("steep", 1, 1, Curve("logit_logit_b1", 0.0, 1000.0))
    expected = 1 / 4 - np.log(2) / 2000
    assert true_calibration_error(steep) == pytest.approx(expected, rel=1e-8)


def test_where_a_function_leaves_zero():
    for one_sided in (np.maximum, np.minimum):
        assert sign_changes(lambda c, m, f=one_sided: f(c - m, 0.0), 1, 1) == [0.0]


def test_a_crossing_on_a_panel_point_is_found():
    """T crosses c at 1/2 and at points where the search itself evaluates the gap."""
    for crossing in (0.5, 0.25, 0.25 + 0.25 / 8, 0.75 + 0.25 / 4):
        b0 = -2 * float(np.log(crossing / (1 - crossing)))
        with mpmath.workdps(20):
            odds, ends = mpmath.exp(b0), [0, crossing, 1]
            expected = mpmath.quad(
                lambda c, odds=odds: abs(c - 1 / (1 + ((1 - c) / c) ** 3 / odds)), ends
            )
        scenario = Scenario("steep", 1, 1, Curve("logit_logit_b0_b1", b0, 3.0))
        assert true_calibration_error(scenario, norm=1) == pytest.approx(float(expected), rel=1e-12)


@given(st.floats(-7, 14), st.floats(-7, 14))
def test_the_quadrature_gives_the_moments_of_any_beta_distribution(log_alpha, log_beta):
    alpha, beta = np.exp([log_alpha, log_beta])

    def moments(log_score, log1m_score, log_density):
        return np.stack([np.ones_like(log_score), log_score, log1m_score]) * np.exp(log_density)

    total, mean_log, mean_log1m = integral(moments, alpha, beta)
    # Each node's density carries the rounding of alpha·log c, and of the normalisation.
    precision = 1e-12 + 1e-14 * (alpha + beta)
    assert total == pytest.approx(1, rel=precision)
    for mean, shape in ((mean_log, alpha), (mean_log1m, beta)):
        with mpmath.workdps(30):
            expected = float(mpmath.digamma(shape) - mpmath.digamma(mpmath.mpf(alpha) + beta))
        assert mean == pytest.approx(expected, rel=precision)


test_bad_norms = refuses(
    lambda norm: true_calibration_error(Scenario("x", 1, 1, Curve("identity")), norm=norm),
    *((norm, "norm must be") for norm in (0, -1, float("nan"), float("inf"))),
)


SQUARED = Scenario("squared", 1.0, 1.0, Curve("power", 0.0, 2.0))  # δ = c² − c on uniform scores
SCENARIOS = [
    SQUARED,
    *(published_scenario(model) for model in MODELS[::9]),
    Scenario("overconfident", 0.5, 0.5, Curve("logit_logit_b1", 0.0, 0.5)),
    Scenario("underconfident", 0.5, 0.5, Curve("logit_logit_b1", 0.0, 1.25)),
    Scenario("shifted", 2.0, 1.0, Curve("logit_logit_b0_b1", -0.3, 1.0)),
]


@pytest.mark.parametrize(
    ("target", "options", "value"),
    [
        ("lp", {"norm": 1}, 1 / 6),
        ("lp", {}, np.sqrt(1 / 30)),
        ("lp_power", {}, 1 / 30),
        ("max_deviation", {}, 1 / 6),
        ("mce", {"n_bins": 2}, 1 / 6),
        ("mce", {"n_bins": 1}, 1 / 6),
        ("mce", {"n_bins": 2, "binning": "equal_mass"}, 1 / 6),
    ],
)
def test_closed_forms_for_a_squared_curve(target, options, value):
    assert target_value(target, SQUARED, **options) == pytest.approx(value, rel=1e-5)


def test_a_calibrated_scenario_has_no_error():
    calibrated = Scenario("calibrated", 2.78, 0.048, Curve("identity"))
    for target in TARGETS:
        assert target_value(target, calibrated, size=1 << 14) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("scenario", daily(SCENARIOS, 3), ids=lambda scenario: scenario.name)
def test_the_quantile_grid_agrees_with_adaptive_quadrature(scenario):
    population = population_of_scenario(scenario)
    for norm in (1.0, 2.0):
        on_grid = np.dot(population.weights, np.abs(population.gaps) ** norm) ** (1 / norm)
        assert on_grid == pytest.approx(true_calibration_error(scenario, norm=norm), rel=5e-6)


def test_deviations_of_a_sample_by_hand():
    """δ = (+0.1, −0.2, −0.2, +0.1) with a tie in the middle: C = 0.025, −0.075, −0.05."""
    sample = [0.9, 0.5, 0.1, 0.5], [1.0, 0.3, 0.2, 0.3]
    for target, value in (
        ("max_deviation", 0.075),
        ("lp_power", 0.025),  # (0.01 + 0.04 + 0.04 + 0.01) / 4
        ("lp", 0.025**0.5),
    ):
        assert target_value_of_sample(target, *sample) == pytest.approx(value)


def test_a_population_knows_its_tail_near_one():
    """18 % of this Beta's mass rounds to exactly 1; the gaps there are still resolved."""
    curve = Curve("logflip_logflip_b1", b1=2)
    population = population_of_scenario(Scenario("", 2.78, 0.048, curve))
    rounded = population.scores == 1.0
    assert population.weights[rounded].sum() == pytest.approx(0.18, abs=0.01)
    assert np.all(population.gaps[rounded] >= 0)
    assert np.count_nonzero(population.gaps[rounded]) > 1000


test_an_unknown_target_is_refused_with_the_nearest = refuses(
    target_value, ("maxdeviation", SQUARED, r"unknown target 'maxdeviation'. Did you mean max_d")
)


@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
def test_values_by_quadrature_agree_with_the_quantile_grid(binning):
    scenario = Scenario("saturated", 2.78, 0.048, Curve("logit_logit_b1", 0.0, 0.8))
    options = options_taken("mce", {"binning": binning, "level": 0.9})
    on_grid = TARGETS["mce"].functional(population_of_scenario(scenario), **options)
    assert target_value("mce", scenario, **options) == pytest.approx(on_grid, rel=1e-4)


def test_the_quantile_grid_by_hand():
    uniform = Scenario("uniform", 1, 1, Curve("identity"))
    assert population_of_scenario(uniform, 5).scores == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])


def test_mce_of_points_by_hand():
    """Half of the second point is below 1/2: bins have gaps 0.1 and −0.4. A point of hardly any
    mass is no bin.
    """
    columns = [0.1, 0.2, 0.8, 1.0], [0.1, 0.1, -0.4, -0.8], [0.2, 0.5, 0.3, 1e-17]
    points, mce = Population(*map(np.array, columns)), TARGETS["mce"].functional
    assert mce(points, n_bins=2, binning="equal_mass") == pytest.approx(0.4)
    assert mce(points, n_bins=4) == pytest.approx(0.4)  # bins without points
