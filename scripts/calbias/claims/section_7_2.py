"""R16 to R18: detecting miscalibration (section 7.2, Figure 5)."""

import numpy as np

from calbias.claims.evidence import enough_replicates
from calbias.claims.measurements import NAN, Measurement, by_case
from calbias.claims.settling import (
    SETTLED,
    Numbers,
    Settling,
    cells_of,
    scenarios_of,
    settled_numbers,
    settled_verdict,
)
from calbias.claims.tallies import CONSISTENTLY, tally, tally_measurements
from calbias.claims.verdicts import (
    APPROXIMATE,
    NOT_REPRODUCED,
    Judgement,
    NotJudged,
    claim,
    verdict_of,
)
from calbias.summaries.bias_by_group import error_of_mean
from calbias.summaries.detection import detection_rows
from calbias.summaries.detection_limits import TARGETS, detection_limits
from calbias.truth.paper import DETECTABLE_PERCENT, DETECTION_SIZES, NORM, WHOLE_PERCENT
from calbias.truth.true_error import true_calibration_error

PAIR = USUAL, BEST = "ece_bin_ew", "ece_sweep_em"
MANY = 10000
FEW, HALF = 0.005, 0.5  # miss rates of curves that are simulated again
NULL_SHARE = 5  # data sets of the null for one of a curve, as in the default configuration
Z_95 = 1.96
UNDECIDED = (0.02, 0.98)  # cells where both always or never detect tell nothing
RANGES = "in brackets the 95 % ranges of table detection_limits"


