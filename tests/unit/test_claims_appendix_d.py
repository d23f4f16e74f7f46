"""R25: the rule on the number of bins that the sweep chooses."""

import numpy as np
import pandas as pd
import pytest
from claims_data import judged

from calbias.truth.paper import MODEL_SIZES as SIZES


def chosen(optimum, sweep, calibrated_optimum=1, calibrated_sweep=9.0, slope=2.0):
    bins = np.array([1, 2, 4, 8, 16, 32])
    rows = []
    for scenario, best, b in (
        ("beta_1_1_logistic", optimum, sweep),
        ("beta_1_1_identity", calibrated_optimum, calibrated_sweep),
    ):
        for n in SIZES:
            estimate = 10 + np.abs(np.log2(bins / best)) * slope
            rows.append(
                pd.DataFrame({"n_bins": bins, "mean_estimate_percent": estimate}).assign(
                    scenario=scenario, n_samples=n, mean_n_bins_sweep=b
                )
            )
    table = pd.concat(rows, ignore_index=True)
    return table.assign(mean_estimate_se_percent=0.01, tce_percent=10.0)


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        (chosen(8, 9.0), "reproduced"),
        (chosen(8, 30.0), "not_reproduced"),  # far from the optimum
        (chosen(8, 9.0, calibrated_optimum=8), "not_reproduced"),  # the optimum is not ≤ 4
        (chosen(8, 9.0, calibrated_sweep=1.0), "not_reproduced"),  # no overshooting
    ],
)
def test_r25_near_optimal_and_overshooting(table, verdict):
    assert judged("R25", chosen_bins=table).verdict == verdict


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        (chosen(8, 11.9), "reproduced"),  # within a factor 1.5
        (chosen(8, 12.1), "not_reproduced"),
        (chosen(8, 5.3), "not_reproduced"),
        (chosen(8, 16.0, slope=0.24), "reproduced"),  # costs 0.24 points
        (chosen(8, 16.0, slope=0.26), "not_reproduced"),
        (chosen(8, 9.0, calibrated_sweep=4.1), "reproduced"),
        (chosen(8, 9.0, calibrated_sweep=3.9), "not_reproduced"),  # above the best, but few
        (chosen(8, 9.0, slope=0.005), "not_reproduced"),  # 9 is not above all, which tie
    ],
)
def test_r25_thresholds(table, verdict):
    assert judged("R25", chosen_bins=table).verdict == verdict


@pytest.mark.parametrize(("failing", "verdict"), [(2, "approximate"), (3, "not_reproduced")])
@pytest.mark.parametrize(
    "elsewhere",
    [
        {"sweep": 30.0},  # not near-optimal
        {"calibrated_optimum": 8},  # the best is not ≤ 4
        {"calibrated_sweep": 3.0},  # no overshooting
    ],
)
def test_r25_five_of_seven_sample_sizes_are_approximate(elsewhere, failing, verdict):
    good = {"optimum": 8, "sweep": 9.0}
    usual, other = chosen(**good), chosen(**{**good, **elsewhere})
    table = usual.where(~usual["n_samples"].isin(SIZES[:failing]), other)
    assert judged("R25", chosen_bins=table).verdict == verdict
