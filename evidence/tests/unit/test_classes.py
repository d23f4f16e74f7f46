"""Maps of all classes, their targets, and estimators that are unbiased for them."""

import math

import numpy as np
import pytest
from nightly import daily
from scipy import stats

from calbias.multiclass.class_bins import Binned, equal_width, square
from calbias.multiclass.class_rows import Rows
from calbias.multiclass.measures import MEASURES, prepared, target_of
from evidence.cells import classes as maps
from evidence.cells.classes import TARGETS, target_value


def dirichlet(n, concentrations, seed=1):
    return np.random.default_rng(seed).dirichlet(concentrations, size=n)


def drawn(p, seed):
    sums = p.cumsum(axis=1)
    u = np.random.default_rng(seed).random((len(p), 1)) * sums[:, -1:]
    return (u < sums).argmax(axis=1)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_every_measure_has_a_target_that_is_zero_for_a_calibrated_model(name):
    rows = Rows.of(dirichlet(400, [0.5, 0.5, 2.0]))
    assert target_of(name) in TARGETS
    assert target_value(target_of(name), rows, rows.probabilities) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", daily(sorted(TARGETS), 4))
def test_truths_of_label_noise_are_closed_forms(name):
    """δ_k(s) = λ(1/K − s): the error of a row is known whatever the groups are."""
    rate, p = 0.1, dirichlet(4000, [1.0, 1.0, 1.0, 1.0])
    rows = Rows.of(p)
    p = rows.probabilities
    delta, top = np.abs(rate * (0.25 - p)), p.max(axis=1)
    gap = rate * np.abs(0.25 - top)
    kernel = np.exp(
        -np.linalg.norm(p[:800, None] - p[None, :800], axis=2)
        / prepared("skce", Rows.of(p[:800])).bandwidth
    )
    gaps = rate * (0.25 - p[:800])
    expected = {
        "classwise_l1": delta.mean(),
        "classwise_l1_sum": 4 * delta.mean(),
        "classwise_l2": np.sqrt((delta**2).mean()),
        "classwise_l2_squared": (delta**2).mean(),
        "thresholded_l1": np.mean([delta[p[:, k] > 0.01, k].mean() for k in range(4)]),
        "top_label_l1": gap.mean(),
        "top_label_l2": np.sqrt((gap**2).mean()),
        "confidence_l1": gap.mean(),
        "kernel": (kernel * (gaps @ gaps.T)).mean(),
    }
    if name == "kernel":
        rows = Rows.of(p[:800])
    chances = maps.label_noise(rows.probabilities, rate)
    assert target_value(name, rows, chances) == pytest.approx(expected[name], rel=3e-3)


def test_maps():
    p = np.array([[0.5, 0.3, 0.2], [0.0, 0.1, 0.9]])
    assert maps.identity(p) is p
    assert maps.temperature(p, 1.0) == pytest.approx(p)
    assert maps.matrix(p, np.eye(3), [0, 0, 0]) == pytest.approx(p)
    assert maps.label_shift(p, [1, 1, 2])[0] == pytest.approx([0.5 / 1.2, 0.3 / 1.2, 0.4 / 1.2])
    assert maps.label_noise(p, 0.3)[1] == pytest.approx([0.1, 0.17, 0.73])
    assert maps.matrix(p, [[1, 2, 0]] * 3, [0, 1, 0]).sum(axis=1) == pytest.approx([1, 1])


def test_the_dirichlet_map_is_bayes_rule():
    alphas, priors = np.array([[2.0, 1.0, 0.5], [1, 3, 1], [0.5, 0.5, 2]]), [0.2, 0.5, 0.3]
    p = dirichlet(5, [1, 1, 1])
    weights = np.stack(
        [
            [prior * stats.dirichlet(a).pdf(row) for row in p]
            for a, prior in zip(alphas, priors, strict=True)
        ],
        1,
    )
    assert maps.dirichlet(p, alphas, priors) == pytest.approx(
        weights / weights.sum(axis=1, keepdims=True)
    )


@pytest.mark.parametrize("size", [10, 2000])  # of 10 rows a sample has many that are equal
@pytest.mark.parametrize("name", ["skce", "classwise_l2_squared_unbiased"])
def test_unbiased_estimates_are_unbiased(name, size):
    population = dirichlet(size, [0.4, 0.8, 1.2])
    chances = maps.temperature(population, 1.5)
    rows = Rows.of(population)
    if name == "skce":
        truth = target_value("kernel", rows, chances[rows.order])
        options = {"bandwidth": prepared("skce", rows).bandwidth, "block": 10}
    else:  # of the squared error of the bins
        truth = Binned(rows, equal_width(rows, 4), square, "mean").expected(chances[rows.order])[0]
        options = {}
    generator, values = np.random.default_rng(3), []
    for seed in range(300):
        chosen = generator.integers(0, size, 120)
        sample = Rows.of(population[chosen])
        measure = MEASURES[name].prepare(sample, 4, **options)
        labels = sample.given(drawn(chances[chosen], seed))
        values.append(measure.whole(measure.values(labels))[0])
    error = np.std(values, ddof=1) / math.sqrt(300)
    assert abs(np.mean(values) - truth) < 3 * error
