"""R14 and R15: rules on the spread of the estimates."""

import numpy as np
import pytest
from claims_data import bias_table, experiment, heatmaps, judged, measured, verdicts_of

from calbias.claims.appendix_b import factors_over_bins, ratios_by, with_se
from calbias.truth.paper import HEATMAP_MODELS, HEATMAP_SIZES

RATIO = "standard deviation, debias_em / sweep_em"
SPREADS = ("ece_debias_em", "ece_sweep_em")


def spread_tables(debias, with_2_bins=None):
    def sd(scenario, estimator, b, n):
        wanted = with_2_bins if with_2_bins and b == 2 else debias
        return (wanted if estimator == "ece_debias_em" else 1.0) * (200 / n) ** 0.5

    return bias_table(heatmaps(1.0, SPREADS, sd=sd), experiment("realistic", 1.0, SPREADS, sd=sd))


test_r14_wants_a_larger_spread_at_every_number_of_bins_by_three_standard_errors = verdicts_of(
    "R14",
    spread_tables,
    [
        (1.3, 0.8, "approximate"),
        (1.033, "reproduced"),  # three errors of a mean over 18 cells are 0.0316 of a logarithm
        (1.031, "approximate"),
        (1.017, "approximate"),  # over 70 cells they are 0.0160
        (1.015, "not_reproduced"),
        (0.8, "not_reproduced"),
    ],
)


def test_errors_of_a_spread_and_of_a_mean_ratio():
    """With 51 replicates the error of a standard deviation is a tenth of it."""
    rows = with_se(spread_tables(2.0)[lambda t: t["experiment"] == "realistic"])
    assert rows["se"].to_numpy() == pytest.approx(rows["sd_percent"] / np.sqrt(2 * 999))
    rows = with_se(rows.assign(n_replicates=51))
    assert rows["se"].to_numpy() == pytest.approx(rows["sd_percent"] / 10)
    ratio, error, cells = ratios_by("n_samples", rows)[200]
    assert (ratio, error) == (pytest.approx(2.0), pytest.approx((0.1 + 0.1) / np.sqrt(10)))
    assert cells == (10, 0, 0)
    judgement = judged("R14", bias=spread_tables(2.0))
    usual = measured(judgement, RATIO, "15 bins:")
    assert (usual.value, usual.error) == pytest.approx((2.0, 0.0107), rel=1e-3)
    assert max(m.error for m in judgement.measurements if m.name == RATIO) == pytest.approx(
        0.0283, rel=1e-3
    )


FIXED = ("ece_bin_ew", "ece_bin_em", "ece_debias_ew", "ece_debias_em")


def on_maps(maps, sizes=HEATMAP_SIZES, exponent=0.5):
    """A spread that depends on the bins in the first maps, at some n; 12 maps × 6 n = 72 rows."""
    dependent = [(m, e) for m in HEATMAP_MODELS for e in FIXED][:maps]

    def sd(scenario, estimator, b, n):
        depends = (scenario, estimator) in dependent and n in sizes
        return n**-1.0 * (b**exponent if depends else 1.0)

    return sd


test_r15_falls_with_n_and_is_flat_in_bins = verdicts_of(
    "R15",
    lambda sd: heatmaps(1.0, FIXED, sd=sd),
    [
        (on_maps(12, exponent=0.116), "reproduced"),  # by a factor 1.495
        (on_maps(12, exponent=0.118), "not_reproduced"),  # 1.505
        (on_maps(3, sizes=(200,)), "reproduced"),  # 3 of 72
        (on_maps(4, sizes=(200,)), "approximate"),  # 4 of 72 are more than 5 %
        (on_maps(3), "approximate"),  # 18 of 72
        (on_maps(4, sizes=HEATMAP_SIZES[1:]), "not_reproduced"),  # 20 of 72
        (lambda s, e, b, n: 1.0, "not_reproduced"),  # does not fall
        (lambda s, e, b, n: n**-0.2, "reproduced"),
        (lambda s, e, b, n: n**-0.19, "not_reproduced"),  # by less than three of both errors
    ],
)


def test_r15_large_factors_within_the_noise_are_not_clear():
    rows = heatmaps(1.0, FIXED[:1], sd=on_maps(12))
    rows = rows[rows["scenario"] == HEATMAP_MODELS[0]]
    assert factors_over_bins(with_se(rows))["clear"].all()
    for n_replicates, clear in ((12, True), (11, False)):  # a factor 5.66 is four errors at 11.7
        found = factors_over_bins(with_se(rows.assign(n_replicates=n_replicates)))["clear"]
        assert (found == clear).all()
