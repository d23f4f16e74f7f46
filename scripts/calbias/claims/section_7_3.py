"""R19 to R21: bias under perfect calibration, and in both settings (section 7.3, Figure 6)."""

import itertools

from calbias.claims.evidence import by_estimator
from calbias.claims.measurements import by_case
from calbias.claims.section_7_1 import curves_by_group
from calbias.claims.section_7_1_t_test import SIGNIFICANT, in_measurements, paired_test
from calbias.claims.tallies import (
    CONSISTENTLY,
    clearly_below,
    compared_curves,
    mean_abs,
    mean_abs_measurements,
    ranking,
    tally,
    tally_measurements,
    unrooted_note,
)
from calbias.claims.verdicts import (
    CLEAR,
    NOT_REPRODUCED,
    Judgement,
    claim,
    in_plain_words,
    verdict_of,
    worst_of,
)
from calbias.truth.paper import BINNED, MODELS

GOOD = ("ece_sweep_em", "ece_debias_em")
COMMON = ("ece_bin_ew", "ece_debias_ew")


@claim(
    "R19",
    "§7.3, Fig 6",
    says="Under perfect calibration the KDE is least biased, and equal-mass debias next",
    published="KDE, then debias",
    figures="fig6_perfect",
    tables="bias",
    rule="Mean |bias| over ten models × seven n at TCE = 0, among the KDE (with its p-th root) and "
    f"the six binned estimators: reproduced if the KDE is first by {CLEAR:g} standard errors "
    "and ece_debias_em second, approximate if only the KDE is first. The unrooted value is "
    "judged beside it.",
    uncertainty="± one Monte Carlo standard error",
)
def kde_then_debias(evidence):
    rows = evidence.bias("perfect", (*BINNED, "kde", "kde_unrooted"))
    bias, se = by_estimator(rows)
    means = mean_abs(bias, se)
    verdicts = {kde: kde_ranked(means, kde) for kde in ("kde", "kde_unrooted")}
    order = ranking({name: means[name] for name in (*BINNED, "kde")})
    places = {name: order.index(name) + 1 for name in ("kde", "ece_debias_em")}
    return Judgement(
        verdicts["kde"],
        [*by_case(f"place among {len(order)}", places), *mean_abs_measurements(means)],
        evidence.source("perfect", MODELS),
        (unrooted_note(verdicts),),
    )


def kde_ranked(means, kde):
    """Return the verdict with one KDE among the six binned estimators."""
    means = {name: means[name] for name in (*BINNED, kde)}
    order = ranking(means)
    first = order[0] == kde and clearly_below(means, kde, order[1])
    return verdict_of(first and order[1] == "ece_debias_em", first)


@claim(
    "R20",
    "§7.3",
    says="Under perfect calibration equal-mass debias is significantly less biased than the "
    "equal-mass sweep",
    published="significantly lower; no number",
    figures="fig6_perfect",
    tables="bias paired_t_test",
    rule="Paired t-test of |bias| over the 70 pairs under perfect calibration: reproduced if "
    f"ece_debias_em has the smaller mean with p < {SIGNIFICANT}, approximate if only the "
    "smaller mean.",
    uncertainty="± one Monte Carlo standard error",
)
def perfect_t_test(evidence):
    test = paired_test(evidence, "perfect")
    a, b, _ = test.values
    return Judgement(
        verdict_of(a < b and test.p_value < SIGNIFICANT, a < b),
        in_measurements(test),
        evidence.source("perfect", MODELS),
    )


@claim(
    "R21",
    "§7.3",
    says="The equal-mass sweep and debias are less biased than ECE_bin and debias with equal "
    "widths, in both settings",
    published="consistently superior; no number",
    figures="fig4_realistic fig6_perfect",
    tables="bias",
    rule="|bias| of the curves of Figs 4 and 6, ece_sweep_em and ece_debias_em each against "
    "ece_bin_ew and ece_debias_ew, in both settings: 8 comparisons of 21 cells (three data "
    "sets × seven n). The claim is of all eight, so the worst of their verdicts counts, and "
    f"one reversed comparison refutes it. 'Consistently' is {CONSISTENTLY}.",
    uncertainty="Monte Carlo standard error of a difference, percentage points",
)
def both_beat_common_practice(evidence):
    tallies, errors = {}, []
    for experiment in ("realistic", "perfect"):
        curves = curves_by_group(evidence, experiment, BINNED)
        for good, common in itertools.product(GOOD, COMMON):
            advantage, error = compared_curves(curves, common, good)
            tallies[f"{experiment}: {good} over {common}"] = tally(advantage, error)
            errors.append(error.max())
    return Judgement(
        worst_of(t.verdict() for t in tallies.values()),
        tally_measurements("less biased", tallies),
        evidence.source("realistic", MODELS),
        comparison_notes(tallies),
        max(errors),
    )


def comparison_notes(tallies):
    """Return how many comparisons have which verdict, and the ones that fail."""
    verdicts = [t.verdict() for t in tallies.values()]
    counts = [f"{verdicts.count(v)} {in_plain_words(v)}" for v in dict.fromkeys(verdicts)]
    failed, others = [], []
    for name, t in tallies.items():
        worse = f"clearly more biased in {t.losses} of {t.cells} cells"
        if t.verdict() == NOT_REPRODUCED:
            better = f"not consistent: clearly less biased in {t.wins} of {t.cells} cells"
            failed.append(f"{name} is {f'reversed: {worse}' if t.losses > t.wins else better}")
        elif t.losses:
            others.append(f"{name} is {worse}")
    return (f"of {len(tallies)} comparisons {', '.join(counts)}", *failed, *others)
