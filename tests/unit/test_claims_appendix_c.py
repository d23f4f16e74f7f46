"""R22 to R24: rules on bias and estimates as the true calibration error grows."""

import numpy as np
import pandas as pd
import pytest
from claims_data import judged, measured, sweep, verdicts_of

from calbias.claims.appendix_c import SCORES, tce_at
from calbias.claims.verdicts import NotJudged


def hypotenuse(tce, scores, n, name):
    noise = 10.9 if n == 200 else 2.1
    if name == "ece_sweep_em":
        noise *= 0.6
    elif scores != "Uniform":
        noise *= 0.82
    return np.hypot(tce, noise)


def broken(rising, low):
    """Curves whose first ones rise and whose last ones are greatest in magnitude at the end."""
    names = ("ece_bin_ew", "ece_sweep_em")
    curves = [(scores, n, name) for scores in SCORES for n in (200, 5000) for name in names]

    def estimate(tce, *curve):
        k = curves.index(curve)
        if k < rising:
            return tce + (5 if tce == 0 else 1 + tce / 30)  # rises, but is greatest at 0
        return tce + 3 - tce / (1 if k >= 8 - low else 30)  # falls, the last ones to −27

    return estimate


def bump(height):
    return lambda t, s, n, e: t + 3 + (height if t == 0.5 else -t / 30)


test_r22_greatest_at_zero_and_falling = verdicts_of(
    "R22",
    sweep,
    [
        (hypotenuse, "reproduced"),
        (lambda t, s, n, e: t + 1 + 0.1 * t, "not_reproduced"),  # the bias rises
        (lambda t, s, n, e: t + 2 - abs(t - 15) / 10, "not_reproduced"),  # greatest in between
        (lambda t, s, n, e: t + 2 - t / 2, "not_reproduced"),  # falls throughout, to −13
        (broken(2, 0), "approximate"),  # six of eight curves fulfil each condition
        (broken(2, 2), "approximate"),
        (broken(3, 0), "not_reproduced"),
        (broken(0, 3), "not_reproduced"),
        (bump(0.042), "reproduced"),  # within three standard errors of the bias at 0
        (bump(0.043), "not_reproduced"),
    ],
)


@pytest.mark.parametrize(("least", "verdict"), [(18.5, "reproduced"), (18, "not_reproduced")])
def test_r22_falls_where_the_rank_correlation_is_minus_one_half(least, verdict):
    """The bias falls to 1 at a TCE and rises again; ranks correlate by −0.54 or −0.48."""
    judgement = judged("R22", bias=sweep(lambda t, s, n, e: t + 1 + abs(t - least) / 30))
    assert judgement.verdict == verdict
    assert measured(judgement, "curves of 8 with the greatest |bias| at TCE 0").value == 8


def off_by(usual, swept):
    bias = {"ece_bin_ew": usual, "ece_sweep_em": swept}
    return lambda t, s, n, e: t + bias[e]


test_r23_two_percent_at_5000 = verdicts_of(
    "R23",
    sweep,
    [
        (hypotenuse, "reproduced"),
        (lambda t, s, n, e: hypotenuse(t, s, n, "ece_bin_ew"), "not_reproduced"),  # no reduction
        (lambda t, s, n, e: 0.3 * hypotenuse(t, s, n, e), "not_reproduced"),  # hardly off
        (off_by(2.49, 1.0), "reproduced"),
        (off_by(2.51, 1.0), "approximate"),
        (off_by(1.49, 1.0), "approximate"),
        (off_by(1.01, 0.5), "approximate"),
        (off_by(0.99, 0.5), "not_reproduced"),
        (off_by(2.00, 1.93), "reproduced"),  # reduced by 0.07, three of both errors are 0.06
        (off_by(2.00, 1.95), "not_reproduced"),
    ],
)


test_r24_five_or_eight_percent = verdicts_of(
    "R24",
    lambda uniform, other: sweep(
        lambda t, s, n, e: t + 12 - (uniform if s == "Uniform" else other)
    ),
    [
        *((5.4, 7.6, "reproduced"), (8.0, 5.0, "reproduced"), (5.6, 8.0, "approximate")),
        *((5.9, 7.0, "approximate"), (6.1, 7.0, "not_reproduced"), (20.0, 8.0, "not_reproduced")),
    ],
)


def test_r24_error_is_that_of_the_estimate_over_the_slope():
    table = sweep(lambda t, s, n, e: 12 + 2 * (t - (5 if s == "Uniform" else 8)))
    found = judged("R24", bias=table.assign(bias_se_percent=0.1)).measurements
    assert [(m.value, m.error) for m in found] == [pytest.approx((x, 0.05)) for x in (5, 8)]


def test_tce_at_interpolates_and_says_when_there_is_none():
    curve = pd.DataFrame({"tce_percent": [0, 2, 4], "mean_estimate_percent": [10.0, 11.0, 13.0]})
    assert tce_at(curve, 12.0) == pytest.approx(3.0)
    assert np.isnan(tce_at(curve, 5.0))


def test_sweeps_of_few_points_are_not_judged():
    table = sweep(hypotenuse)
    with pytest.raises(NotJudged, match="the rule wants 50"):
        judged("R22", bias=table[table["tce_percent"] < 10])
