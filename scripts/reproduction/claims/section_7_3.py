"""R19 to R21: bias under perfect calibration, and in both settings (section 7.3, Figure 6)."""

import itertools
from collections import Counter

from pipeline.claims.evidence import by_estimator
from pipeline.claims.measurements import by_case
from pipeline.claims.verdicts import CLEAR, CONSISTENTLY, Verdict, claim, worded
from pipeline.scenarios.paper import BINNED, MODELS
from reproduction.claims.section_7_1 import KDES, curves_by_group
from reproduction.claims.section_7_1_t_test import SIGNIFICANT, paired_test
from reproduction.claims.tallies import (
    clearly_below,
    compared_curves,
    mean_abs,
    tally,
    tally_measurements,
    unrooted_note,
)

GOOD = ("ece_sweep_em", "ece_debias_em")
COMMON = ("ece_bin_ew", "ece_debias_ew")


@claim("R19", "§7.3, Fig 6", "bias", "fig6_perfect")
@worded(
    says="Under perfect calibration the KDE is least biased, and equal-mass debias next",
    published="KDE, then debias",
    rule=(
        "Mean |bias| over ten models × seven n at TCE = 0, among the KDE (with its p-th root) "
        f"and the six binned estimators: reproduced if the KDE is first by {CLEAR:g} standard "
        "errors and ece_debias_em second, approximate if only the KDE is first. The unrooted "
        "value is judged too."
    ),
    errors="± one Monte Carlo standard error",
)
def kde_then_debias(evidence):
    means = mean_abs(*by_estimator(evidence.bias("perfect", (*BINNED, *KDES))))
    orders, verdicts = {}, {}
    for kde in KDES:
        orders[kde] = order = [name for name in means if name in (*BINNED, kde)]
        first = order[0] == kde and clearly_below(means, kde, order[1])
        verdicts[kde] = Verdict.of(first and order[1] == "ece_debias_em", first)
    order = orders["kde"]
    places = {name: order.index(name) + 1 for name in ("kde", "ece_debias_em")}
    yield from by_case(f"place among {len(order)}", places)
    yield from by_case("mean |bias|", means, "percent")
    yield unrooted_note(verdicts)
    return verdicts["kde"], evidence.source("perfect", MODELS)


@claim("R20", "§7.3", "bias paired_t_test", "fig6_perfect")
@worded(
    says=(
        "Under perfect calibration equal-mass debias is significantly less biased than the "
        "equal-mass sweep"
    ),
    published="significantly lower; no number",
    rule=(
        "Paired t-test of |bias| over the 70 pairs under perfect calibration: reproduced if "
        f"ece_debias_em has the smaller mean with p < {SIGNIFICANT}, approximate if only the "
        "smaller mean."
    ),
    errors="± one Monte Carlo standard error",
)
def perfect_t_test(evidence):
    (a, b, _), _, p = yield from paired_test(evidence, "perfect")
    verdict = Verdict.of(a < b and p < SIGNIFICANT, a < b)
    return verdict, evidence.source("perfect", MODELS)


@claim("R21", "§7.3", "bias", "fig4_realistic fig6_perfect")
@worded(
    says=(
        "The equal-mass sweep and debias are less biased than ECE_bin and debias with equal "
        "widths, in both settings"
    ),
    published="consistently superior; no number",
    rule=(
        "|bias| of the curves of Figs 4 and 6, ece_sweep_em and ece_debias_em each against "
        "ece_bin_ew and ece_debias_ew, in both settings: 8 comparisons of 21 cells (three data "
        "sets × seven n). The claim is of all eight, so the worst of their verdicts counts, and "
        f"one reversed comparison refutes it. 'Consistently' is {CONSISTENTLY}."
    ),
    errors="Monte Carlo standard error of a difference, percentage points",
)
def both_beat_common_practice(evidence):
    tallies, largest = {}, []
    for experiment in ("realistic", "perfect"):
        curves = curves_by_group(evidence, experiment, BINNED)
        for good, common in itertools.product(GOOD, COMMON):
            advantage, error = compared_curves(curves, common, good)
            tallies[f"{experiment}: {good} over {common}"] = tally(advantage, error)
            largest.append(error.max())
    yield from tally_measurements("less biased", tallies)
    verdicts = {name: t.verdict() for name, t in tallies.items()}
    counts = [f"{n} {v.words}" for v, n in Counter(verdicts.values()).items()]
    yield f"of {len(tallies)} comparisons {', '.join(counts)}"
    failed = {name: t for name, t in tallies.items() if verdicts[name] == Verdict.NOT_REPRODUCED}
    for name, t in (failed | tallies).items():
        if name in failed and t.losses <= t.wins:
            yield f"{name} is not consistent: clearly less biased in {t.wins} of {t.cells} cells"
        elif t.losses:
            how = "reversed: " * (name in failed)
            yield f"{name} is {how}clearly more biased in {t.losses} of {t.cells} cells"
    return Verdict.worst(verdicts.values()), evidence.source("realistic", MODELS), max(largest)
