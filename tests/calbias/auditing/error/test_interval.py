"""The interval on two inequalities: by hand, against a slow oracle, and its properties."""

import os

import numpy as np
import pytest
from curve_and_interval import check_the_curve
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from shipped import shipped, shipped_path

from calbias.auditing.error.interval import calibration_interval
from calbias.auditing.inputs import read_data
from calbias.auditing.verdict.judge import judge
from calbias.samples.by_score import Scored

LEVELS = (0.9, 0.95, 0.99)
EACH = 1 if os.environ.get("CALBIAS_NIGHTLY") else 3  # genuine file


def drawn(seed, n=300, power=1.4, values=None):
    generator = np.random.default_rng(seed)
    scores = generator.beta(2, 1, n) if values is None else generator.choice(values, n)
    return scores, (generator.random(n) < scores**power).astype(int)


@settings(max_examples=5)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 7, 40, 300]), st.booleans())
def test_intervals_are_nested_and_ordered(seed, n, tied):
    values = [0.0, 0.3, 0.9, 1.0] if tied else None
    found = calibration_interval(Scored.of(*drawn(seed, n, values=values)))
    for norm in (1, 2):
        ends = np.array([found.at(norm, level) for level in LEVELS])
        assert (ends[:, 0] >= 0).all()
        assert (ends[:, 0] <= ends[:, 1]).all()
        assert (ends <= 1).all()
        assert (np.diff(ends[:, 0]) <= 0).all()
        assert (np.diff(ends[:, 1]) >= 0).all()
    for level in LEVELS:
        first, second = found.at(1, level), found.at(2, level)
        assert first.low <= second.low
        assert first.high <= second.high


@pytest.mark.parametrize(
    ("seed", "values"), [(7757, (0.2, 0.6, 0.9)), (0, (0.0, 0.6, 0.9)), (8353, (0.25, 0.5, 0.75))]
)
def test_neither_the_order_of_rows_nor_the_names_of_clusters_matter(seed, values):
    """Two clusters have the same scores and as many hits, but at other scores, or equal sums."""
    scores, hits = drawn(seed, 120, values=values)
    ids = np.repeat(np.arange(24), 5)
    order = np.random.default_rng(seed).permutation(120)
    expected = calibration_interval(Scored.of(scores, hits)).at(2)
    assert calibration_interval(Scored.of(scores[order], hits[order])).at(2) == expected
    names = np.random.default_rng(seed + 1).permutation(24)[ids]
    first = calibration_interval(Scored.of(scores, hits, clusters=ids), 2.0)
    other = calibration_interval(Scored.of(scores[order], hits[order], clusters=names[order]), 2.0)
    assert other.at() == pytest.approx(first.at(), rel=1e-9)
    np.testing.assert_allclose(other.sums, first.sums, rtol=1e-9)


@pytest.mark.parametrize(("score", "n"), [(0.999, 300), (0.9, 60)])
def test_one_more_miss_never_narrows_the_interval_from_above(score, n):
    """One score for all rows, from the expected number of misses on; FINDINGS 1."""
    first = int(np.ceil(n * (1 - score)))
    ends = [
        calibration_interval(Scored.of(np.full(n, score), np.arange(n) >= misses))
        for misses in range(first, first + 4)
    ]
    for norm in (1, 2):
        assert (np.diff([found.at(norm).high for found in ends]) > 0).all()


def test_few_misses_have_the_exact_limit():
    """One miss in 300 rows of 0.999: the exact limit is 0.0174 above."""
    found = calibration_interval(Scored.of(np.full(300, 0.999), np.arange(300) > 0)).at()
    exact = beta.ppf(0.975, 2, 299)
    assert found.high == pytest.approx(exact - 0.001)


def test_a_shift_that_is_found_never_stands_beside_0():
    """FINDINGS 4: 400 risks with some fifty events, too low by five points."""
    for seed in (0, 1):
        generator = np.random.default_rng(seed)
        risk = generator.beta(1, 12, 400)
        scored = Scored.of(risk, generator.random(400) < np.minimum(1.7 * risk, 1))
        assert judge(scored, replicates=199).miscalibrated
        assert calibration_interval(scored).at().low > 0


def saturated(generator):
    scores = np.where(
        generator.random(3000) < 0.6,
        10.0 ** -generator.uniform(4, 7, 3000),
        generator.beta(1, 8, 3000),
    )
    return scores, np.where(scores < 1e-4, 0.04, scores)


def verbalised(generator):
    scores = generator.choice([0.0, 0.5, 0.9, 0.95, 1.0], 3000, p=[0.02, 0.1, 0.3, 0.2, 0.38])
    return scores, np.select([scores == 1, scores == 0], [0.75, 0.19], scores)


def tree(generator):
    leaves = np.sort(generator.random(40))
    place = generator.integers(40, size=3000)
    rates = np.clip(leaves + generator.normal(0, 0.08, 40), 0, 1)
    return leaves[place], rates[place]


@pytest.mark.parametrize("source", [saturated, verbalised, tree])
def test_the_band_meets_each_bin_and_the_curves_error_lies_in_the_interval(source):
    generator = np.random.default_rng(8)
    scores, rates = source(generator)
    check_the_curve(Scored.of(scores, generator.random(scores.size) < rates))


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["outputs", "scores", "forecasts"])
def test_the_curve_on_all_genuine_files(kind):
    """At a saturated end two misses of 1000 rows contradict a curve that expects 10⁻⁶."""
    for name in [*shipped(kind)][::EACH]:
        path = shipped_path(kind, name)
        if path.suffix != ".p":  # the pipeline alone reads pickles
            check_the_curve(read_data(path).scored.by_score)


def test_last_bits_of_the_scores_choose_neither_folds_nor_redraws():
    """They differ between processors, whose vector logarithms make scores of logits."""
    generator = np.random.default_rng(5)
    scores = generator.beta(2.0, 1.0, 400)
    hits = generator.random(400) < 0.9 * scores
    here, there = (Scored.of(s, hits) for s in (scores, np.nextafter(scores, 0.5)))
    ends = [calibration_interval(sample).at() for sample in (here, there)]
    np.testing.assert_allclose(*ends, rtol=1e-9)
    assert judge(here, 199).p_value == judge(there, 199).p_value
