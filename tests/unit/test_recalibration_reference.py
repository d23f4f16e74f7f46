"""The TCE reference of recalibrated scores: atoms by hand, resamples against slow fits."""

import numpy as np
import pytest
from oracles import draw_scores_slowly

from calbias import Curve, Scenario, TopLabel, true_calibration_error
from calbias.logits.top_label import top_label_of_scores
from calbias.truth.curves import GLM_NAMES
from pipeline.fits.design import LOG_MISS_AT_ONE
from pipeline.fits.empirical_error import FittedCurve, atoms, empirical_tce, fit_curve
from pipeline.fits.glm import Labelled, fit_all, refit
from reproduction.measures import draw_counts
from reproduction.reference_error import beta_tce, grouped, resampled_tce


def drawn(n, curve=None, alpha=2.0, beta=0.5, seed=0):
    """Return a TopLabel of Beta scores with hits by a curve."""
    curve = curve or Curve("power", 0.0, 2.0)
    rng = np.random.default_rng(seed)
    log_score, log1m_score = draw_scores_slowly(alpha, beta, n, rng)
    hit = np.log(rng.random(n)) < curve.log_hit(log_score, log1m_score)
    return TopLabel(np.exp(log_score), log_score, log1m_score, hit.astype(np.uint8))


def repeated(top, count):
    """Return the rows of a resample."""
    rows = np.repeat(np.arange(len(count)), count)
    return TopLabel(*(column[rows] for column in top))


def test_empirical_tce_with_atoms_by_hand():
    """T(1/2) = 1/4: (1·1² + 2·(1/4)² + 4·(1 - 3/4)²) / 7; without a curve 1/2, the mean label."""
    top = top_label_of_scores([0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0], [1, 0, 1, 1, 1, 1, 0])
    assert [atom.sum() for atom in atoms(top)[:2]] == [1, 4]
    curve = Curve("power", 0.0, 2.0)
    assert empirical_tce(top, curve) ** 2 == pytest.approx((1 + 2 / 16 + 4 / 16) / 7)
    assert empirical_tce(top, curve, norm=1) == pytest.approx((1 + 2 / 4 + 4 / 4) / 7)
    assert empirical_tce(top, None) ** 2 == pytest.approx((1 + 4 / 16) / 7)


def test_the_published_stand_in_for_1_is_an_atom_and_a_small_log_miss_is_not():
    top = top_label_of_scores([1 - 1e-16, 0.5], [1, 0])
    assert top.log1m_score[0] == LOG_MISS_AT_ONE
    assert atoms(top)[1].tolist() == [True, False]
    precise = TopLabel(np.array([1.0]), np.array([-1e-20]), np.array([-46.0]), np.array([1]))
    assert not atoms(precise)[1].any()


@pytest.mark.parametrize(
    ("score", "hit"),
    [([1.0, 1.0], [1, 0]), ([0.3, 0.6, 1.0], [1, 1, 0]), ([0.4, 0.4, 0.4], [1, 0, 0])],
)
def test_without_a_curve_to_fit_the_mean_label_stands_in(score, hit):
    top = top_label_of_scores(score, hit)
    fitted = fit_curve(top)
    assert fitted == FittedCurve(None, ())
    assert np.isfinite(empirical_tce(top, fitted.curve))
    assert np.isnan(beta_tce(top, fitted.curve))
    counts = np.ones((2, len(hit)), np.uint16)
    assert resampled_tce(top, fitted, counts) == pytest.approx([empirical_tce(top, None)] * 2)


def test_both_references_approach_the_true_error_of_a_large_sample():
    scenario = Scenario("x", 2.0, 0.5, Curve("log_log_b1", 0.0, 2.0))
    top = drawn(50_000)
    curve = fit_curve(top).curve
    assert curve.name.startswith("log_log")
    for tce in (empirical_tce(top, curve), beta_tce(top, curve)):
        assert tce == pytest.approx(true_calibration_error(scenario, norm=2), abs=0.004)


def test_beta_reference_takes_atoms():
    """fit_beta refuses a score of 0 and warns of a score of 1."""
    top = drawn(400)
    scores, hits = np.r_[top.score.clip(0, 0.999), 0.0, 1.0, 1.0], np.r_[top.hit, 0, 1, 1]
    with_atoms = top_label_of_scores(scores, hits)
    assert 0 < beta_tce(with_atoms, fit_curve(with_atoms).curve) < 1
    tied = top_label_of_scores([0.5] * 5, [1, 0, 0, 1, 1])
    assert np.isnan(beta_tce(tied, Curve("identity")))  # no Beta distribution fits


@pytest.mark.parametrize("name", GLM_NAMES)
def test_refitted_glms_are_those_of_the_resampled_rows(name):
    top = top_label_of_scores(np.random.default_rng(1).integers(1, 40, 300) / 41, np.zeros(300))
    hit = np.random.default_rng(2).random(300) < 0.3 + 0.6 * top.score**2
    top = top._replace(hit=hit.astype(np.uint8))
    fit = fit_all(*top[1:3], top.hit, names=(name,), use_statsmodels=False)[0]
    counts = draw_counts(300, 5, 0, "x")
    inside = np.ones(300, bool)
    groups = grouped(top, inside, counts)
    assert len(groups.log_score) == len(np.unique(top.score))
    curves, aic = refit(fit, groups)
    for b, count in enumerate(counts):
        rows = repeated(top, count)
        slow = fit_all(*rows[1:3], rows.hit, names=(name,), use_statsmodels=False)[0]
        assert aic[b] == pytest.approx(slow.aic, abs=1e-4)
        expected = slow.curve.hit(groups.log_score, groups.log1m_score)
        assert curves[b] == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("link", ["logit_logit_b0_b1", "log_log_b0_b1", "logflip_logflip_b0_b1"])
def test_a_resample_of_one_class_stays_finite(link):
    top = top_label_of_scores([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    fit = fit_all(*top[1:3], top.hit, names=(link,), use_statsmodels=False)[0]
    hits = np.array([[0.0, 4, 0, 0], [0.0, 0, 0, 0]])
    groups = Labelled(top.log_score, top.log1m_score, hits, hits[::-1])
    curves, aic = refit(fit, groups)
    assert np.isfinite(curves).all()
    assert np.isfinite(aic).all()
    assert ((curves >= 0) & (curves <= 1)).all()


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_resampled_tce_is_that_of_the_resampled_rows(norm):
    top = drawn(3000, seed=4)
    top = top_label_of_scores(np.where(top.score > 0.98, 1.0, top.score), top.hit)
    fitted = fit_curve(top)
    counts = np.vstack([draw_counts(3000, 12, 0, "x"), np.ones((1, 3000), np.uint16)])
    resamples = [repeated(top, count) for count in counts]
    slow = [empirical_tce(rows, fit_curve(rows).curve, norm) for rows in resamples]
    assert resampled_tce(top, fitted, counts, norm) == pytest.approx(slow, abs=1e-4)
