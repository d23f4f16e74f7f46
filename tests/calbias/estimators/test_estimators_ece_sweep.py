"""ECE_sweep: Algorithm 1 step by step, and comparisons that rounding would get wrong."""

import itertools
import warnings

import numpy as np
import oracles
import pytest
from engine_data import data_sets
from hypothesis import example, given
from hypothesis import strategies as st

from calbias.engine.sorted_batch import (
    SortedBatch,
    of_sorted_scores,
    ranks_of_bins,
    sorted_data_set,
)
from calbias.engine.sweep import fill_widths, passes
from calbias.estimation.api import estimate
from calbias.estimation.monotone import clearest_fall
from calbias.estimators import ece_sweep

BINNINGS = ["ew", "em"]
NAMES = {"ew": "equal_width", "em": "equal_mass"}

# Three groups of equal scores whose mean hits are sevenths and thirds, split by equal-mass bins.
TIED = ([0.2] * 7 + [0.4] * 3 + [0.9] * 4, [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0])


@pytest.mark.parametrize("binning", BINNINGS)
@given(data=data_sets(max_size=24))
@example(data=([0.5], [0]))
@example(data=([0.3, 0.3], [0, 1]))
@example(data=([0.2, 0.6, 0.9], [0, 1, 0]))
@example(data=TIED)
def test_agrees_with_the_textbook(binning, data):
    found = estimate(f"ece_sweep_{binning}", *data, norm=2)
    value, n_bins = oracles.ece_sweep(data[0], oracles.mean_labels(*data), binning)
    assert found[:2] == (pytest.approx(value, rel=1e-12, abs=1e-12), n_bins)


@pytest.mark.parametrize("half", [20, 200])  # bins until it fails
def test_equal_scores_in_input_order_are_cut_as_any_others(half):
    scores, hits = [0.5] * 2 * half, [0] * (half - 1) + [1, 0] + [1] * (half - 1)
    assert _sweep_by_rounded_means(hits) == half
    assert estimate("ece_sweep_em", scores, hits, ties="input_order").n_bins == half
    assert estimate("ece_sweep_em", scores, hits).n_bins == 1


def test_a_sweep_of_many_bins_of_tied_scores():
    """Pairs of equal scores are cut as single ones: ⌈⌈2km/b⌉/2⌉ = ⌈km/b⌉."""
    labels = [0] * 139 + [1, 0] + [1] * 139
    data = sorted_data_set(np.repeat(np.arange(280) / 280, 2), np.repeat(labels, 2))
    for batch in (data, SortedBatch.concatenated([data, data])):
        chosen = ece_sweep.estimate_data_sets(batch, 0, 2.0, "equal_mass")[1]
        assert set(chosen) == {_sweep_by_rounded_means(labels)} == {140}


def test_groups_of_one_mean_are_no_decrease():
    """Groups whose mean hits are equal and not whole: the sweep goes on to the last bin."""
    for (p, q), copies in itertools.product(
        ((1, 3), (2, 7), (3, 11), (5, 13), (1, 49)), ((1, 2), (2, 3), (3, 1))
    ):
        scores, hits = [0.05], [0]
        for group, times in enumerate(copies, start=1):
            scores += [0.2 + group / 10] * (q * times)
            hits += ([1] * p + [0] * (q - p)) * times
        assert estimate("ece_sweep_em", scores, hits).n_bins == 1 + len(copies)


