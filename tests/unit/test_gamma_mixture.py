"""Distribution and quantiles of mixtures of Gamma laws, against SciPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammainc
from scipy.stats import gamma

from calbias.auditing.intervals.gamma_mixture import gamma_mixture

SIZE = st.floats(1e-4, 0.5)
LAWS = st.lists(st.tuples(st.floats(0.01, 1.0), SIZE, SIZE), min_size=1, max_size=8)


@given(LAWS, st.sampled_from([0.005, 0.025, 0.3, 0.5, 0.95, 0.995]))
def test_a_quantile_is_where_the_distribution_has_the_probability(laws, probability):
    weights, mean, relative = np.array(laws).T
    weights, variance = weights / weights.sum(), (relative * mean) ** 2

    def distribution(x):
        return weights @ gammainc(mean**2 / variance, x * mean / variance)

    mixture = gamma_mixture(weights, mean, variance)
    x = mixture.quantile(probability)
    assert distribution(x * (1 - 1e-7)) - 1e-8 < probability < distribution(x * (1 + 1e-7)) + 1e-8
    assert mixture.distribution(x) == pytest.approx(distribution(x), abs=1e-12)


def test_a_law_without_variance_is_a_point_and_one_without_mean_a_point_at_0():
    mixture = gamma_mixture(np.array([0.3, 0.5, 0.2]), np.array([0, 0.2, 0.4]), np.zeros(3))
    probabilities = [mixture.distribution(x) for x in (0.0, 0.1, 0.2, 0.39, 0.4, np.inf)]
    assert probabilities == pytest.approx([0.3, 0.3, 0.8, 0.8, 1.0, 1.0])
    assert mixture.quantile(0.29) == 0.0
    assert mixture.quantile(0.5) == pytest.approx(0.2, rel=1e-7)
    assert mixture.quantile(0.9) == pytest.approx(0.4, rel=1e-7)


def test_a_point_at_0_beside_a_law():
    mixture = gamma_mixture(np.array([0.6, 0.4]), np.array([0, 0.1]), np.array([0, 0.0025]))
    assert mixture.quantile(0.6) == 0.0
    law = gamma(4, scale=0.025)
    for probability in (0.601, 0.8, 0.975):
        wanted = law.ppf((probability - 0.6) / 0.4)
        assert mixture.quantile(probability) == pytest.approx(wanted, rel=1e-6)
