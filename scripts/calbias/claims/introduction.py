"""R01: a perfectly calibrated model and its ECE_bin (Figure 1)."""

import numpy as np

from calbias.claims.judgement import CLEAR, Judgement, NotJudged, Rule, verdict_of

LARGE_PERCENT = 2.0  # the size that appendix C calls "off"
NOTICEABLE_PERCENT = 1.0
SHARE = 0.95


def calibrated_model_looks_miscalibrated(evidence):
    """R01: the mean ECE_bin at TCE = 0 and n = 200 is above 2 %, and nearly always above 1 %."""
    scenario = ["beta_2.8_0.05_identity"]
    row = evidence.bias("intro", ["ece_bin_ew"], (200,), scenario).iloc[0]
    mean, se = row["mean_estimate_percent"], row["bias_se_percent"]
    share = share_above(evidence.table("estimate_histogram"), NOTICEABLE_PERCENT)
    large = mean - CLEAR * se > LARGE_PERCENT
    return Judgement(
        verdict_of(large and share >= SHARE, large or share >= SHARE),
        f"mean ECE_bin {mean:.3f} ± {se:.3f} % at TCE 0 (n = 200); {share:.1%} of the data sets "
        f"above {NOTICEABLE_PERCENT:g} %; standard deviation of one {row['sd_percent']:.2f} %",
        f"± one Monte Carlo standard error, over {row['n_replicates']:.0f} data sets",
        evidence.source("intro"),
    )


def share_above(histogram, value):
    """Return the fraction of the counted estimates above ``value``, in percent units.

    The histogram bin that holds it counts in proportion.
    """
    low, high = histogram["low_percent"].to_numpy(), histogram["high_percent"].to_numpy()
    count = histogram["count"].to_numpy()
    if not count.sum() > 0:
        raise NotJudged("table estimate_histogram counts no estimate")
    return float(np.sum(count * np.clip((high - value) / (high - low), 0, 1)) / count.sum())


RULES = {
    "R01": Rule(
        f"Scores Beta(2.8, 0.05), perfect calibration, n = 200, 15 equal-width bins. Two "
        f"conditions: the mean ECE_bin exceeds {LARGE_PERCENT:g} % by {CLEAR:g} standard errors; "
        f"at least {SHARE:.0%} of the data sets give more than {NOTICEABLE_PERCENT:g} %. "
        "Reproduced if both hold, approximate if one does.",
        calibrated_model_looks_miscalibrated,
    ),
}
