"""Population targets: closed forms, by hand on samples, and one quadrature against another."""

import numpy as np
import pytest
from engine_data import MODELS, published_scenario
from nightly import daily
from refusals import refuses

from calbias import Curve, Scenario, true_calibration_error
from calbias.truth.targets import (
    TARGETS,
    Population,
    options_taken,
    population_of_scenario,
    quantile_grid,
    target_value,
    target_value_of_sample,
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
