"""R09, R10, R12, R13: bias on the fitted models (section 7.1, Figure 4)."""

import numpy as np

from pipeline.claims.evidence import by_estimator
from pipeline.claims.measurements import POINTS, Measurement, by_case
from pipeline.claims.verdicts import CLEAR, CONSISTENTLY, Verdict, claim, worded
from pipeline.scenarios.paper import BINNED, MODEL_SIZES, MODELS
from reproduction.claims.section_7_1_t_test import PAIR, SIGNIFICANT
from reproduction.claims.similarity import groups_matter, similarity_measurements
from reproduction.claims.tallies import (
    abs_difference,
    clearly_below,
    compared_curves,
    mean_abs,
    tally,
    tally_measurements,
    unrooted_note,
)
from reproduction.summaries.bias_by_group import bias_by_group, error_of_mean

FAMILIES = ("bin", "debias", "sweep")
KDES = ("kde", "kde_unrooted")
FAR = 2.0
ALIKE = 0.5


def curves_by_group(evidence, experiment, estimators):
    """Return the curves of Figure 4 or 6: bias averaged over the models of a data set."""
    rows = evidence.bias(experiment, estimators)
    return bias_by_group(rows.assign(group=rows["scenario"].map(evidence.groups())))


@claim("R09", "§7.1, Fig 4", "bias", "fig4_realistic")
@worded(
    says=(
        "Bins of equal mass have less absolute bias than bins of equal width, for ECE_bin, "
        "debias and sweep"
    ),
    published="consistently; no number",
    rule=(
        "|bias| of the curves of Fig 4 (averaged over the architectures of a data set), em "
        "against ew, for bin, debias and sweep each over 21 cells: three data sets × seven n. "
        "The claim is of all three, so the worst of their three verdicts counts. 'Consistently' "
        f"is {CONSISTENTLY}."
    ),
    errors="Monte Carlo standard error of a difference",
)
def equal_mass_beats_equal_width(evidence):
    curves = curves_by_group(evidence, "realistic", BINNED)
    magnitude = curves["bias_percent"].abs().groupby(curves["estimator"]).mean()
    tallies, lost, largest = {}, [], []
    for family in FAMILIES:
        advantage, error = compared_curves(curves, f"ece_{family}_ew", f"ece_{family}_em")
        tallies[family] = tally(advantage, error)
        largest.append(error.max())
        places = advantage.index[advantage < -CLEAR * error]
        lost += [f"{family} {group} n = {n}" for group, n in places]
    means = {f"{f} {s}": magnitude[f"ece_{f}_{s}"] for f in FAMILIES for s in ("ew", "em")}
    yield from by_case("mean |bias|", means, "percent")
    yield from tally_measurements("em less biased", tallies)
    words = [f"{family} {t.verdict().words}" for family, t in tallies.items()]
    yield f"each alone: {', '.join(words)}"
    if lost:
        yield f"ew is clearly less biased at: {', '.join(lost)}"
    verdict = Verdict.worst(t.verdict() for t in tallies.values())
    return verdict, evidence.source("realistic", MODELS), max(largest)


@claim("R10", "§7.1, Fig 4", "bias", "fig4_realistic")
@worded(
    says=(
        "The equal-mass sweep has the least absolute bias and equal-mass debias the next; "
        "debias is behind mainly at small samples"
    ),
    published="sweep best, debias not as good at small n",
    rule=(
        "Mean |bias| over ten models × seven n. Four conditions: ece_sweep_em has the least of "
        f"the seven estimators by {CLEAR:g} standard errors; ece_debias_em is second; the gap "
        "|debias_em| − |sweep_em| is clearly larger at n = 200 than at 12 800; and, 'across the "
        "three datasets and various sample sizes', no other estimator has a mean below "
        f"ece_sweep_em by {CLEAR:g} standard errors at any n (over the models) or in any data set "
        "(over its models and n). Reproduced if all hold, approximate if ece_sweep_em has the "
        "least mean and the second or the third condition holds."
    ),
    errors="± one Monte Carlo standard error",
)
def sweep_then_debias(evidence):
    bias, se = by_estimator(evidence.bias("realistic", (*BINNED, "kde")))
    means = mean_abs(bias, se)
    order = list(means)
    first = order[0] == "ece_sweep_em" and clearly_below(means, "ece_sweep_em", order[1])
    second = order[:2] == ["ece_sweep_em", "ece_debias_em"]
    gap, error = abs_difference(*(x[name] for name in PAIR for x in (bias, se)))
    gap, error = gap.groupby("n_samples").mean(), error.groupby("n_samples").agg(error_of_mean)
    small, large = MODEL_SIZES[0], MODEL_SIZES[-1]
    shrinks = gap[small] - gap[large] > CLEAR * np.hypot(error[small], error[large])
    beaten = exceptions(bias, se, evidence.groups())
    yield from by_case("mean |bias|", means, "percent")
    places = f"sample sizes of {len(MODEL_SIZES)} at which it is clearly beaten"
    yield Measurement(places, sum(where.startswith("n =") for where in beaten))
    gaps = {f"n = {n}:": (gap[n], error[n]) for n in (small, large)}
    yield from by_case("|debias_em| − |sweep_em|", gaps, POINTS)
    if not (first and second):
        yield f"least biased over all are {order[0]} and {order[1]}"
    for where, words in beaten.items():
        yield f"{where}: less biased than ece_sweep_em is {words}"
    verdict = Verdict.of(
        first and second and shrinks and not beaten,
        order[0] == "ece_sweep_em" and (second or shrinks),
    )
    return verdict, evidence.source("realistic", MODELS)


