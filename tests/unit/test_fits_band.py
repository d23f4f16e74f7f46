import numpy as np
import pytest
from curve_band import curve_band
from fits_data import SCENARIOS, draw

from calbias.fits.glm import fit_glm
from calbias.truth.curves import Curve

SCORES = np.linspace(0.05, 0.999, 40)
GRID = np.log(SCORES), np.log1p(-SCORES)


def test_an_intercept_has_the_interval_of_a_proportion():
    scores = np.full(100, 0.6)
    columns = np.log(scores), np.log1p(-scores), np.arange(100) < 80
    fit = fit_glm("logit_logit_b0", *columns)
    low, high = curve_band(fit, *GRID)
    # The log odds of a proportion p of n have variance 1/(n·p·(1 - p)) = 1/16.
    expected = 1 / (1 + np.exp(-(np.log(4) + np.array([-1, 1]) * 1.959964 / 4)))
    np.testing.assert_allclose((low[0], high[0]), expected, rtol=1e-6)
    assert np.ptp(low) == np.ptp(high) == 0


@pytest.mark.parametrize(
    ("simultaneous", "grid"), [(True, GRID), (False, (np.log([0.7]), np.log([0.3])))]
)
@pytest.mark.parametrize(
    "curve",
    [
        Curve("logit_logit_b0_b1", -0.88, 0.49),
        Curve("logflip_logflip_b0_b1", -0.12, 0.58),
        Curve("log_log_b0_b1", -0.2, 1.27),
        Curve("logit_logflip_b1", 0.0, -0.9),
    ],
)
def test_the_band_covers_the_truth_as_often_as_it_says(curve, grid, simultaneous):
    covered = 0
    for seed in range(100):
        columns = draw(1.2, 0.6, curve, 1000, seed)
        fit = fit_glm(curve.name, *columns, use_statsmodels=False)
        low, high = curve_band(fit, *grid, level=0.9, simultaneous=simultaneous)
        assert (low <= fit.curve.hit(*grid)).all()
        assert (fit.curve.hit(*grid) <= high).all()
        covered += ((low <= curve.hit(*grid)) & (curve.hit(*grid) <= high)).all()
    assert 82 <= covered <= 98  # 90 ± 2.7 standard errors of 3


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_published_curve_lies_in_the_band_of_its_own_model(scenario):
    alpha, beta, curve = SCENARIOS[scenario]
    fit = fit_glm(curve.name, *draw(alpha, beta, curve, 10_000, seed=3))
    low, high = curve_band(fit, *GRID, level=0.99, simultaneous=True)
    assert ((low <= curve.hit(*GRID)) & (curve.hit(*GRID) <= high)).all()
    assert (low >= 0).all()
    assert (high <= 1).all()


def test_a_wider_level_is_wider_and_more_rows_are_narrower():
    curve = Curve("logit_logit_b0_b1", -0.4, 0.4)
    wide, narrow = (fit_glm(curve.name, *draw(1, 1, curve, n)) for n in (500, 8000))

    def width(fit, **options):
        low, high = curve_band(fit, *GRID, **options)
        return (high - low).mean()

    assert width(wide, level=0.99) > width(wide) > width(wide, level=0.5)
    assert width(wide, simultaneous=True) > width(wide)
    assert width(wide) == pytest.approx(4 * width(narrow), rel=0.25)


def test_a_boundary_is_held_without_spread():
    scores = np.array([0.3, 0.3, 0.3, 0.3, 0.9, 0.9])
    columns = np.log(scores), np.log1p(-scores), np.array([1, 0, 0, 0, 1, 1])
    low, high = curve_band(
        fit_glm("log_log_b0_b1", *columns), np.log([0.3, 0.9]), np.log([0.7, 0.1])
    )
    np.testing.assert_allclose((low[1], high[1]), 1.0, rtol=1e-7)
    assert low[0] < 0.25 < high[0]
