"""What a user met first, on genuine scores (``../shared/scores``)."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT

import calbias

SCORES = ROOT.parent / "shared/scores"
pytestmark = pytest.mark.skipif(not SCORES.exists(), reason=f"needs the genuine scores in {SCORES}")


def scores_and_hits(model, n=None):
    frame = pd.read_parquet(SCORES / f"{model}.parquet")
    frame = frame.sample(n, random_state=1) if n else frame
    return frame["score"], frame["label"] == frame["prediction"]


@pytest.mark.parametrize(
    ("model", "ece25", "ew15_l2"),
    [
        ("resnet110_c10", 4.750, 6.651),
        ("densenet40_c10", 5.507, 8.227),
        ("resnet110_c100", 18.480, 20.912),
        ("densenet40_c100", 21.159, 23.336),
    ],
)
def test_the_default_norm_gives_the_published_ece(model, ece25, ew15_l2):
    data = scores_and_hits(model)
    by_default = calbias.estimate("ece_bin_ew", *data, n_bins=25)
    assert 100 * by_default.value == pytest.approx(ece25, abs=6e-4)
    assert by_default.norm == 1
    in_columns = [np.asarray(column)[:, None] for column in data]  # (n, 1)
    assert calbias.estimate("ece_bin_ew", *in_columns, n_bins=25) == by_default
    assert 100 * calbias.estimate("ece_bin_ew", *data, norm=2).value == pytest.approx(
        ew15_l2, abs=6e-4
    )


def test_no_estimator_of_another_quantity_is_recommended():
    """On perfectly calibrated data sets the unrooted KDE has the least error, of its own target."""
    scores, _ = scores_and_hits("timm_resnet34", 500)
    hits = np.random.default_rng(0).random(500) < scores
    found = calbias.audit(
        scores, hits, estimators=["kde_unrooted", "kde", "ece_sweep_em"], replicates=100, norm=2
    )
    rmse = found.estimates["rmse"]
    assert rmse.idxmin() == "kde_unrooted" != found.recommended
    assert found.estimates.loc["kde_unrooted", "rank"] == 1


@pytest.mark.parametrize("n", [2, 200])
def test_scores_that_separate_hits_from_misses_are_told_of(n):
    scores, _ = scores_and_hits("snacks", n)
    found = calbias.audit(scores, scores > scores.median(), estimators=(), replicates=50)
    assert any("separate hits from misses" in text for text in found.warnings)
