"""R16 to R18: detecting miscalibration (§7.2, Figure 5)."""

import numpy as np

from calbias.claims.evidence import enough_replicates
from calbias.claims.judgement import APPROXIMATE, Judgement, NotJudged, Rule, verdict_of
from calbias.claims.tallies import CONSISTENTLY, error_of_mean, tally
from calbias.summaries.detection_limits import TARGETS

USUAL, BEST = "ece_bin_ew", "ece_sweep_em"
SIZES = (100, 200, 500, 1000, 2000, 5000, 10000, 20000)
MANY = 10000
UNDECIDED = (0.02, 0.98)  # cells where both always or never detect tell nothing


def sweep_misses_less(evidence):
    """R16: miss rates cell by cell, and the area between the curves by n."""
    usual, best = (miss_rates(evidence, name) for name in (USUAL, BEST))
    both = usual.add_suffix("_a").join(best.add_suffix("_b"), how="inner")
    require_sizes(both.index.get_level_values("n_samples"))
    middle = (both["miss_rate_a"] + both["miss_rate_b"]) / 2
    open_cells = both[(middle >= UNDECIDED[0]) & (middle <= UNDECIDED[1])]
    advantage = open_cells["miss_rate_a"] - open_cells["miss_rate_b"]
    total = tally(advantage, sum(cell_error(open_cells, side) for side in ("a", "b")))
    areas = {n: area_between(cells) for n, cells in both.groupby("n_samples")}
    few, many = (
        mean_of([areas[n] for n in SIZES if (n < MANY) == is_few]) for is_few in (True, False)
    )
    more = few[0] > many[0]
    verdict = total.verdict() if more else verdict_of(False, total.verdict() != "not_reproduced")
    return Judgement(
        verdict,
        f"sweep_em misses less {total.words()}; mean gap between the curves of miss rate over "
        f"TCE: {few[0]:.3f} ± {few[1]:.3f} points of TCE below {MANY} samples, {many[0]:.3f} ± "
        f"{many[1]:.3f} from there",
        "± one standard error at most, the threshold's included (of a miss rate ≤ "
        f"{max(cell_error(both, side).max() for side in ('a', 'b')):.3f})",
        evidence.source("detection"),
    )


def miss_rates(evidence, estimator):
    """Return miss rates, errors indexed by (n_samples, exponent), without the null's rows."""
    table = evidence.table("detection")
    table = table[(table["estimator"] == estimator) & (table["exponent"] > 1)]
    if table.empty:
        raise NotJudged(f"table detection has no rows of {estimator}")
    enough_replicates(table, "detection")
    keys = ["n_samples", "exponent"]
    errors = ["miss_rate_se", "miss_rate_threshold_se"]
    return table.set_index(keys)[["tce_percent", "miss_rate", *errors]]


def require_sizes(sizes):
    """Raise NotJudged unless every sample size of the paper is among ``sizes``."""
    absent = [str(n) for n in SIZES if n not in set(sizes)]
    if absent:
        raise NotJudged(f"table detection lacks n = {', '.join(absent)}")


def cell_error(cells, side):
    """Return the standard error of each miss rate, its own and the threshold's together."""
    return np.hypot(cells[f"miss_rate_se_{side}"], cells[f"miss_rate_threshold_se_{side}"])


def area_between(cells):
    """Return the integral of the difference of two miss rates over TCE, and its error.

    By the trapezoidal rule. The data sets of each TCE are new ones; the threshold is the same for
    all, so its errors add up. The two estimators see the same data sets, so theirs are added: the
    error is a bound.
    """
    cells = cells.sort_values("tce_percent_a")
    steps = np.diff(cells["tce_percent_a"])
    weights = (np.r_[steps, 0.0] + np.r_[0.0, steps]) / 2
    difference = cells["miss_rate_a"] - cells["miss_rate_b"]
    own = weights * (cells["miss_rate_se_a"] + cells["miss_rate_se_b"])
    shared = weights @ (cells["miss_rate_threshold_se_a"] + cells["miss_rate_threshold_se_b"])
    return float(weights @ difference), float(np.hypot(np.sqrt((own**2).sum()), shared))


def mean_of(values):
    """Return the mean of independent (value, standard error) pairs, with its standard error."""
    means, errors = np.array(values).T
    return means.mean(), error_of_mean(errors)


