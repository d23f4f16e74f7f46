"""C02: the rule on the coverage of the intervals."""

import pandas as pd
import pytest
from claims_data import judged, verdicts_of

from calbias.auditing.coverage import clopper_pearson
from calbias.claims.verdicts import NotJudged


def coverage(shares, n_data_sets=100):
    rows = []
    for k, share in enumerate(shares):
        low, high = clopper_pearson(round(share * n_data_sets), n_data_sets)
        for method, value in (("test_inversion", share), ("percentile_bootstrap", 0.0)):
            rows.append((method, f"cell_{k}", 200, value, low, high, n_data_sets))
    names = ["method", "scenario", "n_samples", "coverage", "low", "high", "n_data_sets"]
    return pd.DataFrame(rows, columns=names)


test_c02_mean_and_cells_count = verdicts_of(
    "C02",
    lambda shares: {"interval_coverage": coverage(shares)},
    [
        ([0.96, 0.95, 0.90], "reproduced"),
        ([0.96, 0.95, 0.85], "approximate"),  # 0.85 of 100 may be 0.90; the mean is low
        ([0.99, 0.99, 0.82], "approximate"),  # the mean holds, a cell does not
        ([0.90, 0.90, 0.70], "not_reproduced"),
    ],
)


def test_few_data_sets_are_not_judged():
    with pytest.raises(NotJudged, match="fewer than 50"):
        judged("C02", interval_coverage=coverage([0.96], n_data_sets=20))
