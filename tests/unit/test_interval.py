"""The interval on two inequalities: by hand, against a slow oracle, and its properties."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, chi2, pearson3
from scipy.stats import norm as normal
from shipped import shipped, shipped_path

import calbias
from calbias.auditing.binned_gaps import BinnedGaps, lower_quantile
from calbias.auditing.bins import binomial_limits, picture_bins
from calbias.auditing.calibration_curve import picture_curve, posterior_average
from calbias.auditing.inputs import read_data
from calbias.auditing.interval import _least, _Sample, calibration_interval
from calbias.auditing.verdict.judge import judge
from calbias.scored import Scored

LEVELS = (0.9, 0.95, 0.99)
EACH = 1 if os.environ.get("CALBIAS_NIGHTLY") else 3  # genuine file


def drawn(seed, n=300, power=1.4, values=None):
    generator = np.random.default_rng(seed)
    scores = generator.beta(2, 1, n) if values is None else generator.choice(values, n)
    return scores, (generator.random(n) < scores**power).astype(int)


def test_least_by_hand():
    """Variance 1 throughout: total − z. From 4 at 0 to 1 at 10: (10 − x)² = 4 (4 − 0.3 x)."""
    assert _least((10.0, 1.0, 1.0), 2.0) == pytest.approx(8.0)
    x = _least((10.0, 4.0, 1.0), 2.0)
    assert (10 - x) ** 2 == pytest.approx(4 * (4 - 0.3 * x))
    assert _least((3.9, 4.0, 1.0), 2.0) == 0.0
    assert _least((10.0, 5e-15, 0.0), 2.0) == pytest.approx(10)  # a root of rounding alone


def test_limit_of_the_l1_error_by_hand():
    """One bin, gap 0.1, v = 0.0009: high² is a fixed point of d² − v + z √(2 v² + 4 high² v).

    z is a quantile of Pearson's third law, of the third cumulant 8 v³ + 24 high² v².
    """
    v, z, one = 0.0009, 1.96, np.ones(1)
    gaps = BinnedGaps(one, one, np.array([0.01 - v]), one, np.array([v]), 1e18)
    high = gaps.limit(z, 1)
    variance = 2 * v**2 + 4 * high**2 * v
    quantile = -pearson3.ppf(normal.sf(z), (8 * v**3 + 24 * high**2 * v**2) / variance**1.5)
    assert high**2 == pytest.approx(0.01 - v + quantile * np.sqrt(variance), rel=1e-6)
    assert gaps._replace(variance=np.array([[v]])).limit(z, 1) == pytest.approx(high)


@pytest.mark.parametrize("k", [1, 6, 40])
def test_the_lower_quantile_is_exact_for_chi_squared(k):
    """Its mean is k, its variance 2 k, its skewness √(8/k)."""
    expected = (k - chi2.ppf(0.025, k)) / np.sqrt(2 * k)
    assert lower_quantile(normal.isf(0.025), np.sqrt(8 / k)) == pytest.approx(expected)
    assert lower_quantile(1.96, 0.0) == 1.96


def test_folds_hold_each_row_once():
    scores, hits = drawn(1, 500, values=[0.0, 0.5, 0.9, 1.0])
    sample = _Sample(Scored.of(scores, hits), 1.0)
    rows, own = (sum(part) for part in list(zip(*sample.folds(3), strict=True))[:2])
    assert rows.tolist() == sample.rows.tolist()
    assert own.tolist() == sample.hits.tolist()
    ids = np.repeat(np.arange(100), 5)
    sample = _Sample(Scored.of(scores, hits, clusters=ids), 1.0)
    whole = sum(own for *_, own in sample.folds(3))
    assert whole.tolist() == [1] * sample.cluster.size


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


def test_the_variance_of_hits_within_bins_by_hand():
    """10 of 100 at 0.1, 90 of 100 at 0.9: 0.1 · 0.9 in each, ½ · ½ together."""
    scores = np.repeat([0.1, 0.9], 100)
    hits = np.r_[np.arange(100) < 10, np.arange(100) < 90]
    assert calibration_interval(Scored.of(scores, hits)).within == pytest.approx(0.36)
    one = calibration_interval(Scored.of(np.full(200, 0.5), hits))
    assert one.within == pytest.approx(1)
    assert calibration_interval(Scored.of(np.linspace(0.8, 0.99, 60), np.ones(60))).within == 1


def test_clusters_of_less_noise_than_rows_count_as_rows():
    """A hit and a miss at 0.9 in each: a cluster's sum of residuals is -0.8, always."""
    pairs = Scored.of(np.full(60, 0.9), np.arange(60) % 2, clusters=np.arange(60) // 2)
    found = calibration_interval(pairs)
    assert (found.effect, found.sums[0][0]) == (1, pytest.approx(24))


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


def test_the_audit_of_five_copies_is_that_of_the_rows():
    scores, hits = drawn(3, 100)
    ids = np.repeat(np.arange(100), 5)
    one = calbias.audit(scores, hits)
    five = calbias.audit(np.repeat(scores, 5), np.repeat(hits, 5), clusters=ids)
    assert five.design_effect == pytest.approx(5)
    assert five.error == pytest.approx(one.error, abs=0.002)
    assert five.interval == pytest.approx(one.interval, abs=0.02)


@pytest.mark.nightly
@pytest.mark.slow
def test_dependent_clusters_hold_the_truth():
    """20 clusters of 30 rows with a shared effect, shifted: truth 0.1."""
    inside = 0
    for seed in range(10):
        generator = np.random.default_rng(seed)
        ids, scores = np.repeat(np.arange(20), 30), 0.3 + 0.4 * generator.random(600)
        rates = scores - 0.1 + generator.choice([-0.15, 0.15], 20)[ids]
        found = calbias.audit(scores, generator.random(600) < rates, clusters=ids)
        inside += found.interval[0] <= 0.1 <= found.interval[1]
    assert inside >= 8


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


def check_the_curve(scored):
    """Bins of 30 rows and more have a 99.9 % interval that meets the band; FINDINGS 3."""
    columns = scored.scores, scored.rows, scored.hits
    bins = picture_bins(scored)
    curve = picture_curve(posterior_average(*columns, 1.0), bins, *columns, 1.0, 0.95)
    low, high = binomial_limits(bins.mean_hit * bins.n_in_bin, bins.n_in_bin, 0.999)
    band = [np.interp(bins.mean_score, curve.scores, end) for end in (curve.low, curve.high)]
    large = bins.n_in_bin >= 30
    assert (band[0] <= high)[large].all()
    assert (band[1] >= low)[large].all()
    gaps = abs(np.interp(scored.scores, curve.scores, curve.mean) - scored.scores)
    interval = calibration_interval(scored).at()
    assert interval.low <= scored.rows @ gaps / scored.n <= interval.high


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
