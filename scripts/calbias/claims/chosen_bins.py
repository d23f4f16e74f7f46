"""R25: the number of bins that the sweep chooses (appendix D, Figure 14)."""

import numpy as np

from calbias.claims.evidence import SIZES
from calbias.claims.judgement import CLEAR, Judgement, NotJudged, Rule, verdict_of

FACTOR = 1.5
SLIGHT_PERCENT = 0.25
FEW_BINS = 4
MOST = 5  # of the seven sample sizes


def near_optimal_unless_calibrated(evidence):
    """R25: the sweep's mean number of bins against the best, miscalibrated and calibrated."""
    near, small, over, words = [], [], [], {"logistic": [], "identity": []}
    for n in SIZES:
        chosen, best, excess = choice(evidence, "beta_1_1_logistic", n)
        closest = min(max(chosen / b, b / chosen) for b in best)
        near.append(closest <= FACTOR or excess <= SLIGHT_PERCENT)
        words["logistic"].append(
            f"miscalibrated, n = {n}: chosen {chosen:.1f}, best {span(best)}, extra |bias| "
            f"{excess:.2f}"
        )
        chosen, best, _ = choice(evidence, "beta_1_1_identity", n)
        small.append(min(best) <= FEW_BINS)
        over.append(chosen > max(best) and chosen > FEW_BINS)
        words["identity"].append(f"calibrated, n = {n}: chosen {chosen:.1f}, best {span(best)}")
    counts = [sum(near), sum(small), sum(over)]
    return Judgement(
        verdict_of(min(counts) == len(SIZES), min(counts) >= MOST),
        f"miscalibrated: near-optimal at {counts[0]} of {len(SIZES)} n, calibrated: best ≤ "
        f"{FEW_BINS} at {counts[1]}, overshot at {counts[2]}; "
        + "; ".join([*words["logistic"], *words["identity"]]),
        f"best: all numbers whose |bias| is within {CLEAR:g} standard errors of the least",
        evidence.source("chosen_bins"),
        ""
        if counts[0] == len(SIZES)
        else "not near-optimal at n = "
        + ", ".join(str(n) for n, ok in zip(SIZES, near, strict=True) if not ok),
    )


def choice(evidence, scenario, n):
    """Return the sweep's mean number of bins, the best numbers, and the |bias| that the chosen
    number has above the least, in percent (linear in the logarithm of the number)."""
    table = evidence.table("chosen_bins")
    rows = table[(table["scenario"] == scenario) & (table["n_samples"] == n)]
    rows = rows.dropna(subset=["mean_estimate_percent", "mean_n_bins_sweep"])
    if len(rows) < FEW_BINS or rows["n_bins"].min() > 2:
        raise NotJudged(f"table chosen_bins lacks {scenario} at n = {n}")
    rows = rows.sort_values("n_bins")
    bias = np.abs(rows["mean_estimate_percent"] - rows["tce_percent"]).to_numpy()
    se, bins = rows["mean_estimate_se_percent"].to_numpy(), rows["n_bins"].to_numpy(float)
    k = int(np.argmin(bias))
    best = bins[bias - bias[k] <= CLEAR * (se + se[k])]
    chosen = float(rows["mean_n_bins_sweep"].iloc[0])
    excess = np.interp(np.log(chosen), np.log(bins), bias) - bias[k]
    return chosen, best, float(excess)


def span(best):
    """Return the best numbers of bins as text."""
    low, high = int(min(best)), int(max(best))
    return str(low) if low == high else f"{low}–{high}"


RULES = {
    "R25": Rule(
        f"Scores Uniform(0, 1), seven n. Miscalibrated (logistic curve): near-optimal where the "
        f"sweep's mean number of bins is within a factor {FACTOR:g} of a best number, or costs at "
        f"most {SLIGHT_PERCENT:g} points of |bias|. Calibrated: some best number is ≤ {FEW_BINS}, "
        f"and the sweep's mean is above all best numbers and above {FEW_BINS}. Reproduced if all "
        f"three hold at every n, approximate if each holds at {MOST} or more.",
        near_optimal_unless_calibrated,
    ),
}
