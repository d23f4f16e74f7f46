"""Functions of the averaged posterior: against NumPy and SciPy, and eight numbers as one."""

import numpy as np
import pytest
import scipy.special
from numba import njit

from calbias.engine.posterior import functions
from calbias.engine.simd import LANES, load, store

GENERATOR = np.random.default_rng(11)
REAL = np.concatenate(
    [GENERATOR.normal(size=4000), GENERATOR.uniform(-690, 690, 4000), [0.0, -0.0, 1e-9, -1e-9] * 2]
)
CASES = {
    "absolute": (np.abs, REAL),
    "exp": (
        lambda x: np.exp(np.clip(x, -700, 700)),
        np.append(REAL, [-np.inf, -701, 701, 1e9] * 2),
    ),
    "log": (np.log, np.exp(REAL)),
    "expit": (scipy.special.expit, REAL),
    "softplus": (lambda x: np.logaddexp(0, x), REAL),
    "log_odds": (scipy.special.logit, GENERATOR.random(8000)),
    "erf": (scipy.special.erf, REAL),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_of_eight_numbers_has_the_bits_of_eight_single_ones(name):
    function, (reference, x) = getattr(functions, name), CASES[name]

    @njit(error_model="numpy")
    def fill(x, one, eight):
        for i in range(x.shape[0]):
            one[i] = function(x[i])
        for i in range(0, x.shape[0], LANES):
            store(eight, i, function(load(x, i)))

    one, eight = np.empty_like(x), np.empty_like(x)
    fill(x, one, eight)
    assert one.tobytes() == eight.tobytes()
    error = {"erf": 3e-7, "softplus": 1e-15, "log_odds": 1e-15}.get(name, 0.0)
    np.testing.assert_allclose(one, reference(x), rtol=4e-15, atol=error)
