"""The interval over posterior classes: slow oracles, coverage, hard data, order."""

import itertools
import math

import numpy as np
import pytest
from engine_data import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from calbias.auditing.intervals.posterior_hull import posterior_errors
from calbias.engine.posterior.cells import cells_of
from calbias.engine.posterior.cellwise import deviating, fine_cells
from calbias.engine.posterior.classes import CELLWISE, interval_cells, posterior_classes
from calbias.engine.posterior.moments import (
    FOURTH,
    MEAN,
    N_MOMENTS,
    SQUARE_MEAN,
    SQUARE_STEP,
    SQUARE_VARIANCE,
    STEP,
    VARIANCE,
)
from calbias.engine.posterior.segment_fits import fit_segments
from calbias.engine.posterior.segments import SPREADS, draw_segmentations, uniforms
from calbias.engine.sorted_batch import sorted_data_set


def errors_of(scores, hits):
    return posterior_errors(sorted_data_set(scores, hits))


def few_cells(seed, n_cells=6):
    data = sorted_data_set(*drawn(600, seed, lambda s: s**1.5))
    return cells_of(data.scores[0], data.cum_hit[0], n_cells)


def segment_evidence(table, first, last, spread):
    """Laplace's log evidence of one segment's line, by a general optimiser."""
    size, hits, _, log_odds = table[:4, first : last + 1]
    design = np.stack([np.ones(len(size)), log_odds - log_odds.mean()])
    design = design if last - first >= 2 else design[:1]

    def loss(x):
        eta = log_odds + x @ design
        return 0.5 * x @ x / spread**2 - np.sum(hits * eta - size * np.logaddexp(0, eta))

    best = minimize(loss, np.zeros(len(design)), options={"gtol": 1e-7})
    p = expit(log_odds + best.x @ design)
    hessian = (design * (size * p * (1 - p))) @ design.T + np.eye(len(design)) / spread**2
    null = np.sum(hits * log_odds - size * np.logaddexp(0, log_odds))
    return -best.fun - null - 0.5 * np.linalg.slogdet(hessian * spread**2)[1]


@pytest.mark.parametrize("calibrated", [0.0, 0.5])
def test_segmentations_have_the_evidence_of_all_of_them_one_by_one(calibrated):
    cells = few_cells(2)
    k = cells.table.shape[1]
    rate = 0.3
    fits, known = np.zeros((k, k, 2, 6)), np.full((k, k, 2, N_MOMENTS), np.nan)
    scratch = np.zeros((3, k, k + 8)), np.zeros((13, k + 8))
    fit_segments(cells.table, SPREADS, fits, np.zeros(k + 8), np.zeros((6, 8)))
    moments = np.empty((400, N_MOMENTS))
    evidence = draw_segmentations(
        cells.table, fits, calibrated, rate, uniforms(k), known, moments, *scratch
    )
    each = []
    for changes in itertools.product([False, True], repeat=k - 1):
        edges = [0, *(i + 1 for i, change in enumerate(changes) if change), k]
        total = sum(math.log(rate if change else 1 - rate) for change in changes)
        for first, end in itertools.pairwise(edges):
            terms = [segment_evidence(cells.table, first, end - 1, s) for s in SPREADS]
            shares = [(1 - calibrated) / 2] * 2
            if calibrated:
                terms, shares = [*terms, 0.0], [*shares, calibrated]
            total += logsumexp(terms, b=shares)
        each.append(total)
    assert evidence == pytest.approx(logsumexp(each), abs=0.01)
    assert np.isfinite(moments).all()


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_deviations_of_cells_have_the_evidence_and_the_moments_of_a_numerical_integral(shift):
    table = few_cells(3, 12).table
    size, hits, score, log_odds, _, weight = table[:6]
    shifts, shared = np.full(len(size), shift), np.zeros(N_MOMENTS)
    shared[[VARIANCE, SQUARE_VARIANCE]] = 1e-5, 2e-5
    evidence, moments = deviating(table, shifts, shared, -math.inf)
    models = list(itertools.product([0, 0.5, 0.8, 0.9, 0.95, 0.99], [0.15, 0.3, 0.6, 1.2]))
    deviation = np.linspace(-6, 6, 6001)[:, None]
    eta = log_odds + shift
    both = np.concatenate([eta + deviation, eta[None]])
    likelihood = np.exp(hits * (both - eta) - size * (np.logaddexp(0, both) - np.logaddexp(0, eta)))
    gap = expit(both) - score
    for model in (1, 7, 10, 23):
        calibrated, m = models[model]
        prior = sum(np.exp(-0.5 * ((deviation - x) / (m / 2)) ** 2) for x in (-m, m))
        prior = np.concatenate([(1 - calibrated) * prior / prior.sum(), [[calibrated]]])
        joint = prior * likelihood
        total = joint.sum(0)

        def mean(x, law=joint / total):
            return (law * x).sum(0)

        first, square, fourth = mean(abs(gap)), mean(gap**2), mean(gap**4)
        free = (joint / total)[:-1]
        back = hits / size - score - (free * gap[:-1]).sum(0) / free.sum(0)
        expected = np.zeros(N_MOMENTS)
        expected[[MEAN, SQUARE_MEAN, FOURTH]] = [weight @ x for x in (first, square, fourth)]
        expected[VARIANCE] = weight**2 @ (square - first**2) + 1e-5
        expected[SQUARE_VARIANCE] = weight**2 @ (fourth - square**2) + 2e-5
        expected[STEP] = weight @ ((free * np.sign(gap[:-1])).sum(0) * back)
        expected[SQUARE_STEP] = weight @ (2 * (free * gap[:-1]).sum(0) * back)
        assert evidence[model] == pytest.approx(np.log(total).sum(), abs=0.1)
        assert moments[model] == pytest.approx(expected, rel=0.06, abs=1e-3)


