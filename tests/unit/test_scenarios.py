"""Quantiles of the scores in both tails."""

import mpmath
import numpy as np
import pytest
from engine_data import MODELS, published_scenario

from calbias.truth.scenarios import score_quantiles

TAILS = np.array([1e-11, 1e-6, 1e-3, 0.05, 0.3, 0.5])
EXTREME = [(0.03, 0.03), (0.03, 200), (200, 0.03), (200, 200), (1, 1), (0.5, 3), (2.8, 0.05)]


def upper_tail(alpha, beta, log1m_score):
    """Return P(score > c) for 1 - c = exp(log1m_score), to 30 digits."""
    with mpmath.workdps(30):
        return mpmath.betainc(beta, alpha, 0, mpmath.exp(log1m_score), regularized=True)


@pytest.mark.parametrize("model", MODELS)
def test_quantiles_of_the_published_fits(model):
    """Where the smaller of c and 1 - c has rounded away in float64, too: 1 - c down to 1e-300."""
    scenario = published_scenario(model)
    log_score, log1m_score = score_quantiles(scenario.alpha, scenario.beta, upper=TAILS)
    for tail, value in zip(TAILS, log1m_score, strict=True):
        assert float(upper_tail(scenario.alpha, scenario.beta, value)) == pytest.approx(
            tail, rel=1e-9
        )
    log_score, _ = score_quantiles(scenario.alpha, scenario.beta, lower=TAILS)
    for tail, value in zip(TAILS, log_score, strict=True):
        assert float(upper_tail(scenario.beta, scenario.alpha, value)) == pytest.approx(
            tail, rel=1e-9 if np.exp(value) < 0.5 else 1e-4
        )


@pytest.mark.parametrize(("alpha", "beta"), EXTREME)
def test_extreme_parameters(alpha, beta):
    for side in ("lower", "upper"):
        log_score, log1m_score = score_quantiles(alpha, beta, **{side: TAILS})
        assert np.isfinite(log_score).all()
        assert np.isfinite(log1m_score).all()
        total = np.exp(log_score) + np.exp(log1m_score)
        np.testing.assert_allclose(total, 1, rtol=1e-14)
        expected = [
            float(upper_tail(*((alpha, beta) if side == "upper" else (beta, alpha)), value))
            for value in (log1m_score if side == "upper" else log_score)
        ]
        np.testing.assert_allclose(expected, TAILS, rtol=2e-5)


def test_the_two_sides_meet():
    lower = score_quantiles(2.8, 0.05, lower=np.array([0.3, 0.5, 0.7]))
    upper = score_quantiles(2.8, 0.05, upper=np.array([0.7, 0.5, 0.3]))
    np.testing.assert_allclose(lower, upper, rtol=1e-12)
