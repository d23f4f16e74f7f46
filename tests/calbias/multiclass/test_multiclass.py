"""All classes: toy cases by hand, a slow oracle, unbiasedness, size, refusals."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

import calbias
from calbias.auditing.classes import all_classes
from calbias.defaults import holm
from calbias.multiclass.class_bins import equal_mass, equal_width
from calbias.multiclass.class_rows import Rows
from calbias.multiclass.measures import prepared

P = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.2, 0.2, 0.6]])
Y = np.array([0, 0, 2])


def value(name, p, y, n_bins=15):
    rows = Rows.of(np.asarray(p, float))
    measure = prepared(name, rows, n_bins)
    return measure.whole(measure.values(rows.given(np.asarray(y))))[0]


def dirichlet(n, concentrations, seed=1):
    return np.random.default_rng(seed).dirichlet(concentrations, size=n)


def drawn(p, seed):
    sums = p.cumsum(axis=1)
    u = np.random.default_rng(seed).random((len(p), 1)) * sums[:, -1:]
    return (u < sums).argmax(axis=1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("classwise_ece_mean", (1 / 3 + 0.4 + 0.2) / 3),
        ("classwise_ece_sum", 1 / 3 + 0.4 + 0.2),
        ("classwise_l2", math.sqrt((0.34 + 0.615 + 0.18) / 9)),
        ("thresholded_ece", (1 / 3 + 0.4 + 0.2) / 3),
        ("top_label_ece", 0.5),
        ("confidence_ece", 0.1 / 3),
        ("classwise_l2_squared_unbiased", (-0.32 + 0.12 + 0.02) / 9),
        ("classwise_l2_squared_debiased", (-0.32 + 0.125 + 0.02) / 9),
        ("classwise_l2_debiased", 0.0),
    ],
)
def test_three_rows_and_two_bins_by_hand(name, expected):
    assert value(name, P, Y, n_bins=2) == pytest.approx(expected, abs=1e-15)


def test_a_pair_of_rows_by_hand():
    """The median distance of one pair is its distance, so that k = 1/e."""
    dot = 0.4 * 0.8 + 0.3 * 0.7 + 0.1 * 0.1
    assert value("skce", P[:2], Y[:2]) == pytest.approx(dot / math.e, rel=1e-12)


def test_equal_mass_bins_do_not_part_equal_probabilities():
    p = np.array([0.1, 0.2, 0.2, 0.2, 0.9, 0.9])
    cells = equal_mass(Rows.of(np.stack([p, 1 - p], axis=1)), 2)
    assert cells.sizes[:2].tolist() == [4.0, 2.0]  # the boundary at rank 3 moves to the nearer end


def test_a_probability_of_one_and_edges_are_in_the_upper_bin():
    p = np.array([0.0, 0.2, 0.4, 1.0])
    cells = equal_width(Rows.of(np.stack([p, 1 - p], axis=1)), 5)
    assert cells.sizes[:5].tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]


def slow_classwise(p, y, n_bins):
    values = []
    for k in range(p.shape[1]):
        bins = [min(sum(x >= b / n_bins for b in range(1, n_bins)), n_bins - 1) for x in p[:, k]]
        gaps = [
            abs(sum(p[i, k] - (y[i] == k) for i in range(len(y)) if bins[i] == b))
            for b in range(n_bins)
        ]
        values.append(sum(gaps) / len(y))
    return sum(values) / len(values)


def slow_skce(p, y, bandwidth):
    gaps = np.eye(p.shape[1])[y] - p
    pairs = [
        math.exp(-np.linalg.norm(p[i] - p[j]) / bandwidth) * float(gaps[i] @ gaps[j])
        for i in range(len(y))
        for j in range(i)
    ]
    return sum(pairs) / len(pairs)


@given(st.integers(2, 30), st.integers(2, 6), st.integers(1, 9), st.integers(0, 10**6))
def test_against_slow_oracles(n, n_classes, n_bins, seed):
    p = dirichlet(n, np.full(n_classes, 0.5), seed).round(2)
    p[:, 0] += 1 - p.sum(axis=1)
    y = drawn(np.abs(p), seed + 1)
    assert value("classwise_ece_mean", p, y, n_bins) == pytest.approx(
        slow_classwise(p, y, n_bins), abs=1e-13
    )
    rows = Rows.of(p)
    measure = prepared("skce_all_pairs", rows)
    found = measure.values(rows.given(y))[0, 0]
    assert found == pytest.approx(slow_skce(p, y, measure.bandwidth), abs=1e-10)


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_the_order_of_the_rows_changes_no_bit(seed):
    p = dirichlet(40, [0.3, 0.5, 0.9], seed)
    y = drawn(p, seed)
    order = np.random.default_rng(seed).permutation(40)
    for measure in ("classwise_ece_mean", "classwise_l2_squared_unbiased", "skce"):
        options = {"measure": measure, "replicates": 20}
        assert calbias.noise_floor(p, y, **options) == calbias.noise_floor(
            p[order], y[order], **options
        )


def test_a_replicate_is_the_same_in_any_number_of_replicates():
    rows = Rows.of(dirichlet(50, [1, 2, 3]))
    few, many = (np.concatenate([*rows.redrawn(r, 0)], axis=1) for r in (7, 30))
    assert (many[:, :7] == few).all()
    assert (np.concatenate([*rows.redrawn(7, 1)], axis=1) != few).any()


def test_labels_are_drawn_with_the_probabilities_of_the_row():
    p = np.array([[0.5, 0.0, 0.2, 0.3], [0.0, 0.0, 0.0, 1.0]])
    rows = Rows.of(p)
    labels = np.concatenate([*rows.redrawn(40_000, 0)], axis=1)[np.argsort(rows.order)]
    shares = np.stack([np.bincount(row, minlength=4) / 40_000 for row in labels])
    assert shares == pytest.approx(p, abs=0.01)
    assert shares[0, 1] == 0.0


@pytest.mark.nightly
@pytest.mark.parametrize(("n_classes", "n"), [(10, 200), (100, 100)])
def test_the_size_of_the_redraw_test(n_classes, n):
    p = dirichlet(n, np.full(n_classes, 0.2))
    rejected = [
        calbias.noise_floor(p, drawn(p, seed), replicates=39, seed=seed).p_value <= 0.05
        for seed in range(200)
    ]
    assert np.mean(rejected) == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 200))


def test_two_classes_mirror_each_other_and_this_is_said():
    p = dirichlet(50, [1.0, 2.0])
    notes, left = all_classes(p, drawn(p, 2))
    assert left[0] == pytest.approx(left[1])
    assert any("mirror" in note for note in notes)


def test_what_is_left_of_a_class_is_its_value_without_its_floor():
    p = dirichlet(2000, [0.3] * 4)
    overconfident = p ** (1 / 2.5)
    labels = drawn(overconfident / overconfident.sum(axis=1, keepdims=True), 1)
    notes, left = all_classes(p, labels)
    value = np.array(
        [calbias.estimate("ece_bin_ew", q, labels == k).value for k, q in enumerate(p.T)]
    )
    assert (left > 0.01).all()
    assert (left < value).all()
    assert notes[0].startswith("The model is miscalibrated: classwise_ece_mean")
    assert "p = 0.001" in notes[0]
    notes, _ = all_classes(p[:60], drawn(p[:60], 1))
    assert "not found miscalibrated" in notes[0]


def test_classes_with_clusters_have_no_floor_of_the_whole_and_say_so():
    p = dirichlet(120, [1.0, 1.0, 1.0])
    audit = calbias.audit(
        probabilities=p, labels=drawn(p, 3), class_wise=True, clusters=np.arange(120) // 4
    )
    assert "corrected" not in audit.classes
    assert "with clusters" in audit.notes[-1]


def test_absent_classes_certain_predictions_zeros_and_half_precision_are_said():
    p = np.tile([0.9, 0.1, 0.0], (20, 1)).astype(np.float16)
    notes, left = all_classes(p, [0] * 10 + [1] * 9 + [2])
    text = " ".join(notes)
    assert "Class 0 is predicted in every row" in text
    assert "33 % of the probabilities are exactly 0, and 1 labels have probability 0" in text
    assert left[2] == pytest.approx(0.05)  # its floor is 0
    assert "never occurs" in " ".join(all_classes(p, [0] * 10 + [1] * 10)[0])


test_bad_input_is_refused_in_a_line = refuses(
    partial(calbias.noise_floor, probabilities=P, labels=Y),
    ({"probabilities": P * 0.9}, "row 0 .*: probabilities sum to 0.9, not 1"),
    ({"labels": [0, 1, 3]}, "row 2 .*: label 3 is out of range; number the 3 classes from 0"),
    ({"labels": [0, 1]}, "3 rows .* but 2 labels"),
    ({"probabilities": [0.2, 0.3, 0.5]}, r"shape \(3,\); give one row per sample"),
    ({"measure": "classwise"}, "unknown measure 'classwise'. Did you mean classwise_"),
    ({"measure": 3}, "measure must be a name such as classwise_ece_mean, not 3"),
    ({"replicates": 5}, "replicates must be a whole number of at least 20, not 5"),
    ({"n_bins": 0}, "n_bins must be a whole number of at least 1"),
    ({"n_bins": 20_000}, "n_bins must be .* at most 10000, not 20000"),
    ({"seed": -1}, "seed must be a whole number of at least 0"),
)


def test_holm_by_hand():
    """The least p times 3, the next times 2, the last times 1, and never below the one before."""
    corrected = holm([0.03, 0.01, np.nan, 0.04])
    assert corrected[[0, 1, 3]] == pytest.approx([0.06, 0.03, 0.06])
    assert np.isnan(corrected[2])
