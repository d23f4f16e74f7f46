"""What every estimator promises: order never matters, results are finite, tiny data work."""

import itertools

import numpy as np
import pytest
from engine_data import data_sets, monotone_data
from hypothesis import given
from hypothesis import strategies as st

from calbias import estimate
from calbias.engine.sorted_batch import SortedBatch, of_sorted_scores, sorted_data_set
from calbias.estimation.loading import load_estimator
from calbias.estimation.registry import FOLDER, known_estimators, usable_norm
from calbias.io.python_files import literal

FILES = known_estimators((FOLDER,))
ESTIMATORS = sorted(FILES)


@pytest.mark.slow
@given(data=data_sets(), seed=st.integers(0, 2**32 - 1))
def test_shuffling_the_rows_changes_nothing(data, seed):
    scores, hits = map(np.array, data)
    order = np.random.default_rng(seed).permutation(len(scores))
    for name in ESTIMATORS:
        assert estimate(name, scores, hits) == estimate(name, scores[order], hits[order])


def test_one_two_and_three_samples():
    for hits in ([1], [0], [1, 1], [0, 0], [1, 0], [1, 1, 1], [0, 1, 0]):
        generator = np.random.default_rng(len(hits))
        for scores in (generator.random(len(hits)), np.full(len(hits), 0.7), np.ones(len(hits))):
            for estimator in ESTIMATORS:
                value, n_bins, *_ = estimate(estimator, scores, hits)
                assert abs(value) <= 1, estimator
                assert 0 <= n_bins <= 15, estimator


def tied():
    """Return ten data sets of the same scores, as the audit of a model does; some are equal."""
    generator = np.random.default_rng(1)
    scores = np.sort(np.round(generator.beta(3, 0.5, 100), 2))
    hits = generator.random((10, 100)) < scores
    return of_sorted_scores(scores, hits), [sorted_data_set(scores, own) for own in hits]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_many_data_sets_at_once_are_as_one_by_one(estimator):
    """Ten: some estimators take eight at a time."""
    each = [sorted_data_set(*monotone_data(80, seed)) for seed in range(10)]
    together, run = SortedBatch.concatenated(each), load_estimator(estimator, FILES[estimator])
    norms = [usable_norm(estimator, wanted, FILES[estimator]) for wanted in (2, 3)]
    for seed, value in enumerate(run(together, 10, norms[0])[0]):
        own = estimate(estimator, *monotone_data(80, seed), n_bins=10, norm=norms[0])
        assert own.value == pytest.approx(value, rel=1e-9)  # of sums, where it has a form for them
    for norm in {*norms}:
        check_rows(run, together, each, norm)
    check_rows(run, *tied(), norms[0])


def check_rows(run, together, each, norm):
    values, n_bins = run(together, 10, norm)
    for row, data in enumerate(each):
        value, bins = run(data, 10, norm)
        assert (value[0], bins[0]) == (values[row], n_bins[row])


@pytest.mark.parametrize("estimator", ["ece_bin_em", "ece_sweep_em", "ece_label_binned_em"])
def test_input_order_depends_on_the_order_and_says_so(estimator):
    scores, hits = np.repeat([0.5, 0.8, 0.9], 20), np.tile([0, 1], 30)
    ordered = np.sort(hits.reshape(3, 20), axis=1).ravel()
    for ties, n_values in (("input_order", 2), ("average", 1)):
        values = {
            estimate(estimator, scores, y, n_bins=7, ties=ties).value for y in (hits, ordered)
        }
        assert len(values) == n_values


def test_ties_in_input_order_that_are_none_change_nothing():
    data = monotone_data(150, seed=4)
    of_all_norms = [e for e in ESTIMATORS if not literal(FILES[e], "NORMS", None)]
    for estimator, norm in itertools.product(of_all_norms, (0.5, 1, 2, 4)):
        averaged, ordered = (
            estimate(estimator, *data, n_bins=15, norm=norm, ties=ties)[:2]
            for ties in ("average", "input_order")
        )
        assert averaged == (pytest.approx(ordered[0], rel=1e-12), ordered[1]), estimator


@given(data_sets())
def test_ks_is_the_largest_cumulative_deviation_after_a_distinct_score(data):
    """Equal scores are one step, in any order of the rows."""
    gaps = np.array(data[1]) - np.array(data[0])
    sums = [gaps[np.array(data[0]) <= score].sum() / gaps.size for score in data[0]]
    for ties in ("average", "input_order"):
        value = estimate("ks", *data, ties=ties).value
        assert value == pytest.approx(np.max(np.abs(sums)), abs=1e-12)