def exceptions(bias, se, groups):
    """Return {where: words}: the n and the data sets that another estimator clearly wins."""
    n_samples = bias.index.get_level_values("n_samples")
    data_sets = bias.index.get_level_values("scenario").map(groups)
    places = {f"n = {n}": n_samples == n for n in MODEL_SIZES}
    places |= {name: data_sets == name for name in groups.values()}
    found = {}
    for where, cells in places.items():
        means = mean_abs(bias[cells], se[cells])
        better = [x for x in means if clearly_below(means, x, "ece_sweep_em")]
        if better:
            words = ", ".join(f"{name} {means[name][0]:.3f}" for name in better)
            found[where] = f"{words} against {means['ece_sweep_em'][0]:.3f}"
    return found


@claim("R12", "§7.1, Fig 4", "bias", "fig4_realistic")
@worded(
    says="In realistic scenarios the KDE is far more biased than every other estimator",
    published="much larger bias; no number",
    rule=(
        "Mean |bias| over n of Fig 4's curves of the KDE (with its p-th root), divided by that "
        f"of the worst binned estimator. Reproduced if above {FAR:g} in all three data sets, "
        "approximate if above 1 in all. The unrooted value is judged too."
    ),
    errors="Monte Carlo standard error of a bias in Fig 4",
)
def kde_is_far_more_biased(evidence):
    curves = curves_by_group(evidence, "realistic", (*BINNED, *KDES))
    magnitude = curves["bias_percent"].abs().groupby([curves["group"], curves["estimator"]])
    means = magnitude.mean().unstack()
    ratios = {kde: means[kde] / means[list(BINNED)].max(axis=1) for kde in KDES}
    for kde, ratio in ratios.items():
        yield from by_case(f"mean |bias| of {kde} / worst binned estimator", ratio)
    verdicts = {k: Verdict.of((r > FAR).all(), (r > 1).all()) for k, r in ratios.items()}
    yield unrooted_note(verdicts)
    largest = curves["bias_se_percent"].max()
    return verdicts["kde"], evidence.source("realistic", MODELS), largest


@claim("R13", "§7.1, Fig 4", "bias", "fig4_realistic")
@worded(
    says="The bias curves of the architectures within a data set are similar",
    published="very similar; no number",
    rule=(
        "For each of seven estimators: mean root-mean-square distance between the curves of bias "
        "over n, of models within a data set divided by that of models of different data sets. "
        f"Reproduced if every ratio is below {ALIKE:g} with a permutation p < {SIGNIFICANT:g} "
        "over all ways to group the models, approximate if most ratios are below 1 with p < "
        f"{SIGNIFICANT:g}."
    ),
    errors="p: exact, over all ways to group the ten models",
)
def architectures_look_alike(evidence):
    rows, groups = evidence.bias("realistic", (*BINNED, "kde")), evidence.groups()
    results = {}
    for estimator, cells in rows.groupby("estimator", sort=False):
        curves = cells.pivot(index="scenario", columns="n_samples", values="bias_percent")
        curves = curves.loc[list(groups)].to_numpy()
        results[estimator] = groups_matter(
            curves, groups.values(), lambda a, b: np.sqrt(np.mean((a - b) ** 2))
        )
    clear = {name: r.ratio for name, r in results.items() if r.p_value < SIGNIFICANT}
    less = [name for name in results if not clear.get(name, np.inf) < ALIKE]
    name = f"estimators of {len(results)} below {ALIKE:g} with p < {SIGNIFICANT:g}"
    yield Measurement(name, len(results) - len(less))
    name = "distance of bias curves within data sets / between"
    yield from similarity_measurements(name, results)
    if less:
        yield f"less alike are the curves of {', '.join(less)}"
    verdict = Verdict.of(not less, sum(ratio < 1 for ratio in clear.values()) > len(results) / 2)
    return verdict, evidence.source("realistic", list(groups))
