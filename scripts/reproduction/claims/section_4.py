"""R02 to R04, R31: ECE_bin and its bins; monotone curves (sections 2, 4, 5)."""

import itertools
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables, on_genuine
from pipeline.claims.verdicts import POINTS, SEARCHED, Measurement, Ruling, Verdict, by_case
from pipeline.paper import FIG2B_SCENARIOS, HEATMAP_BINS, HEATMAP_MODELS, HEATMAP_SIZES, MODELS
from reproduction.claims.compared_biases import Biases
from reproduction.goodness_of_fit import largest_decrease

MOST = 0.75
TIED = 0.1  # percentage points: numbers of bins whose |bias| differs by less are equally good
FIGURES = (
    "fig2b_bins_by_n fig7_bias_resnet110_c10 fig8_bias_resnet_wide32_c100 "
    "fig9_bias_resnet152_imgnet"
)
ROUNDING_PERCENT = 1e-9


@claim("R02", "§4, Fig 2b", "bias correlations", "fig2b_bins_by_n", experiment="bins_by_n")
def both_signs_and_turning_point(run: RunTables) -> Ruling:
    """ECE_bin can over- and underestimate the true calibration error, and more bins are not always
    better.

    published: both signs; no number
    rule: ECE_bin (equal width) at n = 200 … 6400 and 2 … 64 bins, on the three panels of Fig 2b:
    the fit to ResNet-110 on CIFAR-10, which §4 names, and c² on two score distributions, Fig 2a's
    and the one of the authors' script. A panel passes if some bias is below zero and some above by
    {SEARCHED:g} standard errors, and at some n a larger number of bins has larger |bias| than a
    smaller one, by {SEARCHED:g} standard errors of the difference. Reproduced if all pass,
    approximate if some do.
    errors: ± one Monte Carlo standard error
    """
    fitted = run.bias("heatmaps", ["ece_bin_ew"], HEATMAP_SIZES, HEATMAP_MODELS[:1],
                          HEATMAP_BINS)  # fmt: skip
    drawn = pd.concat([fitted, fig2b(run)])
    holds, least, greatest, worse = [], {}, {}, {}
    for scenario, table in drawn.groupby("scenario", sort=False):
        cells, bias = table[["bias_percent", "bias_se_percent"]], table["bias_percent"]
        worse[scenario] = sizes_of_worse_bins(Biases.of(run, table))
        holds.append(has_both_signs(table) and worse[scenario] > 0)
        least[scenario], greatest[scenario] = map(
            tuple, cells.loc[[bias.idxmin(), bias.idxmax()]].to_numpy()
        )
    name = f"sample sizes of {len(HEATMAP_SIZES)} at which more bins are clearly worse"
    measurements = [
        *by_case("least bias", least, POINTS),
        *by_case("greatest bias", greatest, POINTS),
        *by_case(name, worse),
    ]
    largest = drawn["bias_se_percent"].max()
    reason = f"{sum(holds)} of {len(holds)} panels show both"
    verdict = Verdict.all_or_some(holds)
    return Ruling(verdict, measurements, largest_error=largest, reason=reason)


def fig2b(run: RunTables) -> pd.DataFrame:
    """Return the rows of table ``bias`` that Figure 2b draws of c²."""
    return run.bias("bins_by_n", ["ece_bin_ew"], HEATMAP_SIZES, FIG2B_SCENARIOS, HEATMAP_BINS)


def has_both_signs(cells: pd.DataFrame) -> bool:
    """Return whether some bias is below 0 and some above, by SEARCHED errors."""
    z = cells["bias_percent"] / cells["bias_se_percent"]
    return bool(z.min() < -SEARCHED and z.max() > SEARCHED)


def sizes_of_worse_bins(biases: Biases) -> int:
    """Return at how many n of one scenario more bins somewhere have clearly larger |bias|."""
    is_worse = np.zeros(len(biases.bias), bool)
    for few, many in itertools.combinations(biases.bias, 2):  # ascending in bins
        gain, error = biases.gain(few, many)
        is_worse |= (gain > SEARCHED * error).to_numpy()
    return int(is_worse.sum())


@claim("R03", "§4, App B", "bias", FIGURES, experiment="heatmaps")
def best_number_grows(run: RunTables) -> Ruling:
    """For each sample size some number of bins has the least bias, and that number grows with the
    sample size, for equal width and equal mass.

    published: grows; no number
    rule: Eight curves: three models × ew, em (heat maps) and c² on both distributions of Fig 2b.
    Numbers of bins whose |bias| is within {TIED:g} points of the least are equally good. A curve
    passes if a best number can be taken at each n so that they never fall, and the one of least
    |bias| is larger at 6400 than at 200. Reproduced if all pass, approximate if at least {MOST:.0%}
    do.
    errors: Monte Carlo standard error of a bias
    """
    maps = run.bias(
        "heatmaps", ["ece_bin_ew", "ece_bin_em"], HEATMAP_SIZES, HEATMAP_MODELS, HEATMAP_BINS
    )
    grow, numbers, edge = [], [], []
    rows = pd.concat([maps, fig2b(run)])
    for (scenario, estimator), cells in rows.groupby(["scenario", "estimator"], sort=False):
        best, near = best_bins(cells)
        grow.append(grows(best, near))
        by_n = {f"n = {n}:": b for n, b in zip(HEATMAP_SIZES, best, strict=True)}
        ends = HEATMAP_BINS[0], HEATMAP_BINS[-1]
        edge += [f"{b} bins ({estimator[-2:]})" for b in best if b in ends]
        numbers += by_case(f"best number of bins, {scenario} {estimator[-2:]}", by_n)
    notes = [
        f"{len(edge)} of {len(numbers)} best numbers are at the edge of the grid: "
        f"{', '.join(f'{n} at {words}' for words, n in Counter(edge).items())}"
    ]
    verdict = Verdict.of(all(grow), np.mean(grow) >= MOST)
    measurements = [Measurement(f"curves of {len(grow)} that grow", sum(grow)), *numbers]
    largest, notes = maps["bias_se_percent"].max(), notes if edge else []
    reason = f"the best number of bins grows on {sum(grow)} of {len(grow)} curves"
    return Ruling(verdict, measurements, "", notes, largest, reason=reason)


