"""R10, R19 and tallies: how clear a ranking of biases must be, and its errors as numbers."""

import pandas as pd
import pytest
from claims_data import ALL, GOOD, GROUP, experiment, judged, measured, verdicts_of

from calbias.claims.tallies import Tally, abs_difference, clearly_below, tally
from calbias.summaries.bias_by_group import bias_by_group

CALM = {**GOOD, "ece_debias_em": 0.6, "ece_sweep_em": 1.5}


def constant(values, at_n=None, name="realistic"):
    """Biases that depend on n only where ``at_n``, {n: {estimator: bias}}, says so.

    The error of one is 0.1, of a mean over 70 cells 0.012, over the ten of one n 0.032.
    """

    def bias(scenario, estimator, b, n):
        return {**values, **(at_n or {}).get(n, {})}[estimator]

    return experiment(name, bias, ALL, se=0.1)


def ranked(debias, at_200, **others):
    return constant({**GOOD, "ece_debias_em": debias, **others}, {200: {"ece_debias_em": at_200}})


test_r10_conditions = verdicts_of(
    "R10",
    lambda debias, at_200, bin_em=GOOD["ece_bin_em"]: ranked(debias, at_200, ece_bin_em=bin_em),
    [
        (0.50, 0.77, "reproduced"),
        (0.50, 0.76, "approximate"),  # shrinks by 0.26, three errors are 0.268
        (0.336, 0.61, "reproduced"),
        (0.330, 0.61, "approximate"),  # first by 0.070, three errors are 0.072
        (0.50, 0.77, 0.4, "approximate"),  # third, but its gap shrinks
        (0.50, 0.76, 0.4, "not_reproduced"),  # neither second nor shrinking
        (0.25, 0.61, "approximate"),  # still first over all n, but beaten at six of them
        (0.25, 0.52, "not_reproduced"),  # the sweep is not first
    ],
)


@pytest.mark.parametrize(("bias", "verdict"), [(0.12, "reproduced"), (0.10, "approximate")])
def test_r10_is_beaten_at_one_n_by_three_standard_errors(bias, verdict):
    """At n = 1600 ece_bin_em is below the sweep by 0.18 or 0.20; three errors are 0.19."""
    table = constant(GOOD, {200: {"ece_debias_em": 0.9}, 1600: {"ece_bin_em": bias}})
    judgement = judged("R10", bias=table)
    assert judgement.verdict == verdict
    name = "sample sizes of 7 at which it is clearly beaten"
    assert measured(judgement, name).value == int(verdict == "approximate")


def test_r10_errors():
    judgement = judged("R10", bias=constant(GOOD, {200: {"ece_debias_em": 0.9}}))
    gap = [measured(judgement, "|debias_em| − |sweep_em|", f"n = {n}:") for n in (200, 12800)]
    assert [m[1] for m in gap] == pytest.approx([0.6, 0.3])
    assert [m.error for m in gap] == pytest.approx([0.2 / 10**0.5] * 2)
    mean = measured(judgement, "mean |bias|", "ece_sweep_em")
    assert (mean.value, mean.error) == pytest.approx((0.3, 0.1 / 70**0.5))


test_r19_the_kde_is_first_by_three_standard_errors = verdicts_of(
    "R19",
    lambda values: constant({**CALM, "kde_unrooted": values["kde"], **values}, name="perfect"),
    [
        ({"kde": 0.52}, "reproduced"),
        ({"kde": 0.53}, "not_reproduced"),  # first by 0.07, three errors are 0.072
        ({"kde": 0.52, "ece_sweep_em": 0.595}, "approximate"),  # debias is third
    ],
)


def test_clearly_below_takes_three_times_the_sum_of_the_errors():
    means = {"a": (1.0, 0.1), "b": (1.89, 0.2), "c": (1.91, 0.2)}
    assert not clearly_below(means, "a", "b")
    assert clearly_below(means, "a", "c")
    assert not clearly_below(means, "c", "a")


def test_curves_of_a_data_set_are_means_over_its_models():
    rows = pd.DataFrame({"group": ["x", "x", "y"], "bias_percent": [1.0, -3.0, 2.0]}).assign(
        estimator="kde", n_bins=None, n_samples=200, bias_se_percent=[0.03, 0.04, 0.2]
    )
    curves = bias_by_group(rows).set_index("group")
    assert curves["bias_percent"].to_dict() == {"x": -1.0, "y": 2.0}
    assert curves["n_scenarios"].to_dict() == {"x": 2, "y": 1}
    assert curves["bias_se_percent"].to_dict() == pytest.approx({"x": 0.025, "y": 0.2})


def test_errors_of_figure_4_are_those_of_the_smallest_data_set():
    assert min(pd.Series(GROUP).value_counts()) == 2
    table = constant(GOOD)
    assert judged("R09", bias=table).largest_error == pytest.approx(0.2 / 2**0.5)  # 2 × 0.1 / √2
    assert judged("R12", bias=table).largest_error == pytest.approx(0.1 / 2**0.5)


def test_tally_and_the_bound_on_the_error():
    assert tally([1.0, 0.02, -1.0], [0.01, 0.01, 0.01]) == Tally(1, 1, 1)
    difference, error = abs_difference(-2.0, 0.1, 1.0, 0.2)
    assert (difference, error) == (1.0, pytest.approx(0.3))
    assert Tally(60, 0, 3).verdict() == "reproduced"
    assert Tally(50, 0, 13).verdict() == "approximate"
    assert Tally(30, 33, 0).verdict() == "not_reproduced"
