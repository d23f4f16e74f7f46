"""R19 to R21: rules on bias under perfect calibration."""

import pytest
from claims_data import ALL, GOOD, GROUP, bias_table, by_name, experiment, judged, verdicts_of


def of_all(values=GOOD, name="realistic"):
    return experiment(name, by_name(values), ALL)


CALM = {**GOOD, "kde": 0.1, "kde_unrooted": 0.05, "ece_debias_em": 0.2}


test_r19_kde_then_debias = verdicts_of(
    "R19",
    lambda values: of_all({**CALM, **values}, "perfect"),
    [
        ({}, "reproduced"),
        ({"ece_debias_em": 0.9}, "approximate"),
        ({"kde": 4.0}, "not_reproduced"),
    ],
)


@pytest.mark.parametrize(
    ("perfect", "verdict"),
    [
        (GOOD, "reproduced"),
        ({**GOOD, "ece_sweep_em": 1.9}, "not_reproduced"),  # one comparison in eight is reversed
        ({**GOOD, "ece_sweep_em": 4.0, "ece_debias_em": 4.0}, "not_reproduced"),
    ],
)
def test_r21_all_comparisons_in_both_settings(perfect, verdict):
    tables = bias_table(of_all(), of_all(perfect, "perfect"))
    judgement = judged("R21", bias=tables)
    assert judgement.verdict == verdict
    reversed_ = "perfect: ece_sweep_em over ece_debias_ew is reversed: clearly more biased in 21"
    assert (reversed_ in str(judgement.notes)) == (verdict == "not_reproduced")


def test_r21_few_lost_cells_of_one_comparison_are_approximate():
    def bias(scenario, estimator, b, n):
        worse = n < 800 and GROUP[scenario] == "CIFAR-10" and estimator == "ece_sweep_em"
        return 1.9 if worse else GOOD[estimator]  # above ece_debias_ew, below ece_bin_ew

    tables = bias_table(of_all(), experiment("perfect", bias, ALL))
    judgement = judged("R21", bias=tables)
    assert judgement.verdict == "approximate"
    assert "ece_sweep_em over ece_debias_ew is clearly more biased in 2 of 21" in str(
        judgement.notes
    )