@claim(
    "R16",
    "§7.2, Fig 5",
    says="The equal-mass sweep misses miscalibration less often than ECE_bin, especially below "
    "10 000 samples",
    published="significantly lower miss rate",
    figures="fig5_detection",
    tables="detection",
    rule="Miss rate of ece_bin_ew minus that of ece_sweep_em at each n and TCE where their mean is "
    f"within {UNDECIDED[0]:g} … {UNDECIDED[1]:g}: {CONSISTENTLY}; {APPROXIMATE} at best unless "
    f"the area between the curves, averaged over n, is larger below {MANY} samples.",
    uncertainty="± one standard error at most, the threshold's included; of a miss rate",
)
def sweep_misses_less(evidence):
    usual, best = (miss_rates(evidence, name) for name in (USUAL, BEST))
    both = usual.add_suffix("_a").join(best.add_suffix("_b"), how="inner")
    sizes = set(both.index.get_level_values("n_samples"))
    if absent := [str(n) for n in DETECTION_SIZES if n not in sizes]:
        raise NotJudged(f"table detection lacks n = {', '.join(absent)}")
    middle = (both["miss_rate_a"] + both["miss_rate_b"]) / 2
    open_cells = both[(middle >= UNDECIDED[0]) & (middle <= UNDECIDED[1])]
    advantage = open_cells["miss_rate_a"] - open_cells["miss_rate_b"]
    total = tally(advantage, sum(cell_error(open_cells, side) for side in ("a", "b")))
    areas = {n: area_between(cells) for n, cells in both.groupby("n_samples")}
    few, many = (
        mean_of([areas[n] for n in DETECTION_SIZES if (n < MANY) == is_few])
        for is_few in (True, False)
    )
    verdict = total.verdict()
    if not few[0] > many[0]:
        verdict = verdict_of(False, verdict != NOT_REPRODUCED)
    name = "mean gap between the curves of miss rate over TCE"
    gaps = by_case(name, {f"below {MANY} samples:": few, "from there:": many}, "points of TCE")
    return Judgement(
        verdict,
        [*tally_measurements("sweep_em misses less", {"": total}), *gaps],
        evidence.source("detection"),
        (),
        max(cell_error(both, side).max() for side in ("a", "b")),
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


def cell_error(cells, side):
    """Return the standard error of each miss rate, its own and the threshold's together."""
    return np.hypot(cells[f"miss_rate_se_{side}"], cells[f"miss_rate_threshold_se_{side}"])


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
    fewest = evidence.tables["detection"]["n_replicates"].min() if len(evidence.tables) > 1 else 0
    return Numbers(np.array(values), np.nan_to_num(errors), fewest)


def detectable_by_many_drawn(evidence, n_replicates, simulate):
    """Return the same values and errors from the curves whose misses are neither few nor many."""
    table = evidence.table("detection")
    table = table[table["n_samples"] == MANY]
    rates = table.groupby("exponent")["miss_rate"]
    near = [d for d in rates.groups if d > 1 and rates.max()[d] > FEW and rates.min()[d] < HALF]
    (null,) = scenarios_of(evidence, "detection_null").values()
    curves = {
        scenario.name: scenario
        for scenario in scenarios_of(evidence, "detection").values()
        if np.isclose(scenario.curve.b1, near).any()
    }
    under_null = cells_of(
        [null], MANY, lambda s: simulate(s, MANY, PAIR, NULL_SHARE * n_replicates)
    )
    found = cells_of(curves.values(), MANY, lambda s: simulate(s, MANY, PAIR, n_replicates))
    tces = {name: true_calibration_error(scenario, NORM) for name, scenario in curves.items()}
    exponents = {name: scenario.curve.b1 for name, scenario in curves.items()}
    limits = detection_limits(detection_rows(found, under_null, exponents, tces))
    tables = {**evidence.tables, "detection_limits": limits}
    return detectable_by_many(evidence._replace(tables=tables))[:2]


def needs_many(tces):
    """Return the verdict on R17 of the TCEs that 10 000 samples detect, percent."""
    above = np.array(tces) > DETECTABLE_PERCENT[MANY]
    return verdict_of(above.all(), above.any())


NEEDS_MANY = Settling(
    tuple(f"{name}, miss {target:.0%}" for name in PAIR for target in TARGETS),
    detectable_by_many,
    needs_many,
    detectable_by_many_drawn,
)


@claim(
    "R17",
    "§7.2",
    says="Detecting a miscalibration of 2 % takes more than 10 000 samples",
    published="2 % at 10 000 samples",
    figures="fig5_detection",
    tables="detection_limits settled",
    rule=f"TCE at which the miss rate falls to {TARGETS[0]:.0%} and to {TARGETS[1]:.0%} with "
    f"{MANY} samples, for both estimators: reproduced if all four are above 2 %, approximate if "
    f"some are. {SETTLED}",
    uncertainty="± one Monte Carlo standard error",
    settling=NEEDS_MANY,
)
def two_percent_needs_many(evidence):
    numbers = settled_numbers(evidence, "R17", NEEDS_MANY)
    verdict, note = settled_verdict(numbers, needs_many)
    limits = [
        limit if np.isnan(limit.value) else limit._replace(value=value, error=error)
        for limit, value, error in zip(detectable(evidence, MANY), *numbers[:2], strict=True)
    ]
    return Judgement(verdict, limits, evidence.source("detection"), (note,))


@claim(
    "R18",
    "§7.2",
    says="With fewer than 500 samples only a miscalibration above 10 % is detected reliably",
    published="10 % at 500 samples",
    figures="fig5_detection",
    tables="detection_limits",
    rule=f"TCE at which the miss rate falls to {TARGETS[0]:.0%} and to {TARGETS[1]:.0%}, for both "
    "estimators. Approximate if all four 95 % ranges, those of table detection_limits, are "
    "above 10 % at 200 samples, reproduced if they are so still at 500.",
    uncertainty=RANGES,
)
def ten_percent_below_500(evidence):
    at_200, at_500 = (detectable(evidence, n) for n in (200, 500))
    holds, sharp = (
        all(limit.low > DETECTABLE_PERCENT[500] for limit in limits) for limits in (at_200, at_500)
    )
    verdict = verdict_of(sharp and holds, holds)
    return Judgement(verdict, [*at_200, *at_500], evidence.source("detection"))


def detectable(evidence, n):
    """Return Measurements of the TCE that n samples detect; the largest tried is ``low``."""
    table = evidence.table("detection_limits")
    if "detection" in evidence.tables:  # what the limits were interpolated from
        enough_replicates(evidence.table("detection"), "detection")
    limits = []
    for estimator in (USUAL, BEST):
        for target in TARGETS:
            near = np.isclose(table["target_miss_rate"], target)
            found = table[near & (table["n_samples"] == n) & (table["estimator"] == estimator)]
            if found.empty:
                raise NotJudged(f"table detection_limits lacks {estimator} at n = {n}")
            columns = ["tce_percent", "tce_low_percent", "tce_high_percent"]
            tce, low, high = found.iloc[0][columns].astype(float)
            printed = (DETECTABLE_PERCENT.get(n, NAN), WHOLE_PERCENT) if tce == tce else (NAN, NAN)
            name, case = f"TCE that {n} samples detect", f"{estimator}, miss {target:.0%}"
            values = NAN, np.nan_to_num(low, nan=0.0), high, *printed
            limits.append(Measurement(name, tce, "percent", case, *values))
    return limits
