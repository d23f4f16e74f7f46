"""R23 and R24: estimates as the true calibration error is varied (appendix C, Figure 13)."""

import numpy as np

from calbias.claims.evidence import enough_replicates
from calbias.claims.judgement import CLEAR, Judgement, NotJudged, Rule, verdict_of

SCORES = {"Uniform": "beta_1_1_power_", "Beta(1.1, 0.1)": "beta_1.1_0.1_power_"}
ESTIMATORS = ("ece_bin_ew", "ece_sweep_em")
SIZES = (200, 5000)
FEWEST_CURVES = 50  # of the paper's 100 exponents
SMALL = 0.1  # share of a reduction that the note names
OFF_PERCENT, OFF_TOLERANCE = 2.0, 0.5
ESTIMATE_PERCENT, TCE_PERCENT, TCE_TOLERANCE = 12.0, (8.0, 5.0), 0.5


def still_off_at_5000(evidence):
    """R23: bias at TCE = 0 and n = 5000, and by how much the sweep's is smaller."""
    curves = sweep_curves(evidence)
    columns = ["bias_percent", "bias_se_percent"]
    usual, swept = (
        {scores: curves[scores, 5000, name].iloc[0][columns].astype(float) for scores in SCORES}
        for name in ESTIMATORS
    )
    largest = max(value.iloc[0] for value in usual.values())
    results = {scores: reduction(usual[scores], swept[scores]) for scores in SCORES}
    reduced = all(clear for _, clear in results.values())
    values = [f"{usual[s].iloc[0]:.2f} → {swept[s].iloc[0]:.2f} on {s}" for s in SCORES]
    unclear = [scores for scores, (_, clear) in results.items() if not clear]
    return Judgement(
        verdict_of(
            reduced and abs(largest - OFF_PERCENT) <= OFF_TOLERANCE,
            reduced and largest >= OFF_PERCENT / 2,
        ),
        f"bias in percent, ece_bin_ew → ece_sweep_em: {', '.join(values)}; "
        + "; ".join(f"on {scores} reduced {words}" for scores, (words, _) in results.items()),
        f"Monte Carlo standard error of a bias ≤ "
        f"{max(v.iloc[1] for v in (*usual.values(), *swept.values())):.4f}; ± the sum of both, "
        "which holds whatever their correlation",
        evidence.source("tce_sweep"),
        f"no clear reduction on {', '.join(unclear)}" if unclear else size_words(usual, swept),
    )


def reduction(usual, swept):
    """Return (words, whether it is clear) of the reduction from (bias, se) to (bias, se)."""
    difference, error = usual.iloc[0] - swept.iloc[0], usual.iloc[1] + swept.iloc[1]
    words = f"by {difference:.3f} ± {error:.3f} points ({difference / usual.iloc[0]:.0%})"
    return words, difference > CLEAR * error


def size_words(usual, swept):
    """Return a note where the reduction, though clear, is small for a score distribution."""
    sizes = {scores: 1 - swept[scores].iloc[0] / usual[scores].iloc[0] for scores in SCORES}
    least = min(sizes, key=sizes.get)
    return (
        f"'significantly' is judged as beyond the Monte Carlo error, not by size: on {least} the "
        f"reduction is clear but only {sizes[least]:.0%}"
        if sizes[least] < SMALL
        else ""
    )


def ambiguous_tces(evidence):
    """Return {scores: (TCE, standard error)} in percent where the mean ECE_bin is 12 %, n = 200."""
    curves = sweep_curves(evidence)
    found = {}
    for scores in SCORES:
        curve = curves[scores, 200, "ece_bin_ew"]
        error = curve["bias_se_percent"].max()
        low, tce, high = (tce_at(curve, ESTIMATE_PERCENT + x * error) for x in (-1, 0, 1))
        found[scores] = (tce, (high - low) / 2)
    return found


def twelve_percent_is_ambiguous(evidence):
    """R24: the TCE at which the mean ECE_bin is 12 %, for both score distributions."""
    found = ambiguous_tces(evidence)
    tces = sorted((tce for tce, _ in found.values()), reverse=True)
    off = np.abs(np.subtract(tces, TCE_PERCENT))
    return Judgement(
        verdict_of(
            np.all(off <= TCE_TOLERANCE),
            np.all(off <= 3 * TCE_TOLERANCE) and tces[0] - tces[1] > 1,
        ),
        "TCE "
        + ", ".join(f"{tce:.2f} ± {error:.2f} % on {s}" for s, (tce, error) in found.items())
        + f"; where the mean ECE_bin is {ESTIMATE_PERCENT:g} % at n = 200",
        "± one Monte Carlo standard error of the TCE",
        evidence.source("tce_sweep"),
    )


def tce_at(curve, estimate):
    """Return the largest TCE, in percent, at which the mean estimate crosses a value; NaN if none.

    Linear between neighbouring points of ``curve``, which ascends in TCE.
    """
    y = curve["mean_estimate_percent"].to_numpy() - estimate
    x = curve["tce_percent"].to_numpy()
    crossings = np.flatnonzero((y[:-1] <= 0) & (y[1:] > 0))
    if not crossings.size:
        return np.nan
    k = crossings[-1]
    return float(x[k] - y[k] * (x[k + 1] - x[k]) / (y[k + 1] - y[k]))


def sweep_curves(evidence):
    """Return {(scores, n, estimator): rows ascending in TCE} of experiment tce_sweep.

    NotJudged if a curve has fewer than 50 points or does not start at TCE = 0.
    """
    table = evidence.table("bias")
    table = table[table["experiment"] == "tce_sweep"]
    curves = {}
    for scores, prefix in SCORES.items():
        of_scores = table[table["scenario"].str.startswith(prefix)]
        for n in SIZES:
            for estimator in ESTIMATORS:
                rows = of_scores[
                    (of_scores["n_samples"] == n) & (of_scores["estimator"] == estimator)
                ].sort_values("tce_percent")
                if len(rows) < FEWEST_CURVES or rows["tce_percent"].iloc[0] > 1e-6:
                    raise NotJudged(
                        f"experiment tce_sweep has {len(rows)} points of {estimator} on {scores} "
                        f"at n = {n}; the rule wants {FEWEST_CURVES} and one at TCE 0"
                    )
                curves[scores, n, estimator] = enough_replicates(rows, "tce_sweep")
    return curves


RULES = {
    "R23": Rule(
        "n = 5000, TCE = 0. Two conditions: the bias of ece_sweep_em is below that of ece_bin_ew "
        f"by {CLEAR:g} standard errors for both score distributions ('significantly'); the larger "
        f"bias of ece_bin_ew is {OFF_PERCENT:g} ± {OFF_TOLERANCE:g} %. Reproduced if both hold, "
        f"approximate if the first does and the larger bias is at least {OFF_PERCENT / 2:g} %. The "
        "size of the reduction is shown beside it.",
        still_off_at_5000,
    ),
    "R24": Rule(
        f"TCE at which the mean ece_bin_ew is {ESTIMATE_PERCENT:g} % at n = 200, interpolated for "
        f"both score distributions: reproduced if the two are within {TCE_TOLERANCE:g} of "
        f"{TCE_PERCENT[0]:g} and {TCE_PERCENT[1]:g} %, approximate if within {3 * TCE_TOLERANCE:g} "
        "and more than 1 apart.",
        twelve_percent_is_ambiguous,
    ),
}
