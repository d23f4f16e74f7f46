"""The plain ECE: other packages' numbers, edges, and what works without numba."""

import math

import numpy as np
import pytest
from command import python
from engine_data import data_sets, drawn
from hypothesis import given
from hypothesis import strategies as st

import calbias
from calbias.engine.sorted_batch import bin_numbers, edges

NUMBA_LESS = """
import sys
sys.modules["numba"] = None
import calbias
from calbias.sklearn import calibration_error
scores, hits = calbias.example()
print(calbias.ece(scores, hits), calbias.estimate("ece_sweep_em", scores, hits).value)
print(calibration_error(hits, scores), calbias.estimate("ece_debias_em", scores, hits).value)
try:
    calbias.estimate("kde", scores, hits)
except calbias.InputError as error:
    print(error)
"""


@given(data=data_sets(), n_bins=st.sampled_from([1, 2, 10, 15, 40]), norm=st.sampled_from([1, 2]))
def test_the_formula_in_histograms(data, n_bins, norm):
    scores, hits = map(np.array, data)
    ends = [k / n_bins for k in range(n_bins + 1)]  # bins [k/b, (k + 1)/b), 1 in the last
    rows, _ = np.histogram(scores, ends)
    gaps, _ = np.histogram(scores, ends, weights=scores - hits)
    full = rows > 0
    mean = np.sum(rows[full] * np.abs(gaps[full] / rows[full]) ** norm) / rows.sum()
    value = calbias.ece(scores, hits, n_bins, norm)
    assert value == pytest.approx(mean ** (1 / norm), rel=1e-12, abs=1e-14)
    assert calbias.ece(scores, hits, n_bins, norm, "mass") == pytest.approx(
        calbias.estimate("ece_bin_em", scores, hits, n_bins=n_bins, norm=norm).value
    )


def test_no_bit_depends_on_the_order_of_the_rows():
    scores, hits = drawn(40_000, shapes=(0.2, 0.7))  # more than are summed at a time
    order = np.random.default_rng(1).permutation(scores.size)
    small, none = scores * 1e-9, 0 * hits  # nothing but what is left of a score after 27 bits
    assert calbias.ece(small[order], none) == calbias.ece(small, none)
    value = calbias.ece(scores, hits)
    assert calbias.ece(scores[order], hits[order]) == value
    gaps = [math.fsum((scores - hits)[(scores * 15).astype(int) == k]) for k in range(15)]
    assert value == pytest.approx(math.fsum(map(abs, gaps)) / scores.size, rel=1e-14)


@pytest.mark.parametrize("n_bins", [*range(1, 101), 1000, 999_983])
def test_a_score_on_an_edge_is_in_the_upper_bin(n_bins):
    inner = edges(n_bins)[1:-1][:2000]
    k = np.arange(1, inner.size + 1)
    assert (bin_numbers(inner, n_bins) == k).all()
    assert (bin_numbers(np.nextafter(inner, 0), n_bins) == k - 1).all()
    assert bin_numbers(np.array([0.0, 1.0]), n_bins).tolist() == [0, n_bins - 1]


def test_what_works_without_numba():
    first, second, refusal = python(NUMBA_LESS).splitlines()
    scores, hits = calbias.example()
    sweep = calbias.estimate("ece_sweep_em", scores, hits).value
    debias = calbias.estimate("ece_debias_em", scores, hits).value
    assert [*map(float, first.split()), *map(float, second.split())] == pytest.approx(
        [calbias.ece(scores, hits), sweep, sweep, debias]
    )
    assert refusal.endswith("pip install numba")
