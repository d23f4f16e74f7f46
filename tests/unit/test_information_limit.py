"""The limit of an unbiased estimate of the calibration error."""

import math

import numpy as np
import pytest

from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from calbias.truth.targets import Population
from evidence.studies.information_limit import information_limit, limit_row


def population(gap, n_points=20_000):
    scores = (np.arange(n_points) + 0.5) / n_points
    return Population(scores, gap(scores), np.full(n_points, 1 / n_points))


def test_a_constant_gap_is_limited_by_the_noise_of_the_hits():
    """Scores of ½ with 0.6 hits: |mean hit − ½| has variance 0.24/n, and so has ℓ2."""
    points = Population(np.array([0.5]), np.array([0.1]), np.array([1.0]))
    assert information_limit(points, 1) == pytest.approx(math.sqrt(0.24))
    assert information_limit(points, 2) == pytest.approx(math.sqrt(0.24))


@pytest.mark.parametrize("norm", [1, 2])
def test_few_scores_reach_the_limit_by_the_empirical_error(norm):
    """Two scores far from calibration: the plug-in of the groups' means is efficient."""
    scores, gaps, weights = np.array([0.3, 0.8]), np.array([0.2, -0.3]), np.array([0.6, 0.4])
    generator = np.random.default_rng(0)
    n, found = 4000, []
    for _ in range(1500):
        which = generator.random(n) < weights[1]
        hits = generator.random(n) < np.where(which, 0.5, 0.5)
        shares = np.array([np.mean(~which), np.mean(which)])
        means = np.array([hits[~which].mean(), hits[which].mean()])
        found.append((shares @ abs(means - scores) ** norm) ** (1 / norm))
    limit = information_limit(Population(scores, gaps, weights), norm) / math.sqrt(n)
    assert np.std(found) == pytest.approx(limit, rel=0.06)


@pytest.mark.parametrize("norm", [1, 2])
def test_the_influence_function_is_the_derivative_along_tilted_curves(norm):
    """Along c + t·h the error changes by E[influence·score of the path], for any h."""
    points = population(lambda s: 0.15 * (0.5 - s))
    scores, gaps, weights = points
    direction = np.cos(5 * scores)
    c = scores + gaps

    def error(t):
        return float(weights @ abs(gaps + t * direction) ** norm) ** (1 / norm)

    derivative = (error(1e-5) - error(-1e-5)) / 2e-5
    influence = np.sign(gaps) if norm == 1 else gaps / error(0)  # the factor of (Y − c)
    # the path's score is h (Y − c)/(c(1 − c)); E (Y − c)² = c(1 − c)
    assert derivative == pytest.approx(float(weights @ (influence * direction)), rel=1e-4)
    noise = weights @ (influence**2 * c * (1 - c))
    size = abs(gaps) if norm == 1 else gaps**2 / (2 * error(0))
    spread = weights @ (size - weights @ size) ** 2
    assert information_limit(points, norm) == pytest.approx(math.sqrt(noise + spread), rel=1e-9)


def test_a_calibrated_model_has_no_limit():
    assert math.isnan(information_limit(population(lambda s: 0 * s)))
    row = limit_row(Scenario("x", 2.0, 1.0, Curve("identity")), 1000)
    assert math.isnan(row["limit"])
    assert row["truth"] == 0


def test_a_row_falls_with_the_root_of_n():
    scenario = Scenario("x", 2.0, 1.0, Curve("logit_logit_b1", 0.0, 0.5))
    few, many = (limit_row(scenario, n, 2)["limit"] for n in (100, 400))
    assert few == pytest.approx(2 * many)
