"""R02 to R04: ECE_bin and the number of bins (section 4, Figure 2b, appendix B; Eq. 5)."""

import itertools

import numpy as np
import pandas as pd

from pipeline.claims.evidence import by_estimator
from pipeline.claims.measurements import POINTS, Measurement, by_case
from pipeline.claims.verdicts import CLEAR, SEARCHED, Verdict, claim, worded
from pipeline.scenarios.paper import (
    FIG2B_SCENARIOS,
    HEATMAP_BINS,
    HEATMAP_MODELS,
    HEATMAP_SIZES,
    N_BINS,
)
from reproduction.claims.tallies import abs_difference

MOST = 0.75
FIGURES = (
    "fig2b_bins_by_n fig7_bias_resnet110_c10 fig8_bias_resnet_wide32_c100 "
    "fig9_bias_resnet152_imgnet"
)
ROUNDING_PERCENT = 1e-9


@claim("R02", "§4, Fig 2b", "bias", "fig2b_bins_by_n")
@worded(
    says=(
        "ECE_bin can over- and underestimate the true calibration error, and more bins are not "
        "always better"
    ),
    published="both signs; no number",
    rule=(
        "ECE_bin (equal width) at n = 200 … 6400 and 2 … 64 bins, for both score distributions "
        "of Fig 2b. A distribution passes if some bias is below zero and some above by "
        f"{SEARCHED:g} standard errors, and at some n a larger number of bins has clearly larger "
        "|bias| than a smaller one. Reproduced if both pass, approximate if one does."
    ),
    errors="± one Monte Carlo standard error",
)
def both_signs_and_turning_point(evidence):
    rows = fig2b(evidence)
    holds, least, greatest, worse = [], {}, {}, {}
    for scenario, table in rows.groupby("scenario", sort=False):
        cells = table[["bias_percent", "bias_se_percent"]]
        bias, z = cells["bias_percent"], cells["bias_percent"] / cells["bias_se_percent"]
        worse[scenario] = sum(more_bins_are_worse(at_n) for _, at_n in table.groupby("n_samples"))
        holds.append(z.min() < -SEARCHED and z.max() > SEARCHED and worse[scenario] > 0)
        least[scenario], greatest[scenario] = map(
            tuple, cells.loc[[bias.idxmin(), bias.idxmax()]].to_numpy()
        )
    yield from by_case("least bias", least, POINTS)
    yield from by_case("greatest bias", greatest, POINTS)
    name = f"sample sizes of {len(HEATMAP_SIZES)} at which more bins are clearly worse"
    yield from by_case(name, worse)
    return Verdict.all_or_some(holds), evidence.source("bins_by_n"), rows["bias_se_percent"].max()


def fig2b(evidence):
    """Return the rows of table ``bias`` that Figure 2b draws."""
    return evidence.bias("bins_by_n", ["ece_bin_ew"], HEATMAP_SIZES, FIG2B_SCENARIOS, HEATMAP_BINS)


def more_bins_are_worse(cells):
    """Return whether |bias| somewhere exceeds the one of fewer bins by SEARCHED errors, one n."""
    cells = cells.sort_values("n_bins")
    bias, se = cells["bias_percent"].to_numpy(), cells["bias_se_percent"].to_numpy()
    difference, error = abs_difference(bias, se, bias[:, None], se[:, None])
    return bool(np.any(np.triu(difference > SEARCHED * error, 1)))


@claim("R03", "§4, App B", "bias", FIGURES)
@worded(
    says=(
        "For each sample size some number of bins has the least bias, and that number grows with "
        "the sample size, for equal width and equal mass"
    ),
    published="grows; no number",
    rule=(
        "Eight curves: three models × ew, em (heat maps) and both distributions of Fig 2b. A "
        "curve passes if the number of bins with least |bias|, up to Monte Carlo ties, never "
        "falls as n grows and is larger at 6400 than at 200. Reproduced if all pass, "
        f"approximate if at least {MOST:.0%} do."
    ),
    errors=(
        "the best number of bins has the least |bias|, and those tie with it whose |bias| is "
        f"within {CLEAR:g} standard errors of it"
    ),
)
def best_number_grows(evidence):
    maps = evidence.bias(
        "heatmaps", ["ece_bin_ew", "ece_bin_em"], HEATMAP_SIZES, HEATMAP_MODELS, HEATMAP_BINS
    )
    grow, numbers = [], []
    rows = pd.concat([maps, fig2b(evidence)])
    for (scenario, estimator), cells in rows.groupby(["scenario", "estimator"], sort=False):
        best, near = best_bins(cells)
        grow.append(can_be_nondecreasing(near) and best[-1] > best[0])
        by_n = {f"n = {n}:": b for n, b in zip(HEATMAP_SIZES, best, strict=True)}
        numbers += by_case(f"best number of bins, {scenario} {estimator[-2:]}", by_n)
    yield Measurement(f"curves of {len(grow)} that grow", sum(grow))
    yield from numbers
    if not all(grow):
        yield "the best numbers of every curve are listed under measured"
    verdict = Verdict.of(np.mean(grow) == 1, np.mean(grow) >= MOST)
    return verdict, evidence.source("heatmaps", HEATMAP_MODELS), maps["bias_se_percent"].max()


def best_bins(cells):
    """Return, by n, the number of bins of least |bias|, and those not clearly above it, sorted."""
    best, near = [], []
    for _, at_n in cells.sort_values("n_bins").groupby("n_samples"):
        bins, bias = at_n["n_bins"].to_numpy(), at_n["bias_percent"].to_numpy()
        se = at_n["bias_se_percent"].to_numpy()
        k = np.argmin(np.abs(bias))
        above, error = abs_difference(bias, se, bias[k], se[k])
        best.append(int(bins[k]))
        near.append([int(b) for b in bins[above <= CLEAR * error]])
    return best, near


def can_be_nondecreasing(choices):
    """Return whether one number can be taken from each sorted list so that they never fall."""
    floor = -np.inf
    for numbers in choices:
        floor = min((b for b in numbers if b >= floor), default=np.inf)
    return floor < np.inf


@claim("R04", "Eq 5", "bias")
@worded(
    says="The label-binned error is never below the binned error",
    published="≥, by Jensen's inequality",
    rule=(
        f"Means over the same simulated data sets, {N_BINS} bins, ew and em, realistic and "
        "perfect: reproduced if that of ece_label_binned is below that of ece_bin in no cell, "
        "else not. This follows from the claim, which is about every data set, and is weaker: a "
        "mean can hide single data sets. Those are checked on random ones by the test "
        "test_never_below_ece_bin in tests/unit/test_estimators_ece_label_binned.py."
    ),
    errors=f"none: both means are over the same data sets; rounding below {ROUNDING_PERCENT:g}",
)
def label_binned_is_larger(evidence):
    gaps = []
    for experiment, scheme in itertools.product(("realistic", "perfect"), ("ew", "em")):
        larger, smaller = f"ece_label_binned_{scheme}", f"ece_bin_{scheme}"
        bias, _ = by_estimator(evidence.bias(experiment, (larger, smaller)))
        gaps.extend(bias[larger] - bias[smaller])
    below = int(np.sum(np.array(gaps) < -ROUNDING_PERCENT))
    yield Measurement(f"cells of {len(gaps)} with a mean below", below)
    yield Measurement("least difference", min(gaps), POINTS)
    yield Measurement("greatest difference", max(gaps), POINTS)
    return Verdict.of(below == 0, False), evidence.source("realistic")
