"""R16 to R18: detecting miscalibration (section 7.2, Figure 5)."""

import itertools

import numpy as np

from calbias.truth.true_error import true_calibration_error
from pipeline.claims.evidence import Evidence, enough_replicates
from pipeline.claims.measurements import NAN, Measurement, by_case
from pipeline.claims.verdicts import CONSISTENTLY, SETTLED, NotJudged, Verdict, claim, worded
from pipeline.detection_limits import TARGETS, detection_limits
from pipeline.scenarios.paper import DETECTABLE_PERCENT, DETECTION_SIZES, NORM, WHOLE_PERCENT
from reproduction.claims.settling import Numbers, Settling, cells_of, scenarios_of, settled
from reproduction.claims.tallies import tally, tally_measurements
from reproduction.summaries.bias_by_group import error_of_mean
from reproduction.summaries.detection import detection_rows

PAIR = ("ece_bin_ew", "ece_sweep_em")
MANY = 10000
FEW, HALF = 0.005, 0.5  # miss rates of curves that are simulated again
NULL_SHARE = 5  # data sets of the null for one of a curve, as in the default configuration
Z_95 = 1.96
UNDECIDED = (0.02, 0.98)  # cells where both always or never detect tell nothing
SIDES = ("_a", "_b")  # of a table that has both estimators


@claim("R16", "§7.2, Fig 5", "detection", "fig5_detection")
@worded(
    says=(
        "The equal-mass sweep misses miscalibration less often than ECE_bin, especially below 10 "
        "000 samples"
    ),
    published="significantly lower miss rate",
    rule=(
        "Miss rate of ece_bin_ew minus that of ece_sweep_em at each n and TCE where their mean "
        f"is within {UNDECIDED[0]:g} … {UNDECIDED[1]:g}: {CONSISTENTLY}; approximate at best "
        f"unless the area between the curves, averaged over n, is larger below {MANY} samples."
    ),
    errors="± one standard error at most, the threshold's included; of a miss rate",
)
def sweep_misses_less(evidence):
    table = evidence.table("detection")
    table = enough_replicates(table[table["exponent"] > 1], "detection")
    keys = ["n_samples", "exponent"]
    usual, best = (table[table["estimator"] == name].set_index(keys) for name in PAIR)
    both = usual.add_suffix("_a").join(best.add_suffix("_b"), how="inner")
    sizes = set(both.index.get_level_values("n_samples"))
    if absent := [str(n) for n in DETECTION_SIZES if n not in sizes]:
        raise NotJudged(f"table detection lacks n = {', '.join(absent)}")
    errors = [np.hypot(both[f"miss_rate_se{s}"], both[f"miss_rate_threshold_se{s}"]) for s in SIDES]
    is_open = ((both["miss_rate_a"] + both["miss_rate_b"]) / 2).between(*UNDECIDED)
    total = tally((both["miss_rate_a"] - both["miss_rate_b"])[is_open], sum(errors)[is_open])
    areas = {n: area_between(cells) for n, cells in both.groupby("n_samples")}
    few, many = (
        mean_of([areas[n] for n in DETECTION_SIZES if (n < MANY) == is_few])
        for is_few in (True, False)
    )
    yield from tally_measurements("sweep_em misses less", {"": total})
    gaps = {f"below {MANY} samples:": few, "from there:": many}
    yield from by_case("mean gap between the curves of miss rate over TCE", gaps, "points of TCE")
    verdict = total.verdict()
    if not few[0] > many[0]:
        verdict = Verdict.worst([verdict, Verdict.APPROXIMATE])
    return verdict, evidence.source("detection"), max(error.max() for error in errors)


