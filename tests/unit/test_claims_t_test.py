"""R11 and R20: thresholds of the paired t-tests, on biases whose t is known."""

import itertools

import numpy as np
import pytest
from claims_data import NAMES, experiment, judged, measured, verdicts_of

from calbias.truth.paper import MODEL_SIZES as SIZES

CELLS = list(itertools.product(NAMES, SIZES))


def pairs(debias, sweep, spread, name="realistic", se=0.002):
    """70 pairs with these means, whose difference is off by ± ``spread`` in turn.

    t is √69 times the mean difference over the spread; the error of a mean is se / √70.
    """

    def bias(scenario, estimator, b, n):
        turn = spread / 2 * (-1) ** CELLS.index((scenario, n))
        return debias + turn if estimator == "ece_debias_em" else sweep - turn

    return experiment(name, bias, ["ece_debias_em", "ece_sweep_em"], se=se)


test_r11_wants_small_p_and_both_means = verdicts_of(
    "R11",
    pairs,
    [
        (0.504, 0.347, 0.26, "reproduced"),  # p = 4e-6
        (0.504, 0.347, 0.28, "approximate"),  # 1.5e-5
        (0.504, 0.347, 0.68, "not_reproduced"),  # 0.059
        (0.347, 0.504, 0.10, "not_reproduced"),  # the other sign
        (0.504 + 0.0205, 0.347, 0.1, "reproduced"),  # within 0.02 + 3 × 0.00024
        (0.504 + 0.0210, 0.347, 0.1, "approximate"),
        (0.504, 0.347 - 0.0210, 0.1, "approximate"),
    ],
)
test_r20_wants_a_significant_difference = verdicts_of(
    "R20",
    lambda *of: pairs(*of, "perfect", se=0.05),
    [
        (1.30, 1.50, 0.82, "reproduced"),  # p = 0.047
        (1.30, 1.50, 0.85, "approximate"),  # 0.055
        (1.50, 1.30, 0.10, "not_reproduced"),
    ],
)


def test_r11_measures_t_and_the_errors_of_the_means():
    judgement = judged("R11", bias=pairs(0.504, 0.347, 0.26, se=0.06))
    t = measured(judgement, "t of the paired test").value
    assert t == pytest.approx(0.157 * np.sqrt(69) / 0.26)
    mean = measured(judgement, "mean |bias| of ece_sweep_em")
    assert mean.error == pytest.approx(0.06 / np.sqrt(70))
