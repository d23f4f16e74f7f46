"""C01: the rule on distances between predicted and observed bias."""

import pytest
from claims_data import judged, measured
from made_up_tables import made_up_tables

from calbias.claims.verdicts import NotJudged


def table(all_rows=0.0, subsample=0.0):
    """Return a table whose predictions miss the observed bias by these shares of it."""
    made = made_up_tables()["predicted_bias"]
    observed = made["observed_bias_percent"]
    return made.assign(
        predicted_bias_percent=observed * (1 + all_rows),
        predicted_from_subsample_percent=observed * (1 - subsample),
    )


@pytest.mark.parametrize(
    ("all_rows", "subsample", "verdict"),
    [
        (0.0, 0.0, "reproduced"),
        (0.33, 0.33, "reproduced"),
        (0.34, 0.0, "approximate"),
        (0.0, 0.49, "approximate"),
        (0.0, 0.51, "not_reproduced"),
        (2.0, 0.0, "not_reproduced"),
    ],
)
def test_c01_wants_both_predictions_near(all_rows, subsample, verdict):
    judgement = judged("C01", predicted_bias=table(all_rows, subsample))
    assert judgement.verdict == verdict
    assert judgement.source == "real_scores"
    share = measured(judgement, "share explained", "curve fitted on all rows")
    assert share.value == pytest.approx(100 * (1 - all_rows))


@pytest.mark.parametrize(
    "rows", [table().query("model != 'resnet110_c10'"), table().query("n_samples < 3200")]
)
def test_c01_is_not_judged_on_fewer_models_or_small_sizes(rows):
    with pytest.raises(NotJudged, match="the rule wants 10 and 3200"):
        judged("C01", predicted_bias=rows)