def forest(n, seed, fault):
    """Scores of 500 trees; each value is wrong by up to ``fault``, half of them upwards."""
    generator = np.random.default_rng(seed)
    wrong = fault * np.random.default_rng(1).permutation(np.repeat([-1, 1], [250, 251]))
    votes = generator.binomial(500, generator.beta(1, 1.2, n))
    scores = votes / 500
    rates = np.clip(scores + wrong[votes] * 4 * scores * (1 - scores), 0, 1)
    truth = np.mean(abs(rates - scores))  # of these rows: within 3 % of the population's
    return scores, generator.random(n) < rates, truth


def test_faults_at_single_values_are_in_the_interval_and_fine_cells_only_widen_it():
    held = without = 0
    for seed in range(6):
        scores, hits, truth = forest(30_000, seed, 0.1)
        errors = errors_of(scores, hits)
        found = errors.interval()
        coarse = [each for each in errors.classes if each.name != CELLWISE]
        assert len(coarse) < len(errors.classes)
        narrower = errors._replace(classes=coarse).interval()
        assert found.low <= narrower.low <= narrower.high < found.high
        held += found.low <= truth <= found.high
        without += narrower.low <= truth <= narrower.high
    assert held >= 5
    assert without == 0


def test_fine_cells_are_finer_and_count_only_where_the_data_favour_them():
    calibrated = forest(30_000, 7, 0.0)[:2]
    assert all(each.name != CELLWISE for each in errors_of(*calibrated).classes)
    for (scores, hits), cells in ((calibrated, 495), (drawn(2000, 1), 45)):
        data = sorted_data_set(scores, hits)
        arrays = data.scores[0], data.cum_hit[0]
        coarse = cells_of(*arrays, *interval_cells(scores.size))
        fine = fine_cells(*arrays, None, None, coarse)
        assert fine.table.shape[1] == pytest.approx(cells, abs=10)
        assert fine.table.shape[1] >= coarse.table.shape[1]


def test_classes_have_finite_evidence_and_weights_of_sum_1():
    for cells in (few_cells(1), few_cells(5, 8)):
        classes = posterior_classes(cells, cells)
        assert classes[0].name == "calibrated"
        for each in classes:
            assert np.isfinite(each.evidence)
            assert each.weights.sum() == pytest.approx(1)
            assert (each.moments[:, :5] >= 0).all()


@pytest.mark.parametrize(
    ("curve", "truth"), [(lambda s: s, 0.0), (lambda s: s**2, 1 / 6), (lambda s: 0 * s + 0.5, 0.25)]
)
@pytest.mark.parametrize("n", [150, 2000])
def test_interval_holds_the_truth_of_uniform_scores(curve, truth, n):
    held = 0
    for seed in range(20):
        found = errors_of(*drawn(n, seed, curve, (1.0, 1.0))).interval()
        held += found.low <= truth <= found.high
    assert held >= 17


@pytest.mark.parametrize("norm", [1, 2])
def test_a_higher_level_gives_a_wider_interval(norm):
    errors = posterior_errors(sorted_data_set(*drawn(500, 1, lambda s: s**1.5)))
    ends = [errors.interval(norm, level) for level in (0.8, 0.9, 0.95, 0.99)]
    for inner, outer in itertools.pairwise(ends):
        assert outer.low <= inner.low <= inner.high <= outer.high


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.93, 1.0]) | st.floats(0, 1), st.booleans()),
        min_size=1,
        max_size=40,
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=30)
def test_any_rows_in_any_order_give_one_interval_inside_0_and_1(rows, random):
    shuffled = random.sample(rows, len(rows))
    errors = [errors_of(*zip(*part, strict=True)) for part in (rows, shuffled)]
    found, again = (each.interval() for each in errors)
    assert 0 <= found.low <= found.high <= 1
    assert found == again
    below = [errors[0].probability_below(x) for x in (0.01, 0.02)]
    assert 0 <= below[0] <= below[1] <= 1 + 1e-12


@pytest.mark.parametrize(
    ("scores", "hits", "must_hold"),
    [
        (np.full(10, 0.7), np.ones(10), 0.3),  # a model that is always right
        (np.full(10, 0.7), np.zeros(10), 0.69),
        ([0.4], [1], 0.55),
        ([1.0], [1], 0.3),
        (np.ones(50), np.ones(50), 0.03),
        (np.linspace(0.1, 0.9, 50), np.arange(50) > 24, 0.25),  # separated
    ],
)
def test_data_that_say_little_give_wide_intervals(scores, hits, must_hold):
    found = errors_of(scores, hits).interval()
    assert found.low <= must_hold <= found.high


def test_saturated_scores_with_many_surprises_have_a_lower_end_above_0():
    hits = np.arange(500) % 5 > 0
    found = errors_of(np.ones(500), hits).interval()
    assert 0.1 < found.low < 0.2 < found.high


def test_tied_scores_have_no_limit_of_resolution_and_others_the_cells_width():
    scores, hits = drawn(4000, 3, law=(1.0, 1.0))
    assert errors_of(np.round(scores, 1), hits).resolution == 0
    cells = cells_of(np.sort(scores), np.zeros(4001), *interval_cells(4000)).table.shape[1]
    assert 0.5 / cells < errors_of(scores, hits).resolution < 2 / cells


def test_a_calibrated_model_of_many_rows_keeps_an_upper_end_of_the_size_of_its_noise():
    """The standard error of the mean gap is 0.0012; an error of that size cannot be excluded."""
    scores, hits = drawn(100_000, 0)
    found = errors_of(scores, hits).interval()
    assert found.low == 0
    assert 0.0015 < found.high < 0.02
