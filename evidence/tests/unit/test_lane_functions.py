"""exp, log and log Γ of eight numbers at once, against NumPy and SciPy."""

from functools import cache

import numpy as np
import pytest
from numba import njit
from scipy.special import gammaln

from calbias.engine.simd import LANES, load, store
from evidence.lane_functions import exp_of, log_gamma_of, log_of, padded

GENERATOR = np.random.default_rng(3)


@cache
def on_arrays(function):
    @njit
    def fill(x, out):
        for i in range(0, x.shape[0], LANES):
            store(out, i, function(load(x, i)))

    return fill


def mapped(function, values):
    """Return the function of an array, vector by vector."""
    out = np.empty_like(values)
    on_arrays(function)(values, out)
    return out


@pytest.mark.parametrize("scale", [1e-9, 1.0, 700.0])
def test_exp_within_three_roundings(scale):
    x = GENERATOR.uniform(-scale, scale, 80_000)
    np.testing.assert_allclose(mapped(exp_of, x), np.exp(x), rtol=4e-16)


def test_exp_is_bounded_on_both_sides():
    x = np.array([-np.inf, -1e9, -708.5, -708.0, 709.0, 709.5, 1e9, np.inf])
    np.testing.assert_allclose(mapped(exp_of, x), np.exp(np.clip(x, -708.0, 709.0)), rtol=4e-16)


def test_log_within_three_roundings():
    x = np.concatenate([np.exp(GENERATOR.uniform(-700, 700, 80_000)), 1.0 + np.arange(8) * 1e-9])
    np.testing.assert_allclose(mapped(log_of, x), np.log(x), rtol=4e-16)


def test_log_gamma():
    z = np.concatenate([np.linspace(1.0, 3.0, 800), np.exp(GENERATOR.uniform(0, 12, 8000))])
    np.testing.assert_allclose(mapped(log_gamma_of, z), gammaln(z), rtol=1e-14, atol=1e-13)


@pytest.mark.parametrize(("n", "expected"), [(0, 0), (1, 8), (8, 8), (9, 16)])
def test_padded(n, expected):
    assert padded(n) == expected
