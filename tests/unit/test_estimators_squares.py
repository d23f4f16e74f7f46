"""Squared errors and their kin: SKCE, T-Cal, CORP, calib_err, MCE, bins by the cube root."""

import math

import numpy as np
import oracles
import pytest
from engine_data import data_sets, monotone_data
from hypothesis import given
from hypothesis import strategies as st

from calbias import Curve, Scenario
from calbias.engine.sampler import Sampler
from evidence.estimators import estimate, load_estimator
from evidence.targets import target_value

SLOPE = Scenario("slope", 2.0, 1.0, Curve("logit_logit_b0_b1", 0.1, 0.6))


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


@pytest.mark.parametrize(
    ("name", "options"),
    [("skce_unbiased", {"bandwidth": 0.1}), ("ece_debias_squared_em", {}), ("tcal_sun", {})],
)
@pytest.mark.parametrize("curve", [Curve("identity"), SLOPE.curve])
def test_unbiased_within_three_standard_errors(name, options, curve):
    """The binned ones to the error of the bins: 50 of them, so that it is below a thousandth."""
    scenario, run = Scenario("unbiased", 2.0, 1.0, curve), load_estimator(name)
    batches = Sampler(scenario, 300, 1).batches(range(1500))
    values = np.concatenate([run(data, 50, 2.0)[0].copy() for data in batches])
    target, of_bins = ("kernel_ce", 0) if "skce" in name else ("lp_power", 0.02)
    truth = target_value(target, scenario, **options)
    error = 3 * values.std() / math.sqrt(values.size) + of_bins * truth
    assert values.mean() == pytest.approx(truth, abs=error)


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
        assert chosen[:2] == estimate(f"ece_bin_{binning}", scores, hits, n_bins=n_bins)[:2]