def _sweep_by_rounded_means(labels):
    n = len(labels)
    for b in range(2, n + 1):
        cuts = [-(-k * n // b) for k in range(b + 1)]
        means = [sum(labels[i:j]) / (j - i) for i, j in itertools.pairwise(cuts)]
        if any(after < before for before, after in itertools.pairwise(means)):
            return b - 1
    return n


@pytest.mark.parametrize("falls", [True, False])
def test_a_change_of_means_by_one_part_in_1e10_is_decided(falls):
    """One miss in k + 1 and one in k: the means differ by 1/(k(k + 1))."""
    k = 100_000
    sizes = (k + 1, k) if falls else (k, k + 1)
    scores, hits = np.repeat([0.2, 0.8], sizes), np.ones(2 * k + 1)
    hits[[0, -1]] = 0
    data = sorted_data_set(scores, hits)
    for batch in (data, SortedBatch.concatenated([data, data])):
        chosen = ece_sweep.estimate_data_sets(batch, 0, 2.0, "equal_mass")[1]
        assert set(chosen) == {1 if falls else 2}
    assert passes(np.array([0, sizes[0], 2 * k + 1]), 3, data.cum_hit[0]) != falls


@given(b=st.integers(12, 2000), k=st.lists(st.integers(0, 2000), min_size=1, max_size=5))
@example(b=12, k=[5])  # int(c·b) is one too high just below 5/12
@example(b=22, k=[15])  # and one too low at 15/22
def test_many_bins_begin_as_all_do_also_at_their_edges(b, k):
    edges = np.minimum(k, b) / b
    scores = np.sort([*edges, *np.nextafter(edges, 0)])
    bounds = np.zeros(scores.size + 1, np.int64)
    for number in range(b, b + 5):
        size = fill_widths(scores, number, bounds)
        expected = np.unique(ranks_of_bins(scores[None], number, "equal_width"))
        assert bounds[:size].tolist() == expected.tolist()


def test_scores_close_together_need_many_bins_and_little_time():
    """30 000 scores within 1e-9, not monotonic: every b up to n passes with one full bin."""
    scores, hits = 0.3 + 1e-9 * np.linspace(0, 1, 30_000), np.tile([1, 0], 15_000)
    assert estimate("ece_sweep_ew", scores, hits)[:2] == (pytest.approx(0.2, abs=1e-8), 30_000)


@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize("n", [1, 2, 7, 20, 21, 70])
def test_many_data_sets_without_ties_as_the_textbook(binning, n):
    """Sweeps that end early, and, where one hit is just below a miss, late or never."""
    generator = np.random.default_rng(n)
    scores = np.sort(generator.beta(2.0, 0.5, n))
    rows = [np.arange(n) >= k for k in generator.integers(0, n + 1, 4)]
    for row in rows[:3]:
        place = generator.integers(0, max(n - 1, 1))
        row[place : place + 2] = row[place : place + 2][::-1]
    rows += [generator.random(n) < scores for _ in range(4)]
    data = of_sorted_scores(scores, np.array(rows, np.uint8))
    results = {
        norm: ece_sweep.estimate_data_sets(data, -1, norm, NAMES[binning]) for norm in (1.0, 2.0)
    }
    for k, row in enumerate(rows):
        n_bins = oracles.sweep_bins(scores, row.astype(float), binning)
        for norm, (estimates, chosen) in results.items():
            expected = oracles.ece_bin(scores, row.astype(float), binning, n_bins, norm)
            assert (estimates[k], chosen[k]) == (pytest.approx(expected, abs=1e-12), n_bins)


def falling(before, after, n=2000):
    """Half of the rows at 0.6 to 0.8 hit at a rate, half of higher scores at another."""
    scores = np.linspace(0.6, 1.0, n)
    rate = np.where(scores < 0.8, before, after)
    return scores, (np.arange(n) * 0.6180339887 % 1 < rate).astype(int)


def test_a_sweep_warns_where_the_curve_clearly_falls():
    with pytest.warns(UserWarning, match=r"accuracy falls from 9.\.\d% to 7.\.\d% .*debias_em"):
        stopped = estimate("ece_sweep_em", *falling(0.95, 0.75))
    assert stopped.n_bins == 1
    for name, rows in (("ece_sweep_em", falling(0.8, 0.8)), ("ece_bin_em", falling(0.95, 0.75))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimate(name, *rows)


def test_the_clearest_fall_in_its_standard_errors():
    """Two bins of ten rows: 9 hits, then 4; variances (10/12)(2/12)/10 and (5/12)(7/12)/10."""
    hits = np.r_[np.ones(9), 0, np.ones(4), np.zeros(6)]
    fall = clearest_fall(np.linspace(0.1, 0.9, 20), hits)
    assert fall == pytest.approx((0.5 / np.sqrt((20 + 35) / 1440), 0.9, 0.4))
    assert clearest_fall(np.array([0.2, 0.4]), np.array([1, 0])).size == 0  # too few rows
    rising = clearest_fall(np.linspace(0.1, 0.9, 20), hits[::-1])
    assert rising.size == 0
