"""Weighted rows: by hand, with equal weights, with repeated rows, unbiased, and refusals."""

from functools import partial

import numpy as np
import pytest
from engine_data import data_sets, monotone_data
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

import calbias
from calbias.estimation.api import estimate
from calbias.estimation.loading import is_of_sums
from calbias.estimation.registry import estimator_file, known_estimators

SWEEPS = {"ece_sweep_ew", "ece_sweep_em"}
WEIGHTED = sorted(
    name for name in known_estimators() if is_of_sums(estimator_file(name)) and name not in SWEEPS
)
# whose value for whole weights is that of repeated rows
REPEATED = ["ece_bin_ew", "ece_label_binned_ew", "mce_ew", "ks"]


def test_by_hand():
    """Two bins: (1·0.2 + 3·0.4 − 3)/4 = −0.4 with weight 4, and 0.9 − 1 with weight 6."""
    found = estimate("ece_bin_ew", [0.2, 0.4, 0.9], [0, 1, 1], n_bins=2, sample_weight=[1, 3, 6])
    assert found.value == pytest.approx((4 * 0.4 + 6 * 0.1) / 10)
    assert found.effective_n == pytest.approx(100 / 46)
    assert estimate("ks", [0.2, 0.4, 0.9], [0, 1, 1], sample_weight=[1, 3, 6]).value == (
        pytest.approx((-0.2 + 1.8 + 0.6) / 10)
    )
    gap = (0.25 * 0.6 + 0.75 * 0.8) - 0.25
    n = 1 / (0.25**2 + 0.75**2)
    debiased = estimate("ece_debias_squared_ew", [0.6, 0.8], [1, 0], n_bins=1, sample_weight=[1, 3])
    assert debiased.value == pytest.approx(gap**2 - 0.25 * 0.75 / (n - 1))


@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=3)
@given(data=data_sets(), weight=st.sampled_from([1.0, 0.1, 7.0, 1e-9]))
def test_equal_weights_are_none(name, data, weight):
    plain = estimate(name, *data)
    found = estimate(name, *data, sample_weight=np.full(len(data[0]), weight))
    if "debias" in name and "squared" not in name:
        assert found.value**2 == pytest.approx(plain.value**2, rel=1e-9, abs=1e-13)
    else:
        loose = "glm" in name or "posterior" in name  # the fits end a step apart
        assert found.value == pytest.approx(
            plain.value, rel=1e-4 if loose else 1e-9, abs=1e-5 if loose else 1e-12
        )
    if len(set(data[0])) == len(data[0]) and plain.n_bins <= len(data[0]):
        expected = min(plain.n_bins, len(data[0]))
        assert found.n_bins == expected
    assert found.effective_n == pytest.approx(len(data[0]))


@given(data=data_sets(max_size=12), seed=st.integers(0, 1000))
def test_whole_weights_are_repeated_rows_where_noise_is_not_counted(data, seed):
    scores, hits = map(np.array, data)
    weights = np.random.default_rng(seed).integers(0, 4, len(scores))
    weights[0] = 2
    for name in REPEATED:
        repeated = estimate(name, np.repeat(scores, weights), np.repeat(hits, weights), n_bins=5)
        found = estimate(name, scores, hits, n_bins=5, sample_weight=weights)
        assert found.value == pytest.approx(repeated.value, abs=1e-12), name


@settings(max_examples=4)
@given(data=data_sets(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_and_the_scale_change_nothing(data, seed):
    scores, hits = map(np.array, data)
    generator = np.random.default_rng(seed)
    weights, order = generator.random(len(scores)) + 0.1, generator.permutation(len(scores))
    for name in WEIGHTED:
        found = estimate(name, scores, hits, sample_weight=weights)
        assert found == estimate(name, scores[order], hits[order], sample_weight=weights[order])
        scaled = estimate(name, scores, hits, sample_weight=4.0 * weights)
        assert scaled.value == pytest.approx(found.value, abs=1e-9)


def test_a_weight_of_zero_leaves_a_row_out():
    scores, hits = monotone_data(60, 1)
    weights = np.r_[np.zeros(20), np.ones(40)]
    for name in WEIGHTED:
        left = estimate(name, scores[20:], hits[20:], sample_weight=np.ones(40))
        assert estimate(name, scores, hits, sample_weight=weights) == left


test_bad_weights = refuses(
    lambda weights: estimate("ks", [0.2, 0.9], [0, 1], sample_weight=weights),
    ([1.0, -1.0], r"row 1 \(counted from 0\): sample_weight -1 is not a finite number of at least"),
    ([np.nan, 1.0], "row 0 .*: sample_weight nan is not"),
    ([1.0, np.inf], "row 1 .*: sample_weight inf is not"),
    ([0.0, 0.0], "all sample_weight are 0: give at least one row a weight"),
    ([1.0], r"sample_weight must have one weight a row: its shape is \(1,\) and there are 2 rows"),
    (["a", "b"], "sample_weight must be numbers"),
)


@pytest.mark.parametrize("name", sorted(set(known_estimators()) - set(WEIGHTED)))
def test_others_refuse(name):
    with pytest.raises(calbias.InputError, match="weights"):
        estimate(name, [0.2, 0.9], [0, 1], sample_weight=[1.0, 2.0])


def test_ties_in_input_order_and_norms_are_refused():
    with pytest.raises(calbias.InputError, match="weights go with ties"):
        estimate("ks", [0.2], [1], ties="input_order", sample_weight=[1.0])
    with pytest.raises(calbias.InputError, match="defined for norm 2 only"):
        estimate("ece_debias_em", [0.2], [1], norm=1, sample_weight=[1.0])


@pytest.mark.parametrize("mode", ["ew", "em"])
def test_the_weighted_diagram(mode):
    """Equal weights: the same bins; a band that holds 95 % of a calibrated model's bins."""
    binning = {"ew": "equal_width", "em": "equal_mass"}[mode]
    diagram = partial(calbias.reliability_diagram, n_bins=8, binning=binning)
    scores, hits = monotone_data(400, 3)
    scores = np.round(scores, 2)
    plain, equal = (diagram(scores, hits, sample_weight=w) for w in (None, np.full(400, 0.3)))
    for name in plain._fields[:5]:
        np.testing.assert_allclose(getattr(equal, name), getattr(plain, name), rtol=1e-12)
    np.testing.assert_allclose(equal.band_low, plain.band_low, atol=0.05)
    np.testing.assert_allclose(equal.band_high, plain.band_high, atol=0.05)
    generator, inside = np.random.default_rng(2), []
    for seed in range(30):
        scores, weights = generator.random(300), generator.gamma(1.0, 1.0, 300)
        hits = generator.random(300) < scores
        drawn = {"replicates": 300, "seed": seed}
        found = diagram(scores, hits, sample_weight=weights, **drawn)
        inside += list((found.band_low <= found.mean_hit) & (found.mean_hit <= found.band_high))
        value = estimate(f"ece_bin_{mode}", scores, hits, n_bins=8, sample_weight=weights).value
        share = [
            weights[(scores >= low) & (scores <= high)].sum() / weights.sum()
            for low, high in zip(found.lowest_score, found.highest_score, strict=True)
        ]
        assert share @ np.abs(found.mean_hit - found.mean_score) == pytest.approx(value)
    assert 0.92 <= np.mean(inside) <= 0.98
    order = generator.permutation(300)
    again = diagram(scores[order], hits[order], sample_weight=weights[order], **drawn)
    for one, two in zip(found, again, strict=True):
        np.testing.assert_array_equal(one, two)
