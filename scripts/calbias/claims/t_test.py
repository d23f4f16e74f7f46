"""R11 and R20: the paired t-tests of debias against sweep (§7.1, §7.3)."""

import numpy as np

from calbias.claims.evidence import by_estimator
from calbias.claims.judgement import CLEAR, Judgement, Rule, verdict_of
from calbias.claims.tallies import error_of_mean
from calbias.summaries.paired_t_test import paired_t_test
from calbias.truth.paper import (
    DEBIAS_PERCENT,
    P_VALUE,
    ROUNDING,
    SAME_MEANS,
    SWEEP_PERCENT,
    T_STATISTIC,
)

PAIR = ("ece_debias_em", "ece_sweep_em")
SIGNIFICANT = 0.05
TOLERANCE_PERCENT = 0.02  # of a mean |bias|


def realistic_t_test(evidence):
    """R11: the test of §7.1 in size and in sign."""
    row, errors = t_test_row(evidence, "realistic")
    a, b = row["mean_abs_bias_a_percent"], row["mean_abs_bias_b_percent"]
    t, p = row["t_statistic"], row["p_value"]
    off = np.abs([a - DEBIAS_PERCENT, b - SWEEP_PERCENT])
    near = (off <= TOLERANCE_PERCENT + CLEAR * errors).all()
    verdict = verdict_of(a > b and p < P_VALUE and near, a > b and p < SIGNIFICANT)
    return Judgement(
        verdict,
        f"{a:.3f} vs {b:.3f}, t = {t:.2f}, p = {p:.2g}; each mean ± {errors.max():.3f} at most; "
        f"{row['degrees_of_freedom']:.0f} degrees of freedom",
        "± one Monte Carlo standard error" + rounding_words(evidence),
        evidence.source("realistic", evidence.published_models()),
        sensitivity_words(evidence),
    )


def perfect_t_test(evidence):
    """R20: the same test under perfect calibration."""
    row, errors = t_test_row(evidence, "perfect")
    a, b = row["mean_abs_bias_a_percent"], row["mean_abs_bias_b_percent"]
    t, p = row["t_statistic"], row["p_value"]
    return Judgement(
        verdict_of(a < b and p < SIGNIFICANT, a < b),
        f"mean |bias| debias_em {a:.3f} vs sweep_em {b:.3f} %, t = {t:.2f}, p = {p:.2g}; each "
        f"mean ± {errors.max():.3f} at most; {row['n_pairs']:.0f} pairs",
        "± one Monte Carlo standard error",
        evidence.source("perfect", evidence.published_models()),
    )


def t_test_row(evidence, experiment):
    """Return the row debias_em against sweep_em over the paper's 70 pairs, as in table
    ``paired_t_test``, and the standard errors (2,) of its two means, in percent."""
    rows = evidence.bias(experiment, PAIR)
    bias, se = (by_estimator(rows, column) for column in ("bias_percent", "bias_se_percent"))
    return paired_t_test(bias.abs(), *PAIR), error_of_mean(se[list(PAIR)]).to_numpy()


def rounding_words(evidence):
    """Return how far the rounding of the printed parameters moves the test, as text."""
    table = evidence.tables.get("t_test_sensitivity")
    if table is None:
        return ""
    draws = table[table["choice"].str.startswith(ROUNDING)]
    if draws.empty:
        return ""
    ranges = [
        f"{draws[column].min():.3f} to {draws[column].max():.3f}"
        for column in ("mean_abs_bias_a_percent", "mean_abs_bias_b_percent")
    ]
    return (
        f"; parameters drawn within their rounding: {ranges[0]} vs {ranges[1]}, t "
        f"{draws['t_statistic'].min():.2f} to {draws['t_statistic'].max():.2f} ({len(draws)} draws)"
    )


def sensitivity_words(evidence):
    """Return under which open choices the sign is as published, and which comes nearest, as text.

    Choices that change t or p alone, and draws of the printed parameters, are not counted. Nearest
    by the relative differences of both means and t.
    """
    table = evidence.tables.get("t_test_sensitivity")
    if table is None or table.empty:
        return ""
    table = table[~table["choice"].str.startswith(ROUNDING)]
    others = table[~table["choice"].isin(SAME_MEANS)]
    keeps = others["t_statistic"] > 0
    published = np.array([DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC])
    columns = ["mean_abs_bias_a_percent", "mean_abs_bias_b_percent", "t_statistic"]
    best = table.loc[((table[columns] / published - 1) ** 2).sum(axis=1).idxmin()]
    counted = [
        f"{len(others)} other choices open to the authors have means of their own: "
        f"{keeps.sum()} keep the published sign ({', '.join(others.loc[keeps, 'choice'])})"
    ]
    if not keeps.all():
        counted.append(f"the others reverse it ({', '.join(others.loc[~keeps, 'choice'])})")
    nearest = (
        f"nearest to the published numbers is {best['choice']} ({best['description']}): "
        f"{best[columns[0]]:.3f} vs {best[columns[1]]:.3f}, t = {best[columns[2]]:.2f}, "
        f"p = {best['p_value']:.1g} (table t_test_sensitivity)"
    )
    return "; ".join([*counted, nearest] if len(others) else [nearest])


RULES = {
    "R11": Rule(
        f"Reproduced if ece_debias_em has the larger mean |bias|, p < {P_VALUE:g}, and both means "
        f"are within {TOLERANCE_PERCENT:g} (and {CLEAR:g} Monte Carlo standard errors) of "
        f"{DEBIAS_PERCENT} and {SWEEP_PERCENT}; approximate if it has the larger mean with "
        f"p < {SIGNIFICANT}.",
        realistic_t_test,
    ),
    "R20": Rule(
        f"Paired t-test of |bias| over the 70 pairs under perfect calibration: reproduced if "
        f"ece_debias_em has the smaller mean with p < {SIGNIFICANT}, approximate if only the "
        "smaller mean.",
        perfect_t_test,
    ),
}
