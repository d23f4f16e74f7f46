"""C01 and C02: rules on predicted bias, and on the coverage of the intervals."""

import numpy as np
import pandas as pd
import pytest
from claims_data import judged, measured, verdicts_of
from command import crossed

from calbias.auditing.bins import binomial_limits
from pipeline.claims.verdicts import NotJudged
from pipeline.paper import BINNED, MODEL_SIZES


def predictions(all_rows=0.0, subsample=0.0):
    """Return a table whose predictions miss the observed bias by these shares of it."""
    models = ["resnet110_c10", *(f"model_{k}" for k in range(9))]
    keys = {"model": models, "estimator": BINNED, "n_samples": MODEL_SIZES}
    return crossed(
        "predicted_bias", keys, observed_bias_percent=lambda t: np.linspace(1, 2, len(t)),
        predicted_bias_percent=lambda t: t["observed_bias_percent"] * (1 + all_rows),
        predicted_from_subsample_percent=lambda t: t["observed_bias_percent"] * (1 - subsample),
        one_subsample_distance_percent=0.5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "all_rows", "subsample"),
    [
        *(("reproduced", 0.0, 0.0), ("reproduced", 0.33, 0.33)),
        *(("approximate", 0.34, 0.0), ("approximate", 0.0, 0.49)),
        *(("not_reproduced", 0.0, 0.51), ("not_reproduced", 2.0, 0.0)),
    ],
)
def test_c01_wants_both_predictions_near(verdict, all_rows, subsample):
    judgement = judged("C01", predicted_bias=predictions(all_rows, subsample))
    assert (judgement.verdict, judgement.source) == (verdict, "real_scores")
    share = measured(judgement, "share explained", "curve fitted on all rows")
    assert share.value == pytest.approx(100 * (1 - all_rows))


@pytest.mark.parametrize("query", ["model != 'resnet110_c10'", "n_samples < 3200"])
def test_c01_is_not_judged_on_fewer_models_or_small_sizes(query):
    with pytest.raises(NotJudged, match="the rule wants 10 and 3200"):
        judged("C01", predicted_bias=predictions().query(query))


def coverage(shares, n_data_sets=100, of_l2=(1.0,)):
    """A share below 0 is the coverage of a cell whose error no test sees."""
    methods = {"calbias": shares, "calbias_l2": of_l2, "percentile_bootstrap": [0.1]}
    rows = []
    for method, signed in ((method, x) for method, values in methods.items() for x in values):
        share, seen = abs(signed), 0.9 if signed > 0 else 0.4
        low, high = map(float, binomial_limits(round(share * n_data_sets), n_data_sets, 0.95))
        rows.append((method, f"cell_{len(rows)}", 200, share, low, high, seen, n_data_sets))
    names = ["method", "scenario", "n_samples", "coverage", "low", "high"]
    names += ["found_by_verdict", "n_data_sets"]
    return pd.DataFrame(rows, columns=names)


test_c02_mean_and_cells_count = verdicts_of(
    "C02",
    lambda shares, of_l2=(1.0,): {"interval_coverage": coverage(shares, of_l2=of_l2)},
    reproduced=[[0.95], [1.0, 1.0, 0.99, 0.99, -0.8]],
    # 0.88 of 100 may be 0.90, and the mean is low; the mean holds, a cell does not
    approximate=[[0.97, 0.96, 0.88], [0.99, 0.99, 0.99, 0.99, 0.82], ([1.0], [1.0, 0.8])],
    not_reproduced=[([0.90, 0.90, 0.70], [0.70])],
)


def test_c02_counts_a_cell_once_where_both_intervals_miss():
    table = coverage([0.99, 0.7], of_l2=[0.99, 0.7])
    table["scenario"] = ["a", "b", "a", "b", "a"]
    assert judged("C02", interval_coverage=table).reason.endswith("that are too low: 1")


def test_few_data_sets_are_not_judged():
    with pytest.raises(NotJudged, match="fewer than 50"):
        judged("C02", interval_coverage=coverage([0.96], n_data_sets=49))


def league(ratios, n_replicates=100):
    """Rows of the league: the averaged posterior's RMSE is a ratio times 0.01, a rival's 0.01."""
    rows = [
        (f"scenario_{k}", name, "l1", 500, n_replicates, 0.02 * (k % 2), rmse)
        for k, ratio in enumerate(ratios)
        for name, rmse in (
            ("averaged_posterior", 0.01 * ratio), ("ece_sweep_em", 0.01), ("kde", 0.03)
        )
    ]  # fmt: skip
    names = ["scenario", "estimator", "target", "n_samples", "n_replicates", "truth", "rmse"]
    return pd.DataFrame(rows, columns=names)


test_c03_is_of_the_mean_over_cells = verdicts_of(
    "C03",
    lambda ratios: {"league": league(ratios)},
    reproduced=[[0.5, 0.9], [0.4, 1.2]],
    not_reproduced=[[1.0, 1.0], [0.7, 1.5]],
)


def test_c03_needs_enough_data_sets():
    with pytest.raises(NotJudged, match="fewer than 40"):
        judged("C03", league=league([0.4], n_replicates=39))
    assert judged("C03", league=league([0.4], n_replicates=40)).verdict == "reproduced"