def two_percent_needs_many(evidence):
    """R17: the TCE that 10 000 samples detect, against 2 %."""
    limits = detectable(evidence, (MANY,))
    above = [low > 2.0 for _, low, _ in limits.values()]
    return judged_limits(evidence, verdict_of(all(above), any(above)), limits)


def ten_percent_below_500(evidence):
    """R18: the TCE that 500 and 200 samples detect, against 10 %."""
    limits = detectable(evidence, (200, 500))
    at_500 = {key: value for key, value in limits.items() if key[0] == 500}
    at_200 = {key: value for key, value in limits.items() if key[0] == 200}
    sharp = all(low > 10 for _, low, _ in at_500.values())
    holds = all(low > 10 for _, low, _ in at_200.values())
    return judged_limits(evidence, verdict_of(sharp and holds, holds), limits)


def judged_limits(evidence, verdict, limits):
    """Return a Judgement that lists detectable TCEs with their ranges."""
    spans = [
        f"n = {n}: {span([value[0] for key, value in limits.items() if key[0] == n])}"
        for n in dict.fromkeys(n for n, _, _ in limits)
    ]
    words = [
        f"n = {n}, {estimator}, miss {target:.0%}: {percent(tce)} ({low:.2f}–{high:.2f})"
        for (n, estimator, target), (tce, low, high) in limits.items()
    ]
    return Judgement(
        verdict,
        f"TCE above which it is detected: {', '.join(spans)}; " + "; ".join(words),
        "in brackets the 95 % ranges of table detection_limits",
        evidence.source("detection"),
    )


def span(tces):
    """Return the range of several detectable TCEs as text."""
    low, high = min(tces), max(tces)
    return f"{low:.2f}–{high:.2f} %" if np.isfinite(high) else f"{percent(low)} or more"


def percent(tce):
    """Return a detectable TCE as text; inf is none of those tried."""
    return f"{tce:.2f} %" if np.isfinite(tce) else "none of those tried"


def detectable(evidence, sizes):
    """Return {(n, estimator, target): (TCE, low, high)} in percent from ``detection_limits``.

    A miss rate that never falls to the target gives (inf, low, inf), low the largest TCE tried.
    """
    table = evidence.table("detection_limits")
    if "detection" in evidence.tables:  # what the limits were interpolated from
        enough_replicates(evidence.table("detection"), "detection")
    limits = {}
    for n in sizes:
        for estimator in (USUAL, BEST):
            for target in TARGETS:
                near = np.isclose(table["target_miss_rate"], target)
                found = table[near & (table["n_samples"] == n) & (table["estimator"] == estimator)]
                if found.empty:
                    raise NotJudged(f"table detection_limits lacks {estimator} at n = {n}")
                columns = ["tce_percent", "tce_low_percent", "tce_high_percent"]
                tce, low, high = found.iloc[0][columns].astype(float)
                limits[n, estimator, target] = (
                    np.nan_to_num(tce, nan=np.inf),
                    np.nan_to_num(low, nan=0.0),
                    np.nan_to_num(high, nan=np.inf),
                )
    return limits


RULES = {
    "R16": Rule(
        "Miss rate of ece_bin_ew minus that of ece_sweep_em at each n and TCE where their mean is "
        f"within {UNDECIDED[0]:g} … {UNDECIDED[1]:g}: {CONSISTENTLY}; {APPROXIMATE} at best unless "
        f"the area between the curves, averaged over n, is larger below {MANY} samples.",
        sweep_misses_less,
    ),
    "R17": Rule(
        f"TCE at which the miss rate falls to {TARGETS[0]:.0%} and to {TARGETS[1]:.0%} with "
        f"{MANY} samples, for both estimators: reproduced if all four 95 % ranges, those "
        "of table detection_limits, are above 2 %, approximate if some are.",
        two_percent_needs_many,
    ),
    "R18": Rule(
        f"TCE at which the miss rate falls to {TARGETS[0]:.0%} and to {TARGETS[1]:.0%}, for both "
        "estimators. Approximate if all four 95 % ranges, those of table detection_limits, are "
        "above 10 % at 200 samples, reproduced if they are so still at 500.",
        ten_percent_below_500,
    ),
}
