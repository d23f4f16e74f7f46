"""R11: the paired t-test of debias against sweep (section 7.1); R20 rests on the same test."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from pipeline.claims.grounds import Grounds, by_estimator
from pipeline.claims.verdicts import CLEAR, NAN, Measurement, Ruling, Verdict, claim
from pipeline.paper import DEBIAS_PERCENT, MODELS, P_VALUE, SWEEP_PERCENT, T_STATISTIC
from reproduction.bias import ROUNDING, SAME_MEANS, error_of_mean, paired_t_test

PAIR = ("ece_debias_em", "ece_sweep_em")
SIGNIFICANT = 0.05
TOLERANCE_PERCENT = 0.02  # of a mean |bias|
COLUMNS = ["mean_abs_bias_a_percent", "mean_abs_bias_b_percent", "t_statistic"]
NAMES = (*(f"mean |bias| of {name}" for name in PAIR), "t of the paired test")
UNITS = ("percent", "percent", "")
PUBLISHED = (DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC)


class PairedTest(NamedTuple):
    """Both mean |bias| and t, (3,), percent, with their Monte Carlo errors (3,), and p."""

    measurements: list[Measurement]
    values: np.ndarray
    errors: np.ndarray
    p_value: float


def paired_test(
    grounds: Grounds,
    experiment: str,
    published: tuple[float, ...] = (NAN,) * 3,
    p_value: float = NAN,
) -> PairedTest:
    """Return the test over 70 pairs, of table ``paired_t_test``, beside the published numbers."""
    bias, se = by_estimator(grounds.bias(experiment, PAIR))
    row = paired_t_test(bias.abs(), *PAIR)
    a, b = PAIR
    of_t = t_error(bias[a].abs() - bias[b].abs(), np.hypot(se[a], se[b]))
    values, errors = np.array([row[name] for name in COLUMNS]), [*error_of_mean(se[[a, b]]), of_t]
    measurements = []
    for name, value, unit, error, printed in zip(
        NAMES, values, UNITS, errors, published, strict=True
    ):
        of_paper = error * grounds.error_ratio(experiment) if printed == printed else NAN
        measurements.append(Measurement(name, value, unit, "", error, NAN, NAN, printed, of_paper))
    p = "p of the paired test" + f", published as < {p_value:g}" * (p_value == p_value)
    measurements += [
        Measurement(p, row["p_value"], published=p_value),
        Measurement("pairs", row["n_pairs"]),
    ]
    return PairedTest(measurements, values, np.array(errors), row["p_value"])


def t_error(differences: np.ndarray, errors: np.ndarray) -> float:
    """Return the error of the t of ``differences`` (k,), to first order in their ``errors`` (k,).

    Pairs count as independent; they share data sets, so that the error is rather too large.
    """
    k, mean, sd = len(differences), differences.mean(), differences.std(ddof=1)
    slopes = np.sqrt(k) * (1 / (k * sd) - mean * (differences - mean) / ((k - 1) * sd**3))
    return float(np.sqrt(np.sum((slopes * errors) ** 2)))


@claim(
    "R11",
    "§7.1",
    "bias paired_t_test t_test_sensitivity",
    "fig4_realistic",
    says="A paired t-test finds the equal-mass sweep less biased than equal-mass debias",
    published=f"{DEBIAS_PERCENT} vs {SWEEP_PERCENT}, t = 5.10, p < 1e-5",
    rule=(
        f"Reproduced if ece_debias_em has the larger mean |bias|, p < {P_VALUE:g}, and both means "
        f"are within {TOLERANCE_PERCENT:g} (and {CLEAR:g} Monte Carlo standard errors) of "
        f"{DEBIAS_PERCENT} and {SWEEP_PERCENT}; approximate if it has the larger mean with p < "
        f"{SIGNIFICANT}."
    ),
    errors=(
        "± one Monte Carlo standard error; ranges: parameters drawn within the rounding of the "
        "printed ones (table t_test_sensitivity)"
    ),
)
def realistic_t_test(grounds: Grounds) -> Ruling:
    test = paired_test(grounds, "realistic", PUBLISHED, P_VALUE)
    (a, b, _), p = test.values, test.p_value
    measurements, notes = test.measurements, []
    table = grounds.tables.get("t_test_sensitivity")
    if table is not None and len(table):
        is_draw = table["choice"].str.startswith(ROUNDING)
        draws, words = table[is_draw], f", range of {is_draw.sum()} draws within rounding"
        ranges = zip(NAMES, UNITS, draws[COLUMNS].min(), draws[COLUMNS].max(), strict=True)
        for name, unit, low, high in ranges if len(draws) else ():
            measurements.append(Measurement(name + words, NAN, unit, low=low, high=high))
        notes = sensitivity_notes(table[~is_draw])
    off = np.abs([a - DEBIAS_PERCENT, b - SWEEP_PERCENT])
    near = bool((off <= TOLERANCE_PERCENT + CLEAR * test.errors[:2]).all())
    verdict = Verdict.of(a > b and p < P_VALUE and near, a > b and p < SIGNIFICANT)
    sign = "less" if a > b else "more"
    reason = (
        f"the sweep is {sign} biased, t = {test.values[2]:.2f}, p = {p:.0e} (printed "
        f"{T_STATISTIC:.2f}, < {P_VALUE:g})"
    )
    source = grounds.source("realistic", MODELS)
    return Ruling(verdict, measurements, source, notes, reason=reason)


def sensitivity_notes(table: pd.DataFrame) -> list[str]:
    """Return which open choices keep the sign, and which is nearest in both means and t."""
    others = table[~table["choice"].isin(SAME_MEANS)]
    keeps = others["t_statistic"] > 0
    notes = []
    if len(others):
        notes.append(
            f"{len(others)} other choices open to the authors have means of their own: "
            f"{keeps.sum()} keep the published sign ({', '.join(others.loc[keeps, 'choice'])})"
        )
    if not keeps.all():
        notes.append(f"the others reverse it ({', '.join(others.loc[~keeps, 'choice'])})")
    best = table.loc[((table[COLUMNS] / np.array(PUBLISHED) - 1) ** 2).sum(axis=1).idxmin()]
    a, b, t = best[COLUMNS]
    return [
        *notes,
        f"nearest to the published numbers is {best['choice']} ({best['description']}): {a:.3f} vs "
        f"{b:.3f}, t = {t:.2f}, p = {best['p_value']:.1g} (table t_test_sensitivity)",
    ]
