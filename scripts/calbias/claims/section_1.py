"""R01: a perfectly calibrated model and its ECE_bin (section 1, Figure 1)."""

import numpy as np

from calbias.claims.measurements import Measurement
from calbias.claims.verdicts import CLEAR, Judgement, NotJudged, claim, verdict_of

LARGE_PERCENT = 2.0  # the size that appendix C calls "off"
NOTICEABLE_PERCENT = 1.0
SHARE = 0.95


@claim(
    "R01",
    "Fig 1",
    says="ECE_bin of a perfectly calibrated model is large",
    published="systematically large; no number",
    figures="fig1_intro",
    tables="bias estimate_histogram",
    rule=f"Scores Beta(2.8, 0.05), perfect calibration, n = 200, 15 equal-width bins. Two "
    f"conditions: the mean ECE_bin exceeds {LARGE_PERCENT:g} % by {CLEAR:g} standard errors; "
    f"at least {SHARE:.0%} of the data sets give more than {NOTICEABLE_PERCENT:g} %. "
    "Reproduced if both hold, approximate if one does.",
    uncertainty="± one Monte Carlo standard error",
)
def calibrated_model_looks_miscalibrated(evidence):
    scenario = ["beta_2.8_0.05_identity"]
    row = evidence.bias("intro", ["ece_bin_ew"], (200,), scenario).iloc[0]
    mean, se = row["mean_estimate_percent"], row["bias_se_percent"]
    share = share_above(evidence.table("estimate_histogram"), NOTICEABLE_PERCENT)
    large = mean - CLEAR * se > LARGE_PERCENT
    measurements = [
        Measurement("mean ECE_bin at TCE 0, n = 200", mean, "percent", error=se),
        Measurement(f"data sets above {NOTICEABLE_PERCENT:g} %", 100 * share, "percent"),
        Measurement("standard deviation of one estimate", row["sd_percent"], "percent"),
        Measurement("data sets", row["n_replicates"]),
    ]
    verdict = verdict_of(large and share >= SHARE, large or share >= SHARE)
    return Judgement(verdict, measurements, evidence.source("intro"))


def share_above(histogram, value):
    """Return the fraction of estimates above ``value``, percent; its own bin in proportion."""
    low, high = histogram["low_percent"].to_numpy(), histogram["high_percent"].to_numpy()
    count = histogram["count"].to_numpy()
    if not count.sum() > 0:
        raise NotJudged("table estimate_histogram counts no estimate")
    return float(np.sum(count * np.clip((high - value) / (high - low), 0, 1)) / count.sum())
