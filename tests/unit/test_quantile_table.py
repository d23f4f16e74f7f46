"""The table from u to score and hit probability: its error at any u, in both tails."""

import numpy as np
import pytest
from engine_data import MODELS, published_scenario
from scipy.special import betainc, betaincc

from calbias.engine.quantile_table import (
    CELLS_PER_OCTAVE,
    MIDDLE_CELLS,
    OCTAVES,
    TAIL,
    build_quantile_table,
)
from calbias.truth.curves import Curve, logistic
from calbias.truth.scenarios import Scenario, score_quantiles

EXTREME = [(0.03, 0.03), (0.03, 200), (200, 0.03), (200, 200), (1, 1), (0.5, 3), (1.1, 0.1)]


def look_up(table, u, side):
    """Return (score, T) at u, distances from 0 or, ``upper``, from 1; or u itself, ``middle``."""
    if side == "middle":
        position = u * MIDDLE_CELLS
        cell = np.floor(position).astype(int)
        t = position - cell
    else:
        octave = np.floor(np.log2(u / TAIL)).astype(int) + OCTAVES
        within = (u / (TAIL * 0.5 ** (OCTAVES - octave.astype(float))) - 1) * CELLS_PER_OCTAVE
        cell = octave * CELLS_PER_OCTAVE + np.floor(within).astype(int)
        t = within - np.floor(within)
    rows = getattr(table, side).reshape(-1, 4, 2)[cell]
    powers = t[:, None] ** np.arange(4)
    return np.einsum("ij,ijk->ki", powers, rows)


def places(side):
    generator = np.random.default_rng(4)
    if side == "middle":
        return generator.uniform(TAIL, 1 - TAIL, 4000)
    return TAIL * 2.0 ** -generator.uniform(0, OCTAVES - 0.01, 4000)


def exact(scenario, u, side):
    place = {"upper": u} if side == "upper" else {"lower": u}
    log_score, log1m_score = score_quantiles(scenario.alpha, scenario.beta, **place)
    return log_score, log1m_score


@pytest.mark.parametrize("side", ["lower", "middle", "upper"])
@pytest.mark.parametrize("model", MODELS)
def test_published_scenarios(model, side):
    """|F(score) - u| ≤ 2e-9, relative to u in the tails, where float64 resolves the score."""
    scenario = published_scenario(model)
    u = places(side)
    score, hit_rate = look_up(build_quantile_table(scenario), u, side)
    assert ((score >= 0) & (score <= 1 + 1e-15)).all()
    log_score, log1m_score = exact(scenario, u, side)
    np.testing.assert_allclose(hit_rate, scenario.curve.hit(log_score, log1m_score), atol=1e-11)
    resolved = log1m_score > np.log(1e-7)  # nearer to 1 the score's own rounding moves F by more
    tail = betainc if side != "upper" else betaincc
    away = np.abs(tail(scenario.alpha, scenario.beta, score) - u)[resolved]
    assert (away <= 2e-9 * (1 if side == "middle" else u[resolved])).all()


@pytest.mark.parametrize("side", ["lower", "middle", "upper"])
@pytest.mark.parametrize(("alpha", "beta"), EXTREME)
@pytest.mark.parametrize("curve", [Curve("identity"), Curve("power", 0, 0.5), logistic()])
def test_extreme_scores(alpha, beta, curve, side):
    scenario = Scenario("extreme", alpha, beta, curve)
    u = places(side)
    score, hit_rate = look_up(build_quantile_table(scenario), u, side)
    logs = exact(scenario, u, side)
    np.testing.assert_allclose(score, np.exp(logs[0]), rtol=3e-6, atol=1e-12)
    np.testing.assert_allclose(hit_rate, curve.hit(*logs), rtol=3e-6, atol=1e-8)


def test_the_middle_reaches_a_cell_into_both_tails():
    """u may be rounded across the border between the tables."""
    scenario = published_scenario("resnet152_imgnet")
    table = build_quantile_table(scenario)
    u = np.array([TAIL - 1e-17, 1 - TAIL, 1 - TAIL + 1e-9])
    score, _ = look_up(table, u, "middle")
    np.testing.assert_allclose(score, np.exp(exact(scenario, u, "middle")[0]), rtol=1e-9)


def test_scores_never_decrease_in_u():
    for model in MODELS:
        table = build_quantile_table(published_scenario(model))
        u = np.sort(places("middle"))
        assert np.diff(look_up(table, u, "middle")[0]).min() > -1e-15
        u = np.sort(places("upper"))
        assert np.diff(look_up(table, u, "upper")[0]).max() < 1e-15
