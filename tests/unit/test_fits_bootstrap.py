import csv
from pathlib import Path

import numpy as np
import pytest
from fits_data import draw, genuine

from calbias.errors import InputError
from calbias.fits.bootstrap import table3_convention
from calbias.fits.glm import fit_all
from calbias.truth.curves import GLM_NAMES, Curve

TABLE_3 = Path(__file__).parents[2] / "resources/published/roelofs2022_table3_glm_fits.csv"


def test_means_lie_about_the_fit_of_all_rows():
    columns = draw(1.1, 0.2, Curve("logit_logit_b0_b1", -0.5, 0.5), 1500)
    for fit, mean in zip(
        fit_all(*columns), table3_convention(*columns, seed=1, n_resamples=40), strict=True
    ):
        assert mean.glm == fit.glm
        # A fit chases its resample: the mean AIC of k terms lies about 2k·(1/2) below.
        assert abs(mean.aic - fit.aic) < 5 * mean.aic_sd / np.sqrt(40) + 4
        assert np.isnan(mean.b0) == np.isnan(fit.b0)
        assert np.isnan(mean.b1) == np.isnan(fit.b1)


def test_each_model_has_its_own_resamples_and_the_seed_decides():
    columns = draw(1.1, 0.2, Curve("logit_logit_b0_b1", -0.5, 0.5), 400)
    intercepts = [name for name in GLM_NAMES if name.split("_", 2)[2] == "b0"]
    first = table3_convention(*columns, seed=3, names=intercepts)
    assert len({fit.aic for fit in first}) == 4  # one model, four draws: published Table 3 differs
    (alone,) = table3_convention(*columns, seed=3, names=intercepts[2:3])
    assert alone[:4] == first[2][:4]
    assert alone.aic != table3_convention(*columns, seed=4, names=intercepts)[2].aic
    more = table3_convention(*columns, seed=3, names=intercepts[2:3], n_resamples=11)[0]
    assert abs(more.aic * 11 - alone.aic * 10) == pytest.approx(alone.aic, rel=0.3)


def test_the_published_aics_are_such_means():
    top = genuine("float32_2020")
    means = table3_convention(top.log_score, top.log1m_score, top.hit, seed=0, n_resamples=60)
    with open(TABLE_3, encoding="utf-8", newline="") as file:
        rows = {r["glm"]: r for r in csv.DictReader(file) if r["model"] == "resnet110_c10"}
    # The published mean of ten differs from ours of sixty by sd·√(1/10 + 1/60).
    z = [(float(rows[m.glm]["aic"]) - m.aic) / (m.aic_sd * np.sqrt(1 / 10 + 1 / 60)) for m in means]
    assert np.abs(z).max() < 3.5
    assert np.abs(np.mean(z)) < 1.5
    # Far from the AIC that keeps the 48 % of scores at 1: 4780 for the intercept.
    assert all(m.aic < 4600 for m in means)


def test_one_resample_is_no_spread():
    with pytest.raises(InputError, match="at least 2"):
        table3_convention([-0.1], [-2.0], [1], seed=0, n_resamples=1)