def best_bins(cells: pd.DataFrame) -> tuple[list[int], list[list[int]]]:
    """Return, by n, the number of bins of least |bias|, and those as good as it, sorted."""
    best, near = [], []
    for _, at_n in cells.sort_values("n_bins").groupby("n_samples"):
        bins, bias = at_n["n_bins"].to_numpy(), at_n["bias_percent"].abs().to_numpy()
        best.append(int(bins[bias.argmin()]))
        near.append([int(b) for b in bins[bias <= bias.min() + TIED]])
    return best, near


def grows(best: list[int], near: list[list[int]]) -> bool:
    """Return whether numbers of ``best_bins`` grow with n, those as good as each other free."""
    return can_be_nondecreasing(near) and best[-1] > best[0]


def can_be_nondecreasing(choices: Iterable[list[int]]) -> bool:
    """Return whether one number can be taken from each sorted list so that they never fall."""
    floor = -np.inf
    for numbers in choices:
        floor = min((b for b in numbers if b >= floor), default=np.inf)
    return floor < np.inf


@claim("R04", "Eq 5", "bias", theorem=True, experiment="realistic")
def label_binned_is_larger(run: RunTables) -> Ruling:
    """The label-binned error is never below the binned error.

    published: ≥, by Jensen's inequality
    rule: Means over the same simulated data sets, {N_BINS} bins, ew and em, realistic and perfect:
    reproduced if that of ece_label_binned is below that of ece_bin in no cell, else not. This
    follows from the claim, which is about every data set, and is weaker: a mean can hide single
    data sets. Those are checked on random ones by the test test_ece_lb_is_never_below_ece_bin in
    tests/calbias/estimators/test_estimators_ece_bin.py.
    errors: rounding of a mean, below {ROUNDING_PERCENT:g}: both are over the same data sets
    """
    gaps: list[float] = []
    for experiment, scheme in itertools.product(("realistic", "perfect"), ("ew", "em")):
        larger, smaller = f"ece_label_binned_{scheme}", f"ece_bin_{scheme}"
        bias = run.bias(experiment, (larger, smaller)).pivot(
            index=["scenario", "n_samples"], columns="estimator", values="bias_percent"
        )
        gaps.extend(bias[larger] - bias[smaller])
    below = sum(gap < -ROUNDING_PERCENT for gap in gaps)
    measurements = [
        Measurement(f"cells of {len(gaps)} with a mean below", below),
        Measurement("least difference", min(gaps), POINTS),
        Measurement("greatest difference", max(gaps), POINTS),
    ]
    reason = f"the mean is below in {below} of {len(gaps)} cells"
    return Ruling(Verdict.of(below == 0, False), measurements, reason=reason)


@claim("R31", "§2, §5", "reliability_bins", "guo_fig1_confidence")
def curves_are_monotone(run: RunTables) -> Ruling:
    """The calibration curves of modern networks are monotone.

    published: extensive empirical evidence; no number
    rule: Reliability diagrams (15 bins) of the paper's networks that have genuine outputs, as they
    are: no bin has an accuracy above the accuracy of a bin of higher scores by {SEARCHED:g}
    standard errors of the difference. Reproduced if that holds for every network, approximate if
    for most. A small decrease in bins of few rows cannot be seen. Other networks are shown beside.
    errors: standard errors of accuracies by the binomial, one hit and one miss added
    """
    table = run.table("reliability_bins")
    table = table[(table["method"] == "uncalibrated") & (table["n_in_bin"] > 0)]
    decrease = {name: _largest_decrease(bins) for name, bins in table.groupby("model", sort=False)}
    measurements = by_case("largest decrease", decrease, "standard errors")
    holds = [value <= SEARCHED for name, value in decrease.items() if name in MODELS]
    others = [value <= SEARCHED for name, value in decrease.items() if name not in MODELS]
    if others:
        what = "other networks: no clear decrease"
        measurements.append(Measurement(what, sum(others), f"of {len(others)}"))
    verdict = Verdict.of(all(holds), bool(holds) and np.mean(holds) > 0.5)
    reason = f"no clear decrease on {sum(holds)} of {len(holds)} networks"
    rows = table[table["model"].isin(MODELS)]
    return on_genuine(rows, verdict, measurements, reason=reason)


def _largest_decrease(bins: pd.DataFrame) -> float:
    """Return the largest fall of accuracy between two bins, lower scores first, in its errors."""
    n = bins.sort_values("low")["n_in_bin"].to_numpy()
    return largest_decrease(n, bins.sort_values("low")["mean_hit"].to_numpy() * n)
