"""R10, R12, R13: bias on the fitted models (§7.1, Figure 4)."""

import numpy as np

from calbias.claims.evidence import BINNED, SIZES, by_estimator, group_curves
from calbias.claims.judgement import CLEAR, Judgement, Rule, verdict_of
from calbias.claims.similarity import groups_matter
from calbias.claims.tallies import (
    abs_difference,
    clearly_below,
    clearly_better,
    error_of_mean,
    mean_abs,
    ranked_words,
    ranking,
    unrooted_words,
)

FAR = 2.0


def sweep_then_debias(evidence):
    """R10: ranking of mean |bias| over 70 cells, by n and by data set, and debias − sweep by n."""
    rows = evidence.bias("realistic", (*BINNED, "kde"))
    bias, se = (by_estimator(rows, column) for column in ("bias_percent", "bias_se_percent"))
    means = mean_abs(bias, se)
    order = ranking(means)
    first = order[0] == "ece_sweep_em" and clearly_below(means, "ece_sweep_em", order[1])
    second = order[:2] == ["ece_sweep_em", "ece_debias_em"]
    gap, error = gap_by_n(bias, se)
    small, large = SIZES[0], SIZES[-1]
    shrinks = gap[small] - gap[large] > CLEAR * np.hypot(error[small], error[large])
    beaten = exceptions(bias, se, evidence.groups())
    notes = [] if first and second else [f"least biased over all are {order[0]} and {order[1]}"]
    notes += [f"{where}: less biased than ece_sweep_em is {words}" for where, words in beaten]
    return Judgement(
        verdict_of(
            first and second and shrinks and not beaten,
            order[0] == "ece_sweep_em" and (second or shrinks),
        ),
        f"least mean |bias|: {order[0]} {means[order[0]][0]:.3f}, {order[1]} "
        f"{means[order[1]][0]:.3f}, {order[2]} {means[order[2]][0]:.3f} %; clearly beaten at "
        f"{len([w for w, _ in beaten if w.startswith('n =')])} of {len(SIZES)} n; debias_em − "
        f"sweep_em {gap[small]:+.3f} ± {error[small]:.3f} at n = {small}, {gap[large]:+.3f} ± "
        f"{error[large]:.3f} at n = {large}; all: {ranked_words(means)}",
        "± one Monte Carlo standard error",
        evidence.source("realistic", evidence.published_models()),
        "; ".join(notes),
    )


def gap_by_n(bias, se):
    """Return the mean of |debias_em| − |sweep_em| by n, and its standard error, in percent."""
    gap, error = abs_difference(
        *(x["ece_debias_em"] for x in (bias, se)), *(x["ece_sweep_em"] for x in (bias, se))
    )
    return gap.groupby("n_samples").mean(), error.groupby("n_samples").agg(error_of_mean)


def exceptions(bias, se, groups):
    """Return [(where, words)]: the sample sizes and the data sets in which the mean |bias| of
    another estimator is clearly below that of ece_sweep_em."""
    n_samples = bias.index.get_level_values("n_samples")
    data_sets = bias.index.get_level_values("scenario").map(groups)
    places = [(f"n = {n}", n_samples == n) for n in SIZES]
    places += [(name, data_sets == name) for name in dict.fromkeys(groups.values())]
    found = []
    for where, cells in places:
        means = mean_abs(bias[cells], se[cells])
        better = clearly_better(means, "ece_sweep_em")
        if better:
            words = ", ".join(f"{name} {value:.3f}" for name, value in better.items())
            found.append((where, f"{words} against {means['ece_sweep_em'][0]:.3f}"))
    return found


def kde_is_far_more_biased(evidence):
    """R12: mean |bias| of the KDE against the worst binned estimator in each data set."""
    kdes = ("kde", "kde_unrooted")
    curves = group_curves(evidence.bias("realistic", (*BINNED, *kdes)), evidence.groups())
    means = curves.assign(bias=curves["bias"].abs()).pivot_table(
        index="group", columns="estimator", values="bias", sort=False
    )
    ratios = {kde: means[kde] / means[list(BINNED)].max(axis=1) for kde in kdes}
    verdicts = {k: verdict_of((r > FAR).all(), (r > 1).all()) for k, r in ratios.items()}
    words = [
        f"{kde} / worst binned estimator: "
        + ", ".join(f"{group} {ratio:.2f}" for group, ratio in ratio_of.items())
        for kde, ratio_of in ratios.items()
    ]
    return Judgement(
        verdicts["kde"],
        "; ".join(words),
        f"Monte Carlo standard error of a bias in Fig 4 ≤ {curves['se'].max():.3f}",
        evidence.source("realistic", evidence.published_models()),
        unrooted_words(verdicts),
    )


def architectures_look_alike(evidence):
    """R13: curves of bias over n, within against between data sets."""
    rows = evidence.bias("realistic", (*BINNED, "kde"))
    groups = evidence.groups()
    results = {}
    for estimator, cells in rows.groupby("estimator", sort=False):
        curves = cells.pivot(index="scenario", columns="n_samples", values="bias_percent")
        results[estimator] = groups_matter(
            [tuple(curves.loc[model]) for model in groups], list(groups.values()), rms
        )
    ratios = [r.ratio for r in results.values()]
    less = [name for name, r in results.items() if not (r.ratio < 0.5 and r.p_value < 0.05)]
    matter = sum(r.ratio < 1 and r.p_value < 0.05 for r in results.values())
    return Judgement(
        verdict_of(not less, matter > len(results) / 2),
        f"distance of bias curves within / between data sets: {min(ratios):.2f} to "
        f"{max(ratios):.2f}, below 0.5 with p < 0.05 for {len(results) - len(less)} of "
        f"{len(results)} estimators; "
        + "; ".join(f"{e} {r.ratio:.2f} (p = {r.p_value:.4f})" for e, r in results.items()),
        "p: exact, over all ways to group the ten models",
        evidence.source("realistic", list(groups)),
        f"less alike are the curves of {', '.join(less)}" if less else "",
    )


def rms(a, b):
    """Return the root mean square difference of two curves."""
    return float(np.sqrt(np.mean((np.asarray(a) - np.asarray(b)) ** 2)))


RULES = {
    "R10": Rule(
        "Mean |bias| over ten models × seven n. Four conditions: ece_sweep_em has the least of the "
        f"seven estimators by {CLEAR:g} standard errors; ece_debias_em is second; the gap "
        "|debias_em| − |sweep_em| is clearly larger at n = 200 than at 12 800; and, 'across the "
        "three datasets and various sample sizes', no other estimator has a mean below "
        f"ece_sweep_em by {CLEAR:g} standard errors at any n (over the models) or in any data set "
        "(over its models and n). Reproduced if all hold, approximate if ece_sweep_em has the "
        "least mean and the second or the third condition holds.",
        sweep_then_debias,
    ),
    "R12": Rule(
        "Mean |bias| over n of Fig 4's curves of the KDE (with its p-th root), divided by that of "
        f"the worst binned estimator. Reproduced if above {FAR:g} in all three data sets, "
        "approximate if above 1 in all. The unrooted value is judged beside it.",
        kde_is_far_more_biased,
    ),
    "R13": Rule(
        "For each of seven estimators: mean root-mean-square distance between the curves of bias "
        "over n, of models within a data set divided by that of models of different data sets. "
        "Reproduced if every ratio is below 0.5 with a permutation p < 0.05 over all ways to group "
        "the models, approximate if most ratios are below 1 with p < 0.05.",
        architectures_look_alike,
    ),
}
