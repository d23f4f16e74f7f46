"""KS, ECCE-R, smCE, smECE: textbook versions, published limits; packages: test_certified.py."""

import numpy as np
import pytest
from engine_data import data_sets
from hypothesis import given
from scipy.optimize import linprog
from scipy.signal import fftconvolve

from calbias.engine.sorted_batch import SortedBatch, sorted_data_set
from evidence.estimators import estimate, load_estimator

# Hu et al. (2024): medians for f ~ U(0, 0.99), P(hit) = f + 0.01.
HU_SIZES = [33, 65, 129, 257, 513, 1025, 2049]
HU_MEDIANS = {
    "smce": [0.0539, 0.0430, 0.0354, 0.0187, 0.0162, 0.0123, 0.0110],
    "smece": [0.0916, 0.0773, 0.0629, 0.0493, 0.0383, 0.0302, 0.0247],
}


def deviations(scores, hits):
    """Return [C_0, C_1, …]: after each distinct score."""
    sums = [0.0]
    for score in sorted(set(scores)):
        gaps = [y - s for s, y in zip(scores, hits, strict=True) if s == score]
        sums.append(sums[-1] + sum(gaps) / len(scores))
    return sums


@given(data_sets())
def test_cumulative_deviations_agree_with_the_textbook(data):
    """Equal scores are one step, in any order of the rows."""
    sums = deviations(*data)
    expected = pytest.approx([max(map(abs, sums)), max(sums) - min(sums)], abs=1e-12)
    for ties in ("average", "input_order"):
        assert [estimate(name, *data, ties=ties).value for name in ("ks", "ecce_r")] == expected


def calibrated_batch(n, m, seed):
    generator = np.random.default_rng(seed)
    scores = np.sort(generator.random((m, n)), axis=1)
    hits = generator.random((m, n)) < scores
    zero = np.zeros((m, 1))
    sums = [np.hstack([zero, np.cumsum(x, axis=1)]) for x in (scores - hits, hits.astype(float))]
    no_ties = np.empty((m, 0), np.int64)
    return SortedBatch(scores, *sums, no_ties, no_ties)


@pytest.mark.slow
def test_calibrated_deviations_have_the_published_limits():
    """E[MAD/σ] → √(π/2), E[R/σ] → 2√(2/π), the quantiles of the range of Brownian motion."""
    data = calibrated_batch(4000, 1500, seed=1)
    sigma = np.sqrt(np.sum(data.scores * (1 - data.scores), axis=1)) / 4000
    quantiles = {"ks": [1.149, 1.960, 2.2414, 2.807], "ecce_r": [1.5145, 2.2412, 2.4977, 3.0233]}
    for name, mean, off in (("ks", np.sqrt(np.pi / 2), 0.03), ("ecce_r", np.sqrt(8 / np.pi), 0.04)):
        value = load_estimator(name)(data, 15)[0] / sigma
        assert value.mean() == pytest.approx(mean, abs=off)
        found = np.quantile(value, [0.5, 0.9, 0.95, 0.99])
        assert found[:3] == pytest.approx(quantiles[name][:3], abs=0.05)
        assert found[3] == pytest.approx(quantiles[name][3], abs=0.15)


@given(data_sets(max_size=14))
def test_smce_is_the_optimum_of_its_linear_program(data):
    scores, hits = (np.array(column, float) for column in data)
    pairs = [(i, j) for i in range(scores.size) for j in range(scores.size) if i != j]
    unit = np.eye(scores.size)
    program = linprog(
        -(hits - scores) / scores.size,
        [unit[i] - unit[j] for i, j in pairs] or None,
        [abs(scores[i] - scores[j]) for i, j in pairs] or None,
        bounds=(-1, 1),
    )
    assert estimate("smce", *data).value == pytest.approx(-program.fun, abs=2e-7)


@pytest.mark.parametrize("estimator", ["smce", "smece"])
def test_medians_of_hu_et_al(estimator):
    """Published medians of few runs each: within half a standard deviation of a single run."""
    generator = np.random.default_rng(3)
    run = load_estimator(estimator)
    for n, median in zip(HU_SIZES, HU_MEDIANS[estimator], strict=True):
        values = []
        for _ in range(60):
            scores = 0.99 * generator.random(n)
            hits = generator.random(n) < scores + 0.01
            values.append(run(sorted_data_set(scores, hits.astype(int)), 15)[0][0])
        assert np.median(values) == pytest.approx(median, abs=0.5 * np.std(values))


def smece_by_bisection(scores, hits):
    """SmoothECE with every bisection evaluated and the sums as plain convolutions."""

    def smoothed(sigma):
        n_grid = max(2000, round(20 / sigma)) // 2 + 1
        shared = np.zeros((2, n_grid))
        places = scores * (n_grid - 1)
        cells = np.minimum(places.astype(int), n_grid - 2)
        for row, values in zip(shared, (scores - hits, np.ones(scores.size)), strict=True):
            np.add.at(row, cells, values * (1 - places + cells))
            np.add.at(row, cells + 1, values * (places - cells))
        distance = np.linspace(-0.5, 0.5, n_grid)
        kernel = np.exp(-0.5 * (distance / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)
        mirrored = np.concatenate([shared[:, :0:-1], shared, shared[:, -2::-1]], axis=1)
        error, density = (fftconvolve(row, kernel, "same") for row in mirrored)
        points, grid = np.linspace(0, 1, max(200, round(10 / sigma))), np.linspace(0, 1, n_grid)
        at = np.s_[n_grid - 1 : 2 * n_grid - 1]
        total = np.sum(np.interp(points, grid, density[at]) + 1e-4)
        return np.sum(np.abs(np.interp(points, grid, error[at]))) / total

    fails, passes = 0.0, 1.0
    for _ in range(10):
        sigma = (fails + passes) / 2
        if sigma < 0.001 or sigma < smoothed(sigma):
            fails = sigma
        else:
            passes = sigma
    return smoothed(passes)


@pytest.mark.parametrize("seed", range(6))
def test_smece_takes_the_bisections_that_it_does_not_evaluate(seed):
    """``same`` of an even number of grid points moves the values by half a step, as relplot."""
    generator = np.random.default_rng(seed)
    n = 10 ** (1 + seed % 4)
    scores = generator.beta(*((2.78, 0.048), (2.0, 1.0), (0.5, 0.5))[seed % 3], n)
    hits = generator.random(n) < np.clip(scores + (0.0, 0.1)[seed % 2], 0, 1)
    expected = smece_by_bisection(scores, hits)
    assert estimate("smece", scores, hits).value == pytest.approx(expected, rel=1e-9)
