"""R01 to R04: each rule on a table where it holds and on one where it must fail."""

import numpy as np
import pandas as pd
import pytest
from claims_data import bias_table, experiment, heatmaps, verdicts_of

from calbias.claims.section_1 import share_above
from calbias.claims.section_4 import best_bins, can_be_nondecreasing
from calbias.truth.paper import FIG2B_SCENARIOS, HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES

INTRO = "beta_2.8_0.05_identity"


def intro(mean, low=1.0, below=0):
    bias = experiment("intro", mean - 10, ["ece_bin_ew"], [INTRO], (200,))
    histogram = pd.DataFrame(
        {"low_percent": [0.0, low], "high_percent": [low, 9.0], "count": [below, 100 - below]}
    )
    return {"bias": bias, "estimate_histogram": histogram}


test_r01_wants_a_large_and_frequent_estimate = verdicts_of(
    "R01",
    intro,
    [
        (6.0, "reproduced"),
        (2.04, "reproduced"),
        (2.02, "approximate"),  # 2 % is exceeded by less than three errors
        (6.0, 1.0, 6, "approximate"),
        (2.02, 1.0, 6, "not_reproduced"),
    ],
)


def test_share_above_splits_the_bin_that_holds_the_value():
    table = pd.DataFrame({"low_percent": [0, 2], "high_percent": [2, 4], "count": [10, 30]})
    assert share_above(table, 1.0) == pytest.approx(35 / 40)
    assert share_above(table, 5.0) == 0


def fig2b(bias):
    return experiment(
        "bins_by_n", bias, ["ece_bin_ew"], FIG2B_SCENARIOS, HEATMAP_SIZES, HEATMAP_BINS
    )


def at(*biases):
    """The same bias at every n, by the number of bins."""
    return lambda s, e, b, n: biases[HEATMAP_BINS.index(b)]


test_r02_wants_both_signs_and_a_turning_point_by_four_standard_errors = verdicts_of(
    "R02",
    fig2b,
    [
        (lambda s, e, b, n: np.log2(b) - 3, "reproduced"),
        (lambda s, e, b, n: np.log2(b) - (3 if s == FIG2B_SCENARIOS[0] else 0), "approximate"),
        (lambda s, e, b, n: 7 - np.log2(b), "not_reproduced"),  # more bins always better
        (lambda s, e, b, n: np.log2(b), "not_reproduced"),  # never underestimates
        (at(-0.041, 1, 2, 3, 4, 5), "reproduced"),
        (at(-0.039, 1, 2, 3, 4, 5), "not_reproduced"),  # below zero by less than four errors
        (at(-5, -4, -3, 2, 1, 1.09), "reproduced"),
        (at(-5, -4, -3, 2, 1, 1.07), "not_reproduced"),  # worse by less than four of both errors
    ],
)


def optimum(exponent):
    """A bias that vanishes at a number of bins that goes as a power of n."""
    return lambda s, e, b, n: np.log2(b) - 2 - exponent * np.log2(n / 200)


def optima(exponent, constant=0):
    """Such biases on all eight curves, but for the equal-mass curves of so many models."""

    def bias(scenario, estimator, b, n):
        fails = estimator == "ece_bin_em" and scenario in HEATMAP_MODELS[:constant]
        return optimum(0 if fails else exponent)(scenario, estimator, b, n)

    return bias_table(heatmaps(bias, ["ece_bin_ew", "ece_bin_em"]), fig2b(bias))


test_r03_wants_a_growing_optimum_on_six_of_eight_curves_at_least = verdicts_of(
    "R03",
    optima,
    [
        (0.5, "reproduced"),
        (-0.3, "not_reproduced"),
        (0, "not_reproduced"),
        (0.5, 1, "approximate"),
        (0.5, 2, "approximate"),
        (0.5, 3, "not_reproduced"),
    ],
)


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


test_r04_wants_no_cell_below = verdicts_of(
    "R04", label_binned, [(0.2, "reproduced"), (-0.001, "not_reproduced")]
)
