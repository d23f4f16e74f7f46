"""Population targets: closed forms, textbook versions on samples, and the inequalities."""

import numpy as np
import pytest
from engine_data import MODELS, published_scenario
from hypothesis import given
from hypothesis import strategies as st
from nightly import daily
from refusals import refuses
from scipy.optimize import linprog

from calbias import Curve, Scenario, true_calibration_error
from calbias.truth.targets import Population, population_of_scenario, quantile_grid
from evidence.cells.beta import Wave
from evidence.league import league_scenarios
from evidence.targets import TARGETS, options_taken, target_value, target_value_of_sample

SQUARED = Scenario("squared", 1.0, 1.0, Curve("power", 0.0, 2.0))  # δ = c² − c on uniform scores
SCENARIOS = [
    SQUARED,
    *(published_scenario(model) for model in MODELS[::9]),
    Scenario("overconfident", 0.5, 0.5, Curve("logit_logit_b1", 0.0, 0.5)),
    Scenario("underconfident", 0.5, 0.5, Curve("logit_logit_b1", 0.0, 1.25)),
    Scenario("shifted", 2.0, 1.0, Curve("logit_logit_b0_b1", -0.3, 1.0)),
    *league_scenarios([], [], [])[::3],
]


@pytest.mark.parametrize(
    ("target", "options", "value"),
    [
        ("lp", {"norm": 1}, 1 / 6),
        ("lp", {}, np.sqrt(1 / 30)),
        ("lp_power", {}, 1 / 30),
        ("max_deviation", {}, 1 / 6),
        ("deviation_range", {}, 1 / 6),
        ("smooth_ce", {}, 1 / 6),  # δ has one sign: η = −1
        ("gap_quantile", {"level": 0.5}, 3 / 16),  # P(c − c² ≤ x) = 1 − √(1 − 4x)
        ("gap_quantile", {"level": 0.9}, 0.99 / 4),
        ("gap_quantile", {"level": 1.0}, 1 / 4),
        ("mce", {"n_bins": 2}, 1 / 6),
        ("mce", {"n_bins": 1}, 1 / 6),
        ("mce", {"n_bins": 2, "binning": "equal_mass"}, 1 / 6),
        ("averaged_two_bin", {}, 13 / 630),  # ∫ (q³/3 − q²/2)² dq, twice
        ("isotonic_gain", {}, 1 / 30),  # the curve rises
    ],
)
def test_closed_forms_for_a_squared_curve(target, options, value):
    assert target_value(target, SQUARED, **options) == pytest.approx(value, rel=1e-5)


def test_an_isotonic_projection_of_a_falling_curve_is_its_mean():
    """T = 1 − c on uniform scores: E (1 − 2c)² − E (½ − c)² = 1/3 − 1/12."""
    falling = Scenario("falling", 1.0, 1.0, Curve("logit_logit_b1", 0.0, -1.0))
    assert target_value("isotonic_gain", falling) == pytest.approx(0.25, rel=1e-6)


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


def samples(most):
    """Draw (scores, curve values) of 1 to ``most`` points, ties and both ends among them."""
    probability = st.floats(0, 1, allow_subnormal=False)
    point = st.tuples(st.one_of(probability, st.sampled_from([0.0, 0.2, 0.5, 1.0])), probability)
    return st.lists(point, min_size=1, max_size=most).map(lambda points: np.array(points).T)


@given(samples(12))
def test_smooth_ce_is_the_optimum_of_its_linear_program(sample):
    scores, curve = sample
    pairs = [(i, j) for i in range(scores.size) for j in range(scores.size) if i != j]
    unit = np.eye(scores.size)
    program = linprog(
        -(curve - scores) / scores.size,
        [unit[i] - unit[j] for i, j in pairs] or None,
        [abs(scores[i] - scores[j]) for i, j in pairs] or None,
        bounds=(-1, 1),
    )
    found = target_value_of_sample("smooth_ce", scores, curve)
    assert found == pytest.approx(-program.fun, abs=2e-7)


@given(samples(20), st.sampled_from([0.0005, 0.1, 0.4]))
def test_kernel_ce_by_the_matrix_of_all_pairs(sample, bandwidth):
    scores, curve = sample
    kernel = np.exp(-np.abs(scores[:, None] - scores) / bandwidth)
    square = (curve - scores) @ kernel @ (curve - scores) / scores.size**2
    found = target_value_of_sample("kernel_ce", *sample, bandwidth=bandwidth)
    assert found == pytest.approx(square, abs=1e-12)


