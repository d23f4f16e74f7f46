"""R27 to R31: statements of the text that have no figure or table of their own (§4 to §8)."""

import itertools

import numpy as np

from pipeline.claims.evidence import on_genuine
from pipeline.claims.measurements import POINTS, Measurement, by_case
from pipeline.claims.verdicts import CLEAR, SEARCHED, NotJudged, Verdict, claim, worded
from pipeline.scenarios.paper import BINNED, HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES, MODELS
from pipeline.tables.files import is_true
from reproduction.claims.section_7_1 import FAMILIES, curves_by_group
from reproduction.claims.tallies import compared_curves

INSENSITIVE, SOMEWHAT = 1.25, 2.0  # greatest over least standard deviation
MOST_SKEWED, LEAST_SKEWED = "CIFAR-10", "ImageNet"
SELECTING = ("ece_bin_ew", "ece_sweep_em")


@claim("R27", "§4", "bias", "fig10_sd_resnet110_c10")
@worded(
    says="The variance is relatively insensitive to the estimation technique and number of bins",
    published="no number",
    rule=(
        "Standard deviations of the heat maps' cells of one model and n: the greatest over the "
        "least of the six binned estimators (15 or 16 bins), and over the numbers of bins of one "
        "estimator, medians over the cells. Reproduced if both are at most "
        f"{INSENSITIVE:g}, approximate if at most {SOMEWHAT:g}. The ratio of the least to the "
        "greatest n is shown besides."
    ),
    errors="none: a ratio's Monte Carlo error is about 0.03, of a median less",
)
def variance_is_insensitive(evidence):
    rows = evidence.bias("heatmaps", BINNED, HEATMAP_SIZES, HEATMAP_MODELS, HEATMAP_BINS)
    usual = rows[rows["n_bins"].isin((16, -1))]
    groups = {
        "technique": usual.groupby(["scenario", "n_samples"]),
        "number of bins": rows[rows["n_bins"] > 0].groupby(["scenario", "n_samples", "estimator"]),
    }
    ratios = {name: _ratio(group).median() for name, group in groups.items()}
    yield from by_case("greatest over least standard deviation, median", ratios)
    by_n = rows.groupby(["scenario", "estimator", "n_bins"])
    yield Measurement("the same over n from 200 to 6400", _ratio(by_n).median())
    worst = max(ratios.values())
    verdict = Verdict.of(worst <= INSENSITIVE, worst <= SOMEWHAT)
    return verdict, evidence.source("heatmaps", HEATMAP_MODELS)


def _ratio(groups):
    return groups["sd_percent"].max() / groups["sd_percent"].min()


@claim("R28", "§6", "scenarios", "fig3_fits")
@worded(
    says="Score distributions are least skewed on ImageNet and most skewed on CIFAR-10",
    published="no number",
    rule=(
        "Skewness of the Beta distributions that drive the simulation: reproduced if each model "
        "of CIFAR-10 is more skewed than each of CIFAR-100, and these more than each of ImageNet; "
        "approximate if the means of the data sets are in this order."
    ),
    errors="none: a function of the fits",
)
def cifar10_is_most_skewed(evidence):
    groups = evidence.groups()
    table = evidence.table("scenarios")
    table = table[table["experiment"] == "realistic"].set_index("scenario")
    if absent := [model for model in groups if model not in table.index]:
        raise NotJudged(f"experiment realistic lacks the scenario of {', '.join(absent)}")
    a, b = (table.loc[list(groups), name] for name in ("alpha", "beta"))
    skewness = 2 * (b - a) * np.sqrt(a + b + 1) / ((a + b + 2) * np.sqrt(a * b))
    by_set = skewness.groupby(groups)
    yield from by_case("skewness, mean", by_set.mean())
    order = [MOST_SKEWED, "CIFAR-100", LEAST_SKEWED]
    each = all(by_set.max()[x] < by_set.min()[y] for x, y in itertools.pairwise(order))
    means = by_set.mean()[order].is_monotonic_increasing
    return Verdict.of(each, means), evidence.source("realistic", list(groups))


