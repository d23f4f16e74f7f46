"""Targets of the league: closed forms, textbook versions on samples, and the inequalities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.optimize import linprog

from calbias import Curve, Scenario
from calbias.truth.targets import population_of_scenario
from evidence.cells.beta import Wave
from evidence.targets import TARGETS, target_value, target_value_of_sample

SQUARED = Scenario("squared", 1.0, 1.0, Curve("power", 0.0, 2.0))  # δ = c² − c on uniform scores


@pytest.mark.parametrize(
    ("target", "options", "value"),
    [
        ("deviation_range", {}, 1 / 6),
        ("smooth_ce", {}, 1 / 6),  # δ has one sign: η = −1
        ("gap_quantile", {"level": 0.5}, 3 / 16),  # P(c − c² ≤ x) = 1 − √(1 − 4x)
        ("gap_quantile", {"level": 0.9}, 0.99 / 4),
        ("gap_quantile", {"level": 1.0}, 1 / 4),
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
        *(("deviation_range", {}, 0.1), ("gap_quantile", {"level": 1}, 0.2)),
    ):
        assert target_value_of_sample(target, *sample, **options) == pytest.approx(value)


test_an_unknown_target_is_refused_with_the_nearest = refuses(
    target_value, ("smoothce", SQUARED, r"unknown target 'smoothce'. Did you mean smooth_ce")
)


def test_a_quantile_by_quadrature_agrees_with_the_quantile_grid():
    scenario = Scenario("saturated", 2.78, 0.048, Curve("logit_logit_b1", 0.0, 0.8))
    functional = TARGETS["gap_quantile"].functional
    on_grid = functional(population_of_scenario(scenario), level=0.9)
    assert target_value("gap_quantile", scenario, level=0.9) == pytest.approx(on_grid, rel=1e-4)


def test_mce_where_the_lowest_bin_holds_few_points_of_the_quantile_grid():
    scenario = Scenario("saturated_wave", 2.78, 0.048, Wave())
    assert target_value("mce", scenario) == pytest.approx(0.0252193, rel=1e-6)