def test_smece_is_a_fixed_point_of_the_reflected_gaussian_smoothing():
    sigma = target_value("smece", SQUARED)

    def smoothed(t):
        images = np.array([2 * k + sign * t for k in range(-2, 3) for sign in (1, -1)])[:, None]
        kernel = np.exp(-(((s - images) / sigma) ** 2) / 2).sum(axis=0) / sigma / np.sqrt(2 * np.pi)
        return weights @ ((s * s - s) * kernel) / 2

    points, weights = np.polynomial.legendre.leggauss(100)
    s = (1 + points) / 2
    mean = sum(w * abs(smoothed(t)) for t, w in zip(s, weights, strict=True)) / 2
    assert sigma == pytest.approx(mean, abs=1e-6)
    assert sigma == pytest.approx(1 / 6, abs=1e-6)  # of one sign: smoothing keeps the integral


def test_smece_of_a_sign_change_is_smaller_than_the_l1_error():
    """Slope 0.5 in the log-odds, symmetric: what cancels under the kernel is lost."""
    slope = Scenario("slope", 0.5, 0.5, Curve("logit_logit_b1", 0.0, 0.5))
    value = target_value("smece", slope)
    assert 0.3 < value / target_value("lp", slope, norm=1) < 1


def test_deviations_of_a_sample_by_hand():
    """δ = (+0.1, −0.2, −0.2, +0.1) with a tie in the middle: C = 0.025, −0.075, −0.05."""
    sample = [0.9, 0.5, 0.1, 0.5], [1.0, 0.3, 0.2, 0.3]
    for target, options, value in (
        *(("max_deviation", {}, 0.075), ("deviation_range", {}, 0.1)),
        ("gap_quantile", {"level": 1}, 0.2),
        ("lp_power", {}, 0.025),  # (0.01 + 0.04 + 0.04 + 0.01) / 4
        ("lp", {}, 0.025**0.5),
    ):
        assert target_value_of_sample(target, *sample, **options) == pytest.approx(value)


def test_a_population_knows_its_tail_near_one():
    """18 % of this Beta's mass rounds to exactly 1; the gaps there are still resolved."""
    curve = Curve("logflip_logflip_b1", b1=2)
    population = population_of_scenario(Scenario("", 2.78, 0.048, curve))
    rounded = population.scores == 1.0
    assert population.weights[rounded].sum() == pytest.approx(0.18, abs=0.01)
    assert np.all(population.gaps[rounded] >= 0)
    assert np.count_nonzero(population.gaps[rounded]) > 1000


test_an_unknown_target_is_refused_with_the_nearest = refuses(
    target_value, ("smoothce", SQUARED, r"unknown target 'smoothce'. Did you mean smooth_ce")
)


@pytest.mark.parametrize("target", ["mce", "gap_quantile"])
@pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])
def test_values_by_quadrature_agree_with_the_quantile_grid(target, binning):
    scenario = Scenario("saturated", 2.78, 0.048, Curve("logit_logit_b1", 0.0, 0.8))
    options = {"binning": binning, "level": 0.9}
    functional = TARGETS[target].functional
    on_grid = functional(population_of_scenario(scenario), **options_taken(target, options))
    assert target_value(target, scenario, **options) == pytest.approx(on_grid, rel=1e-4)


def test_mce_of_points_by_hand():
    """Half of the second point is below 1/2: bins have gaps 0.1 and −0.4. A point of hardly any
    mass is no bin.
    """
    columns = [0.1, 0.2, 0.8, 1.0], [0.1, 0.1, -0.4, -0.8], [0.2, 0.5, 0.3, 1e-17]
    points, mce = Population(*map(np.array, columns)), TARGETS["mce"].functional
    assert mce(points, n_bins=2, binning="equal_mass") == pytest.approx(0.4)
    assert mce(points, n_bins=4) == pytest.approx(0.4)  # bins without points


def test_the_quantile_grid_by_hand():
    uniform = Scenario("uniform", 1, 1, Curve("identity"))
    assert population_of_scenario(uniform, 5).scores == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    assert not any(grid.flags.writeable for grid in quantile_grid(1, 1, 5))  # it is shared


def test_mce_where_the_lowest_bin_holds_few_points_of_the_quantile_grid():
    scenario = Scenario("saturated_wave", 2.78, 0.048, Wave())
    assert target_value("mce", scenario) == pytest.approx(0.0252193, rel=1e-6)