@claim("R29", "§7.1, Fig 4", "bias", "fig4_realistic")
@worded(
    says="On ImageNet the advantage of equal mass over equal width is consistent, but less",
    published="still consistent but less pronounced; no number",
    rule=(
        "|bias| of equal width minus that of equal mass, mean over seven n, for bin, debias and "
        f"sweep: reproduced if for each it is positive on ImageNet by {CLEAR:g} standard errors "
        "and least there, approximate if so for their mean."
    ),
    errors="± a bound on the Monte Carlo standard error",
)
def equal_mass_helps_least_on_imagenet(evidence):
    curves = curves_by_group(evidence, "realistic", BINNED)
    means, errors = {}, {}
    for family in FAMILIES:
        advantage, error = compared_curves(curves, f"ece_{family}_ew", f"ece_{family}_em")
        means[family] = advantage.groupby(level="group").mean()
        errors[family] = error.groupby(level="group").mean()
        values = zip(means[family], errors[family], strict=True)
        cases = {f"{family}, {x}:": v for x, v in zip(means[family].index, values, strict=True)}
        yield from by_case("advantage of equal mass in |bias|", cases, POINTS)

    def holds(values, error):
        return CLEAR * error[LEAST_SKEWED] < values[LEAST_SKEWED] <= values.min()

    each = all(holds(means[family], errors[family]) for family in FAMILIES)
    whole = (sum(of.values()) / len(FAMILIES) for of in (means, errors))
    verdict = Verdict.of(each, holds(*whole))
    return verdict, evidence.source("realistic", MODELS)


@claim("R30", "§8", "recalibration", "table1_recalibration", real=True)
@worded(
    says="Selecting the recalibration method by the sweep gives better calibration on test data",
    published="no number",
    rule=(
        "TCE reference on the test fold of the method that ece_sweep_em selects, minus that of the "
        "method that ece_bin_ew selects. Reproduced if it is below 0 on average and above 0 for no "
        "model, approximate if below 0 on average. Judged on the paper's models that have genuine "
        "outputs; the other networks are shown besides."
    ),
    errors="none: one test fold a model",
)
def sweep_selects_what_calibrates_better(evidence):
    table = evidence.table("recalibration")
    chosen = table[
        is_true(table["selected"])
        & (table["reference"] == "glm_empirical")
        & table["measure"].isin(SELECTING)
    ]
    tce = chosen.pivot(index="model", columns="measure", values="reference_tce_percent")
    usual, swept = (tce[name] for name in SELECTING)
    difference = swept - usual
    ours = difference[difference.index.isin(MODELS)]
    others = difference.drop(ours.index)
    yield from by_case("TCE of the sweep's choice minus that of ECE_bin's", ours, POINTS)
    if len(others):
        yield Measurement("other networks, mean", others.mean(), POINTS, f"of {len(others)}:")
        worse, better = (others > 0).sum(), (others < 0).sum()
        yield (
            f"on {len(others)} other networks the sweep's choice is better {better} times and "
            f"worse {worse} times"
        )
    rows = chosen[chosen["model"].isin(ours.index)]
    better = ours.mean() < 0
    return (yield from on_genuine(rows, Verdict.of(better and not (ours > 0).any(), better)))


@claim("R31", "§2, §5", "reliability_bins", "guo_fig1_confidence")
@worded(
    says="The calibration curves of modern networks are monotone",
    published="extensive empirical evidence; no number",
    rule=(
        "Reliability diagrams (15 bins) of the models with genuine outputs: no bin has an accuracy "
        f"above that of a bin of higher scores by {SEARCHED:g} standard errors of the difference. "
        "Reproduced if that holds for every model, approximate if for most. A small decrease in "
        "bins of few rows cannot be seen."
    ),
    errors="standard errors of accuracies by the binomial, one hit and one miss added",
)
def curves_are_monotone(evidence):
    table = evidence.table("reliability_bins")
    table = table[(table["method"] == "uncalibrated") & (table["n_in_bin"] > 0)]
    decrease = {name: _largest_decrease(bins) for name, bins in table.groupby("model", sort=False)}
    yield from by_case("largest decrease", decrease, "standard errors")
    rows = table[table["model"].isin(MODELS)]
    holds = [value <= SEARCHED for model, value in decrease.items() if model in MODELS]
    verdict = Verdict.of(all(holds), np.mean(holds) > 0.5)
    return (yield from on_genuine(rows, verdict))


def _largest_decrease(bins):
    """Return the largest fall of accuracy between two bins, lower scores first, in its errors."""
    bins = bins.sort_values("low")
    n, hits = bins["n_in_bin"].to_numpy(), (bins["mean_hit"] * bins["n_in_bin"]).to_numpy()
    rate = (hits + 1) / (n + 2)
    variance = rate * (1 - rate) / n
    first, second = np.triu_indices(len(n), 1)
    fall = hits[first] / n[first] - hits[second] / n[second]
    return float((fall / np.sqrt(variance[first] + variance[second])).max(initial=0.0))
