"""R16 to R18: detecting miscalibration (section 7.2, Figure 5)."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables, enough_replicates
from pipeline.claims.verdicts import NAN, Measurement, NotJudged, Ruling, Verdict, by_case
from pipeline.detection_limits import RELIABLE, TARGETS
from pipeline.paper import DETECTABLE_PERCENT, DETECTION_SIZES, WHOLE_PERCENT
from reproduction.bias import error_of_mean
from reproduction.claims.compared_biases import cell_measurements, count_cells

PAIR = ("ece_bin_ew", "ece_sweep_em")
MANY = 10000
UNDECIDED = (0.02, 0.98)  # cells where both always or never detect tell nothing
SIDES = ("_a", "_b")  # of a table that has both estimators


@claim("R16", "§7.2, Fig 5", "detection", "fig5_detection", experiment="detection")
def sweep_misses_less(run: RunTables) -> Ruling:
    """The equal-mass sweep misses miscalibration less often than ECE_bin, especially below 10 000
    samples.

    published: significantly lower miss rate
    rule: Miss rate of ece_bin_ew minus that of ece_sweep_em at each n and TCE where their mean is
    within {UNDECIDED[0]:g} … {UNDECIDED[1]:g}: {CONSISTENTLY}; approximate at best unless the area
    between the curves, averaged over n, is larger below {MANY} samples.
    errors: ± one standard error at most, the threshold's included; of a miss rate
    """
    table = run.table("detection")
    table = enough_replicates(table[table["exponent"] > 1], "detection")
    keys = ["n_samples", "exponent"]
    usual, best = (table[table["estimator"] == name].set_index(keys) for name in PAIR)
    both = usual.add_suffix("_a").join(best.add_suffix("_b"), how="inner")
    sizes = set(both.index.get_level_values("n_samples"))
    if absent := [str(n) for n in DETECTION_SIZES if n not in sizes]:
        raise NotJudged(f"table detection lacks n = {', '.join(absent)}")
    errors = [np.hypot(both[f"miss_rate_se{s}"], both[f"miss_rate_threshold_se{s}"]) for s in SIDES]
    is_open = ((both["miss_rate_a"] + both["miss_rate_b"]) / 2).between(*UNDECIDED)
    advantage = both["miss_rate_a"] - both["miss_rate_b"]
    cells = count_cells(advantage[is_open], sum(errors)[is_open])
    areas = {n: area_between(at_n) for n, at_n in both.groupby("n_samples")}
    few, many = (
        mean_of([areas[n] for n in DETECTION_SIZES if (n < MANY) == is_few])
        for is_few in (True, False)
    )
    gaps = {f"below {MANY} samples:": few, "from there:": many}
    measurements = [
        *cell_measurements("sweep_em misses less", {"": cells}),
        *by_case("mean gap between the curves of miss rate over TCE", gaps, "points of TCE"),
    ]
    verdict = cells.verdict()
    if not few[0] > many[0]:
        verdict = Verdict.worst([verdict, Verdict.APPROXIMATE])
    reason = (
        f"the sweep misses clearly less in {cells.agree} of {cells.total} cells, clearly more in "
        f"{cells.disagree}"
    )
    largest = max(error.max() for error in errors)
    return Ruling(verdict, measurements, largest_error=largest, reason=reason)


def area_between(cells: pd.DataFrame) -> tuple[float, float]:
    """Return the integral of the difference of two miss rates over TCE, and a bound on its error.

    The data sets of each TCE are new ones; the threshold is the same for all: its errors add up.
    """
    cells = cells.sort_values("tce_percent_a")
    steps = np.diff(cells["tce_percent_a"])
    weights = (np.r_[steps, 0.0] + np.r_[0.0, steps]) / 2
    difference = cells["miss_rate_a"] - cells["miss_rate_b"]
    rate_errors = weights * (cells["miss_rate_se_a"] + cells["miss_rate_se_b"])
    shared = weights @ (cells["miss_rate_threshold_se_a"] + cells["miss_rate_threshold_se_b"])
    return float(weights @ difference), float(np.hypot(np.sqrt((rate_errors**2).sum()), shared))


def mean_of(values: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of independent (value, standard error) pairs, with its standard error."""
    means, errors = np.array(values).T
    return means.mean(), error_of_mean(errors)


