"""R19 and R21: bias under perfect calibration, and in both settings (§7.3, Figure 6)."""

from calbias.claims.evidence import BINNED, by_estimator, group_curves
from calbias.claims.judgement import (
    CLEAR,
    NOT_REPRODUCED,
    VERDICTS,
    Judgement,
    Rule,
    verdict_of,
    worst_of,
)
from calbias.claims.tallies import (
    CONSISTENTLY,
    abs_difference,
    by_cells,
    clearly_below,
    mean_abs,
    ranked_words,
    ranking,
    tally,
    unrooted_words,
)

GOOD = ("ece_sweep_em", "ece_debias_em")
COMMON = ("ece_bin_ew", "ece_debias_ew")


def kde_then_debias(evidence):
    """R19: ranking of mean |bias| over 70 cells at TCE = 0, by the rooted and unrooted KDE."""
    rows = evidence.bias("perfect", (*BINNED, "kde", "kde_unrooted"))
    bias, se = (by_estimator(rows, column) for column in ("bias_percent", "bias_se_percent"))
    means = mean_abs(bias, se)
    verdicts = {kde: kde_ranked(means, kde) for kde in ("kde", "kde_unrooted")}
    return Judgement(
        verdicts["kde"],
        f"mean |bias|: {placed(means, 'kde')}, {placed(means, 'ece_debias_em')}; all: "
        f"{ranked_words(means)}",
        "± one Monte Carlo standard error, percent",
        evidence.source("perfect", evidence.published_models()),
        unrooted_words(verdicts),
    )


def placed(means, name):
    """Return an estimator's mean |bias| and place among the rooted KDE and the binned, as text."""
    order = ranking({other: means[other] for other in (*BINNED, "kde")})
    return f"{name} {means[name][0]:.3f} % (place {order.index(name) + 1} of {len(order)})"


def kde_ranked(means, kde):
    """Return the verdict with one KDE among the six binned estimators."""
    means = {name: means[name] for name in (*BINNED, kde)}
    order = ranking(means)
    first = order[0] == kde and clearly_below(means, kde, order[1])
    return verdict_of(first and order[1] == "ece_debias_em", first)


def both_beat_common_practice(evidence):
    """R21: |bias| of the curves of Figs 4 and 6, two good estimators against two common ones."""
    tallies, errors = {}, []
    for experiment in ("realistic", "perfect"):
        curves = group_curves(evidence.bias(experiment, BINNED), evidence.groups())
        for good in GOOD:
            for common in COMMON:
                a, b = by_cells(curves, common), by_cells(curves, good)
                advantage, error = abs_difference(a["bias"], a["se"], b["bias"], b["se"])
                tallies[f"{experiment}: {good} over {common}"] = tally(advantage, error)
                errors.append(error.max())
    verdicts = {name: t.verdict() for name, t in tallies.items()}
    counts = [f"{list(verdicts.values()).count(v)} {v.replace('_', ' ')}" for v in VERDICTS[:3]]
    return Judgement(
        worst_of(verdicts.values()),
        f"of {len(tallies)} comparisons {', '.join(counts)}; "
        + "; ".join(
            f"{name} {t.words()} ({verdicts[name].replace('_', ' ')})"
            for name, t in tallies.items()
        ),
        f"Monte Carlo standard error of a difference ≤ {max(errors):.3f} percentage points",
        evidence.source("realistic", evidence.published_models()),
        failed_words(tallies),
    )


def failed_words(tallies):
    """Return a note on the comparisons that fail, as text."""
    failed = [
        f"{name} is "
        + (
            f"reversed: clearly more biased in {t.losses} of {t.cells} cells"
            if t.losses > t.wins
            else f"not consistent: clearly less biased in {t.wins} of {t.cells} cells"
        )
        for name, t in tallies.items()
        if t.verdict() == NOT_REPRODUCED
    ]
    others = [
        f"{name} is clearly more biased in {t.losses} of {t.cells} cells"
        for name, t in tallies.items()
        if t.losses and t.verdict() != NOT_REPRODUCED
    ]
    return "; ".join(failed + others)


RULES = {
    "R19": Rule(
        "Mean |bias| over ten models × seven n at TCE = 0, among the KDE (with its p-th root) and "
        f"the six binned estimators: reproduced if the KDE is first by {CLEAR:g} standard errors "
        "and ece_debias_em second, approximate if only the KDE is first. The unrooted value is "
        "judged beside it.",
        kde_then_debias,
    ),
    "R21": Rule(
        "|bias| of the curves of Figs 4 and 6, ece_sweep_em and ece_debias_em each against "
        "ece_bin_ew and ece_debias_ew, in both settings: 8 comparisons of 21 cells (three data "
        "sets × seven n). The claim is of all eight, so the worst of their verdicts counts, and "
        f"one reversed comparison refutes it. 'Consistently' is {CONSISTENTLY}.",
        both_beat_common_practice,
    ),
}
