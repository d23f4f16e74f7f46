"""R01 to R04, R25: each rule on a table where it holds and on one where it must fail."""

import numpy as np
import pandas as pd
import pytest
from claims_data import NAMES, bias_table, experiment, heatmaps, judged

from calbias.claims.bins import FIG2B, best_bins, can_be_nondecreasing
from calbias.claims.evidence import BINS, HEATMAP_SIZES, SIZES
from calbias.claims.introduction import share_above
from calbias.claims.judgement import NotJudged

INTRO = "beta_2.8_0.05_identity"


def intro(mean, low=1.0):
    bias = experiment("intro", mean - 10, ["ece_bin_ew"], [INTRO], (200,))
    histogram = pd.DataFrame(
        {"low_percent": [0.0, low], "high_percent": [low, 9.0], "count": [0, 100]}
    )
    return {"bias": bias, "estimate_histogram": histogram}


@pytest.mark.parametrize(
    ("tables", "verdict"),
    [
        (intro(6.0), "reproduced"),
        (intro(2.02), "approximate"),  # 2 % is exceeded by less than three errors
        (intro(1.5, low=0.5), "not_reproduced"),
    ],
)
def test_r01_wants_a_large_and_frequent_estimate(tables, verdict):
    assert judged("R01", **tables).verdict == verdict


def test_share_above_splits_the_bin_that_holds_the_value():
    table = pd.DataFrame({"low_percent": [0, 2], "high_percent": [2, 4], "count": [10, 30]})
    assert share_above(table, 1.0) == pytest.approx(35 / 40)
    assert share_above(table, 5.0) == 0


def fig2b(bias):
    return experiment("bins_by_n", bias, ["ece_bin_ew"], FIG2B, HEATMAP_SIZES, BINS)


@pytest.mark.parametrize(
    ("bias", "verdict"),
    [
        (lambda s, e, b, n: np.log2(b) - 3, "reproduced"),
        (lambda s, e, b, n: np.log2(b) - (3 if s == FIG2B[0] else 0), "approximate"),
        (lambda s, e, b, n: 7 - np.log2(b), "not_reproduced"),  # more bins always better
        (lambda s, e, b, n: np.log2(b), "not_reproduced"),  # never underestimates
    ],
)
def test_r02_wants_both_signs_and_a_turning_point(bias, verdict):
    assert judged("R02", bias=fig2b(bias)).verdict == verdict


def optimum(exponent):
    """A bias that vanishes at a number of bins that goes as a power of n."""
    return lambda s, e, b, n: np.log2(b) - 2 - exponent * np.log2(n / 200)


@pytest.mark.parametrize(("exponent", "verdict"), [(0.5, "reproduced"), (-0.3, "not_reproduced")])
def test_r03_wants_a_growing_optimum(exponent, verdict):
    bias = bias_table(
        heatmaps(optimum(exponent), ["ece_bin_ew", "ece_bin_em"]), fig2b(optimum(exponent))
    )
    assert judged("R03", bias=bias).verdict == verdict


def test_r03_constant_optimum_fails():
    bias = bias_table(heatmaps(optimum(0), ["ece_bin_ew", "ece_bin_em"]), fig2b(optimum(0)))
    assert judged("R03", bias=bias).verdict == "not_reproduced"


def test_best_bins_counts_ties_within_the_errors():
    cells = pd.DataFrame(
        {"n_samples": 200, "n_bins": [2, 4, 8], "bias_percent": [-0.1, 0.12, 2.0]}
    ).assign(bias_se_percent=0.01)
    assert best_bins(cells) == ([2], [[2, 4]])


def test_can_be_nondecreasing():
    assert can_be_nondecreasing([[2, 8], [4], [4, 16]])
    assert not can_be_nondecreasing([[8], [2, 4]])


def label_binned(extra):
    names = ["ece_label_binned_ew", "ece_bin_ew", "ece_label_binned_em", "ece_bin_em"]
    values = {name: 1.0 + extra * ("label" in name) for name in names}
    return bias_table(
        *(experiment(x, lambda s, e, b, n: values[e], names) for x in ("realistic", "perfect"))
    )


@pytest.mark.parametrize(("extra", "verdict"), [(0.2, "reproduced"), (-0.001, "not_reproduced")])
def test_r04_wants_no_cell_below(extra, verdict):
    assert judged("R04", bias=label_binned(extra)).verdict == verdict


def chosen(optimum, sweep, calibrated_optimum=1, calibrated_sweep=9.0):
    bins = np.array([1, 2, 4, 8, 16, 32])
    rows = []
    for scenario, best, b in (
        ("beta_1_1_logistic", optimum, sweep),
        ("beta_1_1_identity", calibrated_optimum, calibrated_sweep),
    ):
        for n in SIZES:
            estimate = 10 + np.log2(bins / best) * 2
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


def test_a_missing_row_is_named():
    names = ["ece_bin_ew", "ece_label_binned_ew"]
    table = experiment("realistic", 1.0, names, NAMES[:3])
    with pytest.raises(NotJudged, match=r"lacks 98 of the 140 rows .* densenet40_c10"):
        judged("R04", bias=table)