@claim("R17", "§7.2", "detection_limits", "fig5_detection", experiment="detection")
def two_percent_needs_many(run: RunTables) -> Ruling:
    """Detecting a miscalibration of 2 % takes more than 10 000 samples.

    published: 2 % at 10 000 samples
    rule: TCE at which the miss rate falls to {TARGETS[0]:.0%} (the usual power of a test),
    {TARGETS[1]:.0%} and {TARGETS[2]:.0%} with {MANY} samples, for both estimators. The sentence
    names no power: reproduced if all six 95 % ranges, those of table detection_limits, are above 2
    %, approximate if the four of the lower miss rates are.
    errors: in brackets the 95 % ranges of table detection_limits
    """
    limits = detectable(run, MANY, TARGETS)
    above = pd.Series([x.low > DETECTABLE_PERCENT[MANY] for x in limits])
    at_reliable = above[np.tile(np.isin(TARGETS, RELIABLE), len(PAIR))]
    least = min(limits, key=lambda x: x.low)
    reason = f"{MANY} samples detect {least.low:.2f} % ({least.case})"
    verdict = Verdict.of(above.all(), at_reliable.all())
    return Ruling(verdict, limits, reason=reason)


@claim("R18", "§7.2", "detection_limits", "fig5_detection", experiment="detection")
def ten_percent_below_500(run: RunTables) -> Ruling:
    """With fewer than 500 samples only a miscalibration above 10 % is detected reliably.

    published: 10 % at 500 samples
    rule: TCE at which the miss rate falls to {TARGETS[0]:.0%} (the usual power of a test),
    {TARGETS[1]:.0%} and {TARGETS[2]:.0%}, for both estimators, as in R17, the other half of the
    sentence. Approximate if all six 95 % ranges, those of table detection_limits, are above 10 % at
    200 samples, reproduced if they are so still at 500.
    errors: in brackets the 95 % ranges of table detection_limits
    """
    at_200, at_500 = (detectable(run, n, TARGETS) for n in (200, 500))
    above = [all(x.low > DETECTABLE_PERCENT[500] for x in limits) for limits in (at_200, at_500)]
    verdict = Verdict.of(all(above), above[0])
    least = [min(x.low for x in limits) for limits in (at_200, at_500)]
    reason = f"500 samples detect {least[1]:.1f} % (200 samples: {least[0]:.1f} %)"
    return Ruling(verdict, at_200 + at_500, reason=reason)


def detectable(run: RunTables, n: int, targets: Sequence[float]) -> list[Measurement]:
    """Return Measurements of the TCE that n samples detect; the largest tried is ``low``."""
    table = run.table("detection_limits")
    if "detection" in run.tables:  # what the limits were interpolated from
        enough_replicates(run.table("detection"), "detection")
    rows = table[table["n_samples"] == n].set_index(["estimator", "target_miss_rate"])
    limits = []
    for estimator, target in itertools.product(PAIR, targets):
        if (estimator, target) not in rows.index:
            raise NotJudged(f"table detection_limits lacks {estimator} at n = {n}")
        columns = ["tce_percent", "tce_low_percent", "tce_high_percent"]
        tce, low, high = rows.loc[(estimator, target), columns].astype(float)
        printed = (DETECTABLE_PERCENT.get(n, NAN), WHOLE_PERCENT) if tce == tce else (NAN, NAN)
        values = NAN, np.nan_to_num(low, nan=0.0), high, *printed
        case = f"{estimator}, miss {target:.0%}"
        limits.append(Measurement(f"TCE that {n} samples detect", tce, "percent", case, *values))
    return limits
