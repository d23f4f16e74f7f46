"""Every fit reaches the likelihood of an optimiser that shares no code with it."""

import numpy as np
import pytest
from fits_data import SCENARIOS, draw, fit_glm, genuine, slow_minimum
from hypothesis import given
from hypothesis import strategies as st
from nightly import daily
from scipy.optimize import minimize_scalar

from calbias.truth.curves import GLM_NAMES, Curve
from pipeline.fits.design import glm_design
from pipeline.fits.glm import fit_all
from pipeline.fits.newton import minimise


def check_all_twelve(log_score, log1m_score, hit, widths=(1, 10), **options):
    fits = {fit.glm: fit for fit in fit_all(log_score, log1m_score, hit, **options)}
    for name, fit in fits.items():
        assert fit.converged, name
        slow = slow_minimum(name, log_score, log1m_score, hit, widths)
        assert fit.nll == pytest.approx(slow, rel=1e-6), name
        curve = fit.curve
        recomputed = -np.where(
            hit, curve.log_hit(log_score, log1m_score), curve.log_not_hit(log_score, log1m_score)
        ).sum()
        assert recomputed == pytest.approx(fit.nll, rel=1e-9), name
        if name.endswith("_b0_b1"):
            family = name.removesuffix("_b0_b1")
            for terms in ("b0", "b1"):
                assert fit.aic <= fits[f"{family}_{terms}"].aic + 2 + 1e-9, name
    assert len({fit.nll for name, fit in fits.items() if name.endswith("_b0")}) == 1
    return fits


@pytest.mark.parametrize("scenario", daily(SCENARIOS, 1))
def test_on_draws_from_published_fits(scenario):
    alpha, beta, curve = SCENARIOS[scenario]
    check_all_twelve(*draw(alpha, beta, curve, 2000, seed=7))


@pytest.mark.parametrize(
    ("softmax", "fold"), daily([("exact", "test"), ("float32_2020", "validation")], 1)
)
def test_on_the_genuine_file(softmax, fold):
    _, log_score, log1m_score, hit = (column[::4] for column in genuine(softmax, fold))
    check_all_twelve(log_score, log1m_score, hit.astype(bool), widths=(6,))


def test_an_optimum_on_the_boundary_by_hand():
    # Misses only at 0.3, hits at 0.3 and at 0.9: log T would rise above 0 at 0.9, so it stays
    # there at 0, and T(0.3) is the hit rate 1/4 of its group: b1 = log(1/4)/log(0.3/0.9).
    scores, hit = np.array([0.3] * 4 + [0.9] * 2), np.array([1, 0, 0, 0, 1, 1])
    columns = np.log(scores), np.log1p(-scores)
    fit = fit_glm("log_log_b0_b1", *columns, hit)
    assert fit.converged
    assert fit.nll == pytest.approx(-np.log(1 / 4) - 3 * np.log(3 / 4), rel=1e-9)
    assert fit.b1 == pytest.approx(np.log(1 / 4) / np.log(1 / 3), rel=1e-6)
    # The flipped model presses against T = 0 at the lowest score when all is mirrored.
    flipped = fit_glm("logflip_logflip_b0_b1", *columns[::-1], 1 - hit)
    for found in (fit, flipped):
        assert found.b0 + found.b1 * np.log(0.9) == pytest.approx(0, abs=1e-12)
    assert flipped.nll == pytest.approx(fit.nll, rel=1e-12)


@pytest.mark.parametrize("boundary", daily(["log_log_b0_b1", "logflip_logflip_b0_b1"], 1))
def test_boundary_optima_that_the_reweighting_of_statsmodels_misses(boundary):
    """Certain hits at the highest scores, certain misses at the lowest."""
    met = 0
    for seed in range(2):
        log_score, log1m_score, hit = draw(1.0, 1.0, Curve(boundary, 0.2, 1.0), 150, seed)
        fit = check_all_twelve(log_score, log1m_score, hit)[boundary]
        transform = log_score if boundary.startswith("log_") else log1m_score
        met += (fit.b0 + fit.b1 * transform).max() > -1e-12  # a probability of 1, or of 0
    assert met >= 1


ROW = st.tuples(st.floats(-200, 2).map(lambda x: round(x, 6)), st.booleans())


@pytest.mark.filterwarnings("ignore")  # some separate hits from misses
@given(
    st.lists(ROW, min_size=6, max_size=40).filter(
        lambda rows: len({hit for _, hit in rows}) == 2 and len({x for x, _ in rows}) > 2
    )
)
def test_any_small_data_set_is_nested_and_consistent(rows):
    log_odds_of_a_miss, hit = map(np.array, zip(*rows, strict=True))
    total = np.logaddexp(0, log_odds_of_a_miss)
    found = fit_all(-total, log_odds_of_a_miss - total, hit, use_statsmodels=False)
    fits = {fit.glm: fit for fit in found}
    assert all(fit.converged for fit in fits.values())
    for name in GLM_NAMES:
        if name.endswith("_b0_b1"):
            for nested in (name.removesuffix("_b1"), name.replace("_b0_b1", "_b1")):
                assert fits[name].nll <= fits[nested].nll * (1 + 1e-8) + 1e-8


def test_a_bad_proposal_does_not_matter():
    *scores, hit = draw(1.0, 1.0, Curve("power", 0.0, 2.0), 500)
    design = glm_design("log_log_b0_b1", *scores, hit[None] * 1.0, ~hit[None] * 1.0)
    best = minimise(design, design.start)
    for proposal in ([np.nan, np.nan], [0.5, -1.0], [-1e-9, -300.0], [-5.0, -1e-12]):
        found = minimise(design, np.array(proposal))
        assert found.certified
        assert found.loss == pytest.approx(best.loss, rel=1e-12)
        np.testing.assert_allclose(found.x, best.x, rtol=1e-7)


def test_misses_beyond_float_rounding_of_the_score():
    # Misses at 1 - c down to e^-160, where curvatures reach e^320: the search is over log b1.
    columns = draw(50.0, 0.03, Curve("logflip_logflip_b0", -0.5), 600, seed=2)
    log_score, log1m_score, hit = columns

    def loss(log_slope):
        near = log_slope + np.minimum(log1m_score, -36.0)  # log(1 - c^b1) where c^b1 is nearly 1
        tail = np.where(near < -36.0, near, 0.0)
        power = np.exp(log_slope) * log_score
        with np.errstate(divide="ignore"):
            log_not_hit = np.where(tail < 0, tail, np.log(-np.expm1(power)))
        return -power[hit].sum() - log_not_hit[~hit].sum()

    slow = minimize_scalar(loss, bounds=(-5, 60), method="bounded", options={"xatol": 1e-9})
    fit = fit_glm("log_log_b1", *columns)
    assert log1m_score[~hit].min() < -150
    assert fit.converged
    assert fit.nll == pytest.approx(slow.fun, rel=1e-6)
    assert np.log(fit.b1) == pytest.approx(slow.x, abs=1e-3)
