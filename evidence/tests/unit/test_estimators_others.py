"""Estimators that the paper lacks: textbook versions and published limits."""

import math

import numpy as np
import oracles
import pytest
from command import python
from engine_data import data_sets, monotone_data
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.signal import fftconvolve

from evidence.estimators import estimate


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


@given(data_sets())
def test_skce_by_the_matrix_of_all_pairs(data):
    scores, hits = (np.array(column, float) for column in data)
    n = scores.size
    distance = np.abs(scores[:, None] - scores)
    terms = np.outer(hits - scores, hits - scores) * np.exp(-distance / 0.1)
    assert estimate("skce_biased", *data).value == pytest.approx(terms.sum() / n**2, abs=1e-12)
    off_diagonal = (terms.sum() - np.trace(terms)) / (n * (n - 1)) if n > 1 else 0.0
    assert estimate("skce_unbiased", *data).value == pytest.approx(off_diagonal, abs=1e-12)
    wide = np.outer(hits - scores, hits - scores) * np.exp(-distance / 0.4)
    assert estimate("mmce", *data).value ** 2 == pytest.approx(wide.sum() / n**2, abs=1e-12)


@given(data_sets(), st.sampled_from([1, 5, 15]))
def test_tcal_by_its_formula(data, n_bins):
    edges = np.arange(1, n_bins) / n_bins
    bins = np.array([np.searchsorted(edges, s, "right") for s in data[0]])
    gaps = np.array(data[1], float) - np.array(data[0])
    expected = {"tcal": 0.0, "tcal_sun": 0.0}
    for b in set(bins):
        inside = gaps[bins == b]
        pairs = inside.sum() ** 2 - (inside**2).sum()
        expected["tcal"] += pairs / inside.size / gaps.size
        if inside.size > 1:
            expected["tcal_sun"] += pairs / (inside.size - 1) / gaps.size
    for name, value in expected.items():
        assert estimate(name, *data, n_bins=n_bins).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", ["ece_debias_ew", "ece_debias_em"])
@given(data=data_sets())
def test_the_debiased_square_is_the_estimate_before_clipping_and_root(name, data):
    square = estimate(name.replace("debias", "debias_squared"), *data).value
    assert estimate(name, *data).value == pytest.approx(math.sqrt(max(square, 0.0)), abs=1e-12)


def pooled_by_definition(scores, labels):
    """Return the isotonic fit by its min-max formula over distinct scores, O(k³)."""
    points = sorted(set(scores))
    k = len(points)

    def mean(i, j):
        inside = [y for s, y in zip(scores, labels, strict=True) if points[i] <= s <= points[j]]
        return sum(inside) / len(inside)

    fit = [max(min(mean(i, j) for j in range(at, k)) for i in range(at + 1)) for at in range(k)]
    return [fit[points.index(s)] for s in scores]


@given(data_sets(max_size=12))
def test_corp_by_the_minmax_formula_of_isotonic_regression(data):
    scores, hits = data
    fit = np.array(pooled_by_definition(scores, hits))
    brier = np.mean((np.array(scores) - hits) ** 2) - np.mean((fit - hits) ** 2)
    assert estimate("corp_mcb", scores, hits).value == pytest.approx(brier, abs=1e-12)


@given(data_sets(), st.sampled_from([1, 5, 15]), st.sampled_from(["ew", "em"]))
def test_mce_is_the_largest_gap_of_a_bin(data, n_bins, binning):
    bins = oracles.bins_of(data[0], oracles.mean_labels(*data), binning, n_bins)
    largest = max(abs(sum(s - float(y) for s, y in rows) / len(rows)) for rows in bins)
    found = estimate(f"mce_{binning}", *data, n_bins=n_bins).value
    assert found == pytest.approx(largest, abs=1e-12)


def test_calib_err_drops_the_last_bin_but_counts_its_rows():
    scores, hits = monotone_data(555, seed=5)
    gaps = (scores - hits)[:400].reshape(4, 100).mean(axis=1)  # rows 400 to 555 are the last bin
    total = 100 / 555 * np.sum(gaps**2)
    assert estimate("calib_err", scores, hits)[:2] == (pytest.approx(math.sqrt(total)), 4)
    assert estimate("calib_err", scores[:199], hits[:199])[:2] == (0.0, 0)


@pytest.mark.parametrize(("n", "n_bins"), [(1, 1), (8, 2), (9, 3), (27, 3), (1000, 10), (1001, 11)])
def test_bins_by_the_cube_root(n, n_bins):
    scores, hits = monotone_data(n, seed=n)
    for binning in ("ew", "em"):
        chosen = estimate(f"ece_bin_cube_root_{binning}", scores, hits)
        value, used = estimate(f"ece_bin_{binning}", scores, hits, n_bins=n_bins)[:2]
        assert chosen[:2] == (pytest.approx(value, rel=1e-12, abs=1e-15), used)


BOUNDS = """
import sys
sys.path[:0] = ["tests", "evidence/scripts"]
from functools import partial
from pathlib import Path
from types import SimpleNamespace
import numpy as np
from kernel_bounds import print_faults
from calbias.io.python_files import SCRIPTS
from calbias.multiclass.class_rows import Rows
from evidence.calibration_tests import TESTS
from evidence.cells.classes import kernel
from evidence.intervals.bootstrap import resampled_estimates
from evidence.papers.widmann2019 import redrawn_errors

def resampled(data):
    hits = data.hits()[0].astype(np.uint8)
    sample = SimpleNamespace(n=hits.size, scores=data.scores[0], hits=hits, seed=0)
    resampled_estimates(sample, lambda batch: batch.cum_hit[:, -1], 3)

p = np.random.default_rng(0).dirichlet(np.ones(3), 20)
numbers = np.arange(20)
calls = [
    partial(kernel, Rows.of(p), p[::-1], 5),
    partial(redrawn_errors, p, numbers % 4, numbers[None], numbers[None] % 3),
]
of_batch = [resampled, *(test.values for test in TESTS.values())]
print_faults([SCRIPTS / "pipeline", Path("evidence/scripts/evidence")], of_batch, calls)
"""


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays():
    assert python(BOUNDS, NUMBA_BOUNDSCHECK="1").split() == []
