"""R02 to R04: ECE_bin and the number of bins (§4, Figure 2b, appendix B; Eq. 5)."""

import numpy as np

from calbias.claims.evidence import BINS, HEATMAP_MODELS, HEATMAP_SIZES, PAPER_BINS
from calbias.claims.judgement import (
    APPROXIMATE,
    CLEAR,
    NOT_REPRODUCED,
    REPRODUCED,
    SEARCHED,
    Judgement,
    Rule,
    verdict_of,
)
from calbias.claims.tallies import abs_difference

FIG2B = ("beta_2.8_0.05_power_2", "beta_1.1_0.1_power_2")
MOST = 0.75
ROUNDING_PERCENT = 1e-9


def both_signs_and_turning_point(evidence):
    """R02: biases of both signs, and a larger number of bins that is clearly worse."""
    rows = evidence.bias("bins_by_n", ["ece_bin_ew"], HEATMAP_SIZES, FIG2B, BINS)
    holds, words = [], []
    for scenario, table in rows.groupby("scenario", sort=False):
        z = table["bias_percent"] / table["bias_se_percent"]
        worse = sum(more_bins_are_worse(cells) for _, cells in table.groupby("n_samples"))
        holds.append(z.min() < -SEARCHED and z.max() > SEARCHED and worse > 0)
        words.append(
            f"{scenario}: bias {table['bias_percent'].min():+.2f} to "
            f"{table['bias_percent'].max():+.2f}, more bins clearly worse at {worse} of "
            f"{len(HEATMAP_SIZES)} sample sizes"
        )
    return Judgement(
        verdict_of(all(holds), any(holds)),
        f"biases {rows['bias_percent'].min():+.2f} to {rows['bias_percent'].max():+.2f} percentage "
        f"points; {'; '.join(words)}",
        f"Monte Carlo standard error of a bias ≤ {rows['bias_se_percent'].max():.3f}",
        evidence.source("bins_by_n"),
    )


def more_bins_are_worse(cells):
    """Return whether |bias| somewhere exceeds that of fewer bins by SEARCHED errors, one n."""
    cells = cells.sort_values("n_bins")
    bias, se = cells["bias_percent"].to_numpy(), cells["bias_se_percent"].to_numpy()
    difference, error = abs_difference(bias, se, bias[:, None], se[:, None])
    return bool(np.any(np.triu(difference > SEARCHED * error, 1)))


def best_number_grows(evidence):
    """R03: the number of bins with least |bias| does not fall with n, and is larger at the end."""
    rows = evidence.bias(
        "heatmaps", ["ece_bin_ew", "ece_bin_em"], HEATMAP_SIZES, HEATMAP_MODELS, BINS
    )
    figure = evidence.bias("bins_by_n", ["ece_bin_ew"], HEATMAP_SIZES, FIG2B, BINS)
    curves, words = [], []
    for table in (rows, figure):
        for (scenario, estimator), cells in table.groupby(["scenario", "estimator"], sort=False):
            best, near = best_bins(cells)
            curves.append(can_be_nondecreasing(near) and best[-1] > best[0])
            words.append(f"{scenario} {estimator[-2:]}: best bins {'→'.join(map(str, best))}")
    share = np.mean(curves)
    return Judgement(
        verdict_of(share == 1, share >= MOST),
        f"{sum(curves)} of {len(curves)} curves grow; " + "; ".join(words),
        "best bins at each n: those with the least |bias|; others tie where theirs is within "
        f"{CLEAR:g} standard errors of it; standard error ≤ {rows['bias_se_percent'].max():.3f}",
        evidence.source("heatmaps", HEATMAP_MODELS),
        "" if share == 1 else "the best numbers of every curve are listed under measured",
    )


def best_bins(cells):
    """Return (best, near) for each n ascending: the number of bins of least |bias|, and the sorted
    numbers whose |bias| is not clearly above it."""
    best, near = [], []
    for _, one in cells.sort_values("n_bins").groupby("n_samples"):
        bins, bias = one["n_bins"].to_numpy(), one["bias_percent"].to_numpy()
        se = one["bias_se_percent"].to_numpy()
        k = np.argmin(np.abs(bias))
        above, error = abs_difference(bias, se, bias[k], se[k])
        best.append(int(bins[k]))
        near.append([int(b) for b in bins[above <= CLEAR * error]])
    return best, near


def can_be_nondecreasing(choices):
    """Return whether one number can be taken from each sorted list so that they never fall."""
    floor = -np.inf
    for numbers in choices:
        floor = min((b for b in numbers if b >= floor), default=None)
        if floor is None:
            return False
    return True


def label_binned_is_larger(evidence):
    """R04: the means of ece_label_binned against those of ece_bin on the same data sets."""
    gaps = []
    for experiment in ("realistic", "perfect"):
        for scheme in ("ew", "em"):
            names = [f"ece_label_binned_{scheme}", f"ece_bin_{scheme}"]
            rows = evidence.bias(experiment, names)
            wide = rows.pivot(
                index=["scenario", "n_samples"], columns="estimator", values="bias_percent"
            )
            gaps.append((wide[names[0]] - wide[names[1]]).to_numpy())
    gaps = np.concatenate(gaps)
    below = int(np.sum(gaps < -ROUNDING_PERCENT))
    return Judgement(
        REPRODUCED if below == 0 else NOT_REPRODUCED,
        f"means over data sets: below in {below} of {gaps.size} cells; difference "
        f"{gaps.min():.4f} to {gaps.max():.3f} percentage points",
        f"none: both means are over the same data sets; rounding below {ROUNDING_PERCENT:g}",
        evidence.source("realistic"),
    )


RULES = {
    "R02": Rule(
        "ECE_bin (equal width) at n = 200 … 6400 and 2 … 64 bins, for both score distributions of "
        f"Fig 2b. A distribution passes if some bias is below zero and some above by {SEARCHED:g} "
        "standard errors, and at some n a larger number of bins has clearly larger |bias| than a "
        "smaller one. Reproduced if both pass, approximate if one does.",
        both_signs_and_turning_point,
    ),
    "R03": Rule(
        "Eight curves: three models × ew, em (heat maps) and both distributions of Fig 2b. A curve "
        "passes if the number of bins with least |bias|, up to Monte Carlo ties, never falls as n "
        f"grows and is larger at 6400 than at 200. Reproduced if all pass, {APPROXIMATE} if at "
        f"least {MOST:.0%} do.",
        best_number_grows,
    ),
    "R04": Rule(
        f"Means over the same simulated data sets, {PAPER_BINS} bins, ew and em, realistic and "
        "perfect: reproduced if that of ece_label_binned is below that of ece_bin in no cell, else "
        "not. This follows from the claim, which is about every data set, and is weaker: a mean "
        "can hide single data sets. Those are checked on random ones by the test "
        "test_never_below_ece_bin in tests/unit/test_estimators_ece_label_binned.py.",
        label_binned_is_larger,
    ),
}
