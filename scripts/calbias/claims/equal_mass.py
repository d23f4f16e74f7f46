"""R09: bins of equal mass against bins of equal width on the fitted models (§7.1, Figure 4)."""

from calbias.claims.evidence import BINNED, group_curves
from calbias.claims.judgement import CLEAR, Judgement, Rule, worst_of
from calbias.claims.tallies import CONSISTENTLY, abs_difference, by_cells, tally

FAMILIES = ("bin", "debias", "sweep")


def equal_mass_beats_equal_width(evidence):
    """R09: |bias| of Fig 4's curves, em against ew, each family judged over data sets and n."""
    curves = group_curves(evidence.bias("realistic", BINNED), evidence.groups())
    means, tallies, exceptions, errors = [], {}, [], []
    for family in FAMILIES:
        ew, em = (by_cells(curves, f"ece_{family}_{s}") for s in ("ew", "em"))
        advantage, error = abs_difference(ew["bias"], ew["se"], em["bias"], em["se"])
        tallies[family] = tally(advantage, error)
        means.append(f"{family} {ew['bias'].abs().mean():.3f} → {em['bias'].abs().mean():.3f}")
        errors.append(error.max())
        lost = advantage.index[advantage < -CLEAR * error]
        exceptions += [f"{family} {group} n = {n}" for group, n in lost]
    return Judgement(
        worst_of(t.verdict() for t in tallies.values()),
        f"mean |bias| ew → em, percent: {', '.join(means)}; "
        + "; ".join(
            f"{family}: em less biased {t.words()} ({t.verdict().replace('_', ' ')})"
            for family, t in tallies.items()
        ),
        f"Monte Carlo standard error of a difference ≤ {max(errors):.3f}",
        evidence.source("realistic", evidence.published_models()),
        f"ew is clearly less biased at: {', '.join(exceptions)}" if exceptions else "",
    )


RULES = {
    "R09": Rule(
        "|bias| of the curves of Fig 4 (averaged over the architectures of a data set), em against "
        "ew, for bin, debias and sweep each over 21 cells: three data sets × seven n. The claim is "
        "of all three, so the worst of their three verdicts counts. 'Consistently' is "
        f"{CONSISTENTLY}.",
        equal_mass_beats_equal_width,
    ),
}
