"""R21: the rule on both settings; R19: test_claims_tallies.py, R20: test_claims_t_test.py."""

from claims_data import ALL, GOOD, GROUP, bias_table, by_name, experiment, verdicts_of


def of_all(values=GOOD, name="realistic"):
    return experiment(name, by_name(values), ALL)


def few_lost(scenario, estimator, b, n):
    """The sweep is above ece_debias_ew, below ece_bin_ew, in 2 of 21 cells."""
    worse = n < 800 and GROUP[scenario] == "CIFAR-10" and estimator == "ece_sweep_em"
    return 1.9 if worse else GOOD[estimator]


test_r21_all_comparisons_in_both_settings = verdicts_of(
    "R21",
    lambda perfect: bias_table(of_all(), perfect),
    [
        (of_all(GOOD, "perfect"), "reproduced"),
        (experiment("perfect", few_lost, ALL), "approximate"),
        # one comparison in eight is reversed
        (of_all({**GOOD, "ece_sweep_em": 1.9}, "perfect"), "not_reproduced"),
        (of_all({**GOOD, "ece_sweep_em": 4.0, "ece_debias_em": 4.0}, "perfect"), "not_reproduced"),
    ],
)
