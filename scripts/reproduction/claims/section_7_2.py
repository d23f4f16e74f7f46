"""R16 to R18: detecting miscalibration (section 7.2, Figure 5)."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import (
    CONSISTENTLY,
    NAN,
    SAME,
    Measurement,
    NotJudged,
    Ruling,
    Verdict,
    by_case,
)
from pipeline.detection_limits import RELIABLE, TARGETS
from pipeline.paper import DETECTABLE_PERCENT, DETECTION_SIZES, WHOLE_PERCENT
from reproduction.bias import error_of_mean
from reproduction.claims.compared_biases import cell_measurements, count_cells
from reproduction.claims.t_test import TOLERANCE

PAIR = ("ece_bin_ew", "ece_sweep_em")
MANY = 10000
UNDECIDED = (0.02, 0.98)  # cells where both always or never detect tell nothing
SAME_RATE = 0.05  # two miss rates that differ by less are the same
OFTEN = CONSISTENTLY.replace(f"{SAME:g}", f"{SAME_RATE:g}")
SIDES = ("_a", "_b")  # of a table that has both estimators


@claim(
    "R16", "§7.2, Fig 5", "detection miss_correlations", "fig5_detection", experiment="detection"
)
def sweep_misses_less(run: RunTables) -> Ruling:
    """The equal-mass sweep misses miscalibration less often than ECE_bin, especially below 10 000
    samples.

    published: significantly lower miss rate
    rule: Miss rate of ece_bin_ew minus that of ece_sweep_em at each n and TCE where their mean is
    within {UNDECIDED[0]:g} … {UNDECIDED[1]:g}: {OFTEN}; approximate at best unless the area between
    the curves, averaged over n, is larger below {MANY} samples.
    errors: ± one standard error of the difference on the same data sets, with those of both
    thresholds
    """
    table = run.table("detection")
    table = run.enough_replicates(table[table["exponent"] > 1], "detection")
    keys = ["n_samples", "exponent"]
    usual, best = (table[table["estimator"] == name].set_index(keys) for name in PAIR)
    both = usual.add_suffix("_a").join(best.add_suffix("_b"), how="inner")
    sizes = set(both.index.get_level_values("n_samples"))
    if absent := [str(n) for n in DETECTION_SIZES if n not in sizes]:
        raise NotJudged(f"table detection lacks n = {', '.join(absent)}")
    both = both.join(miss_correlation(run), how="left")
    if both["correlation"].isna().any():
        raise NotJudged("table miss_correlations lacks cells of table detection")
    errors = np.hypot(_rate_error(both), _threshold_error(both))
    is_open = ((both["miss_rate_a"] + both["miss_rate_b"]) / 2).between(*UNDECIDED)
    advantage = both["miss_rate_a"] - both["miss_rate_b"]
    cells = count_cells(advantage[is_open], errors[is_open], SAME_RATE)
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
    return Ruling(verdict, measurements, largest_error=errors.max(), reason=reason)


def miss_correlation(run: RunTables) -> pd.Series:
    """Return the correlation of both estimators' misses on the same data sets, by n and exponent.

    Where one of them always or never misses there is none, and 0 stands for it.
    """
    table = run.table("miss_correlations")
    pair = table["estimator_a"].isin(PAIR) & table["estimator_b"].isin(PAIR)
    return table[pair].set_index(["n_samples", "exponent"])["correlation"].fillna(0.0)


def _rate_error(both: pd.DataFrame) -> pd.Series:
    a, b = (both[f"miss_rate_se{side}"] for side in SIDES)
    return np.sqrt((a**2 + b**2 - 2 * both["correlation"] * a * b).clip(lower=0))


def _threshold_error(both: pd.DataFrame) -> pd.Series:
    return np.hypot(*(both[f"miss_rate_threshold_se{side}"] for side in SIDES))


def area_between(cells: pd.DataFrame) -> tuple[float, float]:
    """Return the integral of the difference of two miss rates over TCE, and its error.

    The data sets of each TCE are new ones; the threshold is the same for all: its errors add up.
    """
    cells = cells.sort_values("tce_percent_a")
    steps = np.diff(cells["tce_percent_a"])
    weights = (np.r_[steps, 0.0] + np.r_[0.0, steps]) / 2
    difference = cells["miss_rate_a"] - cells["miss_rate_b"]
    rate_errors, shared = weights * _rate_error(cells), weights @ _threshold_error(cells)
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
    names no power: reproduced if all six are at least 2 %, less {TOLERANCE:.0%} of it (as in R11),
    approximate if the four of the lower miss rates are.
    errors: in brackets the 95 % ranges of table detection_limits
    """
    limits = detectable(run, MANY, TARGETS)
    above = at_least(limits, DETECTABLE_PERCENT[MANY])
    at_reliable = above[np.tile(np.isin(TARGETS, RELIABLE), len(PAIR))]
    least = min(limits, key=shown_limit)
    reason = f"{MANY} samples detect {shown_limit(least):.2f} % ({least.case})"
    return Ruling(Verdict.of(above.all(), at_reliable.all()), limits, reason=reason)


@claim("R18", "§7.2", "detection_limits", "fig5_detection", experiment="detection")
def ten_percent_below_500(run: RunTables) -> Ruling:
    """With fewer than 500 samples only a miscalibration above 10 % is detected reliably.

    published: 10 % at 500 samples
    rule: TCE at which the miss rate falls to {TARGETS[0]:.0%} (the usual power of a test),
    {TARGETS[1]:.0%} and {TARGETS[2]:.0%}, for both estimators, as in R17, the other half of the
    sentence. Approximate if all six are at least 10 % at 200 samples, less {TOLERANCE:.0%} of it,
    reproduced if they are so still at 500.
    errors: in brackets the 95 % ranges of table detection_limits
    """
    at_200, at_500 = (detectable(run, n, TARGETS) for n in (200, 500))
    above = [at_least(x, DETECTABLE_PERCENT[500]).all() for x in (at_200, at_500)]
    least = [min(map(shown_limit, limits)) for limits in (at_200, at_500)]
    reason = f"500 samples detect {least[1]:.1f} % (200 samples: {least[0]:.1f} %)"
    return Ruling(Verdict.of(all(above), above[0]), at_200 + at_500, reason=reason)


def at_least(limits: Sequence[Measurement], percent: float) -> np.ndarray:
    """Return which limits are at least a printed percentage, less TOLERANCE of it."""
    return np.array([*map(shown_limit, limits)]) >= percent * (1 - TOLERANCE)


def shown_limit(limit: Measurement) -> float:
    """Return a limit's value, or the lower end of its range where no TCE tried has the value."""
    return limit.value if np.isfinite(limit.value) else limit.low


def detectable(run: RunTables, n: int, targets: Sequence[float]) -> list[Measurement]:
    """Return Measurements of the TCE that n samples detect; the largest tried is ``low``."""
    table = run.table("detection_limits")
    if "detection" in run.tables:  # what the limits were interpolated from
        run.enough_replicates(run.table("detection"), "detection")
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