def area_between(cells):
    """Return the integral of the difference of two miss rates over TCE, and a bound on its error.

    The data sets of each TCE are new ones; the threshold is the same for all: its errors add up.
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


def detectable_by_many(evidence):
    """Return the Numbers of R17: the TCE that 10 000 samples detect, percent."""
    limits = detectable(evidence, MANY)
    values = [limit.low if np.isnan(limit.value) else limit.value for limit in limits]
    errors = [(limit.high - limit.low) / (2 * Z_95) for limit in limits]
    detection = evidence.tables.get("detection")
    fewest = 0 if detection is None else detection["n_replicates"].min()
    return Numbers(np.array(values), np.nan_to_num(errors), fewest)


def detectable_by_many_drawn(evidence, n_replicates, simulate):
    """Return the same values and errors from the curves whose misses are neither few nor many."""
    table = evidence.table("detection")
    rates = table[table["n_samples"] == MANY].groupby("exponent")["miss_rate"]
    near = [d for d in rates.groups if d > 1 and rates.max()[d] > FEW and rates.min()[d] < HALF]
    null = scenarios_of(evidence, "detection_null")
    curves = scenarios_of(evidence, "detection").values()
    curves = [scenario for scenario in curves if np.isclose(scenario.curve.b1, near).any()]
    detection = detection_rows(
        cells_of(curves, MANY, PAIR, n_replicates, simulate),
        cells_of(null.values(), MANY, PAIR, NULL_SHARE * n_replicates, simulate),
        {scenario.name: scenario.curve.b1 for scenario in curves},
        {scenario.name: true_calibration_error(scenario, norm=NORM) for scenario in curves},
    )
    tables = {**evidence.tables, "detection_limits": detection_limits(detection)}
    return detectable_by_many(Evidence(tables))[:2]


NEEDS_MANY = Settling(
    tuple(f"{name}, miss {target:.0%}" for name in PAIR for target in TARGETS),
    detectable_by_many,
    lambda tces: Verdict.all_or_some(np.array(tces) > DETECTABLE_PERCENT[MANY]),
    detectable_by_many_drawn,
)


@claim("R17", "§7.2", "detection_limits settled", "fig5_detection", settling=NEEDS_MANY)
@worded(
    says="Detecting a miscalibration of 2 % takes more than 10 000 samples",
    published="2 % at 10 000 samples",
    rule=(
        f"TCE at which the miss rate falls to {TARGETS[0]:.0%} and to {TARGETS[1]:.0%} with "
        f"{MANY} samples, for both estimators: reproduced if all four are above 2 %, approximate "
        f"if some are. {SETTLED}"
    ),
    errors="± one Monte Carlo standard error",
)
def two_percent_needs_many(evidence):
    *numbers, verdict = yield from settled(evidence, "R17", NEEDS_MANY)
    for limit, value, error in zip(detectable(evidence, MANY), *numbers, strict=True):
        is_open = np.isnan(limit.value)
        yield limit if is_open else limit._replace(value=value, error=error)
    return verdict, evidence.source("detection")


@claim("R18", "§7.2", "detection_limits", "fig5_detection")
@worded(
    says="With fewer than 500 samples only a miscalibration above 10 % is detected reliably",
    published="10 % at 500 samples",
    rule=(
        f"TCE at which the miss rate falls to {TARGETS[0]:.0%} and to {TARGETS[1]:.0%}, for both "
        "estimators. Approximate if all four 95 % ranges, those of table detection_limits, are "
        "above 10 % at 200 samples, reproduced if they are so still at 500."
    ),
    errors="in brackets the 95 % ranges of table detection_limits",
)
def ten_percent_below_500(evidence):
    limits = [detectable(evidence, n) for n in (200, 500)]
    yield from itertools.chain(*limits)
    at_200, at_500 = (all(x.low > DETECTABLE_PERCENT[500] for x in found) for found in limits)
    return Verdict.of(at_200 and at_500, at_200), evidence.source("detection")


def detectable(evidence, n):
    """Return Measurements of the TCE that n samples detect; the largest tried is ``low``."""
    table = evidence.table("detection_limits")
    if "detection" in evidence.tables:  # what the limits were interpolated from
        enough_replicates(evidence.table("detection"), "detection")
    rows = table[table["n_samples"] == n].set_index(["estimator", "target_miss_rate"])
    limits = []
    for estimator, target in itertools.product(PAIR, TARGETS):
        if (estimator, target) not in rows.index:
            raise NotJudged(f"table detection_limits lacks {estimator} at n = {n}")
        columns = ["tce_percent", "tce_low_percent", "tce_high_percent"]
        tce, low, high = rows.loc[(estimator, target), columns].astype(float)
        printed = (DETECTABLE_PERCENT.get(n, NAN), WHOLE_PERCENT) if tce == tce else (NAN, NAN)
        values = NAN, np.nan_to_num(low, nan=0.0), high, *printed
        case = f"{estimator}, miss {target:.0%}"
        limits.append(Measurement(f"TCE that {n} samples detect", tce, "percent", case, *values))
    return limits
