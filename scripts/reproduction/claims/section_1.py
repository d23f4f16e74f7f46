"""R01: a perfectly calibrated model and its ECE_bin (section 1, Figure 1)."""

import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import CLEAR, Measurement, NotJudged, Ruling, Verdict

LARGE_PERCENT = 2.0  # the size that appendix C calls "off"
NOTICEABLE_PERCENT = 1.0
SHARE = 0.95


@claim("R01", "Fig 1", "bias estimate_histogram", "fig1_intro", experiment="intro")
def calibrated_model_looks_miscalibrated(run: RunTables) -> Ruling:
    """ECE_bin of a perfectly calibrated model is large.

    published: systematically large; no number
    rule: Scores Beta(2.8, 0.05), perfect calibration, n = 200, 15 equal-width bins. Two conditions:
    the mean ECE_bin exceeds {LARGE_PERCENT:g} % by {CLEAR:g} standard errors; at least {SHARE:.0%}
    of the data sets give more than {NOTICEABLE_PERCENT:g} %. Reproduced if both hold, approximate
    if one does.
    errors: ± one Monte Carlo standard error
    """
    row = run.bias("intro", ["ece_bin_ew"], (200,), ["beta_2.8_0.05_identity"]).iloc[0]
    mean, se = row["mean_estimate_percent"], row["bias_se_percent"]
    share = share_above(run.table("estimate_histogram"), NOTICEABLE_PERCENT)
    measurements = [
        Measurement("mean ECE_bin at TCE 0, n = 200", mean, "percent", error=se),
        Measurement(f"data sets above {NOTICEABLE_PERCENT:g} %", 100 * share, "percent"),
        Measurement("standard deviation of one estimate", row["sd_percent"], "percent"),
        Measurement("data sets", row["n_replicates"]),
    ]
    verdict = Verdict.all_or_some([mean - CLEAR * se > LARGE_PERCENT, share >= SHARE])
    reason = f"the mean is {mean:.1f} %, and {share:.0%} of the data sets give more than 1 %"
    return Ruling(verdict, measurements, reason=reason)


def share_above(histogram: pd.DataFrame, value: float) -> float:
    """Return the fraction of estimates above ``value``, percent; its own bin in proportion."""
    count = histogram["count"]
    if not count.sum() > 0:
        raise NotJudged("table estimate_histogram counts no estimate")
    low, high = histogram["low_percent"], histogram["high_percent"]
    return float((count * ((high - value) / (high - low)).clip(0, 1)).sum() / count.sum())
