"""S01 to S07: Gupta et al. (2021), Calibration of neural networks using splines."""

import itertools

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import RunTables, on_genuine
from pipeline.claims.verdicts import (
    NAN,
    NOBODY,
    POINTS,
    RARE,
    Measurement,
    NotJudged,
    Ruling,
    Verdict,
    by_case,
)
from pipeline.paper import MODELS
from reproduction.claims import printed
from reproduction.claims.by_method import (
    MOST,
    ByMeasure,
    Networks,
    by_share,
    genuine,
    measured,
    paired,
    share,
)
from reproduction.claims.printed import GUPTA_TABLE
from reproduction.recalibration import ON_HALF

METHODS = ("uncalibrated", "temperature_scaling", "vector_scaling", "spline")
COMPARED = ", ".join(METHODS)
SAME_DATA = "rounding of the printed digits: the numbers are of the same data"
PAIRED = "95 % interval of the difference to temperature scaling, by the paired bootstrap"
BOOTSTRAP = (
    "95 % bootstrap intervals: of the spline on half of the rows, and of its difference to "
    "temperature scaling, both methods on the same resamples"
)
LAST_DIGIT = 0.0011  # percent: a unit of the third decimal, their sums being in float32
LOW_PERCENT = 1.0
HALF_DIGIT = 0.01 / 12**0.5  # standard deviation of what two printed decimals round away
PARTLY = 2 / 3  # of the pairs of methods
BINS = ["ece", "ece100"]  # for 25 bins the spline has other knots
CHANGES = 0.05  # of the ECE
PRINTED = {"published": "published_percent"}


@claim("S01", "Gupta Table 1", "measures printed_tables", "gupta_fig1_calibration", real=True)
def uncalibrated_ks(run: RunTables) -> Ruling:
    """The KS errors of the uncalibrated models.

    published: 4.102 to 5.493 % (CIFAR-10), 15.832 to 21.156 % (CIFAR-100), 5.721 and 6.544 %
    rule: KS of the top label on the test fold: reproduced if every model's equals the printed value
    to one unit of its last digit, not reproduced if one does not. {EACH}
    errors: {SAME_DATA}
    """
    networks = Networks(run, {"ks_top1": ["uncalibrated"]})
    rows = networks.rows["ks_top1"]
    near = (rows["value_percent"] - rows["published_percent"]).abs() <= LAST_DIGIT
    equal = rows["value_percent"].round(3) == rows["published_percent"].round(3)
    measurements = [
        *networks.measured("KS", "ks_top1", "uncalibrated", published="published_percent"),
        share("equal to the printed digits", equal),
        share("within one unit of the last digit", near),
    ]
    reason = f"{near.sum()} of {len(near)} models have the printed value"
    return networks.ruling(Verdict.of(near.all(), False), measurements, reason)


@claim(
    "S02",
    "Gupta Table 1, §6",
    "printed_tables measures",
    "gupta_fig1_calibration errors_by_rank",
)
def spline_has_the_lowest_ks(run: RunTables) -> Ruling:
    """The spline reduces the KS error to below 1 % almost everywhere and outperforms others.

    published: 13 rows
    rule: {printed.BY_PRINT} Table 1 of Gupta et al., KS of the top label after the spline. Two
    conditions: below 1 % for nine of ten rows; the lowest of all methods in all but {RARE:.0%} of
    the rows. Reproduced if both hold, approximate if one does. What this run computes is shown
    besides, and a spline fitted to half of the test rows.
    errors: {printed.ROUNDING}
    """
    table = printed.printed(run, GUPTA_TABLE, "ks_top1")
    low, lowest = table["spline"] < LOW_PERCENT, _spline_is_lowest(table)
    measurements = [
        printed.count("below 1 %", low),
        printed.count("lowest", lowest),
        *printed.own_runs(run, GUPTA_TABLE, "ks_top1", _spline_is_lowest),
    ]
    if run.tables.get("measures") is not None:
        halves, rows = genuine(run, "ks_top1", [ON_HALF], required=False)
        name = "ks_top1, spline of half of the test rows"
        measurements += measured(name, halves, rows, ON_HALF) + paired(run, "ks_top1", ["spline"])
    reason = f"below 1 % in {low.sum()} of {len(low)} printed rows, and lowest in {lowest.sum()}"
    verdict = Verdict.all_or_some([low.mean() >= MOST, lowest.mean() >= 1 - RARE])
    return printed.ruling(verdict, measurements, reason)


def _spline_is_lowest(table: pd.DataFrame) -> pd.Series:
    return table["spline"] <= table.min(axis=1)


@claim(
    "S03",
    "Gupta Tables 2, 4",
    "measures printed_tables",
    "gupta_fig3_top2 gupta_fig7_within_top2 errors_by_rank",
    real=True,
)
def spline_of_other_ranks(run: RunTables) -> Ruling:
    """The spline reduces the KS error to below 1 % for the second label too, and for the two best
    labels together.

    published: below 1 % in all 13 rows for the second label, in 12 for the two best
    rule: KS errors of the second label and within the top two after the spline: reproduced if both
    are below 1 % for nine of ten models, approximate if for most. {IF_AGREED}
    errors: {PAIRED}
    """
    return _spline_is_low(run, ["ks_top2", "ks_within_top2"])


def _spline_is_low(run: RunTables, names: list[str]) -> Ruling:
    networks = Networks(run, dict.fromkeys(names, METHODS))
    networks.holds(_is_low, "below 1 %")
    measurements, conditions = [], []
    for name in names:
        low = _is_low({name: networks.of[name]})
        measurements += networks.measured(f"{name} after the spline", name, "spline", **PRINTED)
        measurements.append(share(f"{name}: below 1 %", low))
        measurements += paired(run, name, ["spline"])
        conditions.append(low)
    words = [
        f"{name} for {holds.sum()} of {len(holds)}"
        for name, holds in zip(names, conditions, strict=True)
    ]
    reason = f"below 1 %: {', '.join(words)} models"
    return networks.ruling(by_share(*conditions), measurements, reason, holds=conditions)


def _is_low(by_name: ByMeasure) -> pd.Series:
    """Return for which models the spline's KS error is below 1 % in each of the tables."""
    low = [values["spline"] < LOW_PERCENT for values in by_name.values()]
    return pd.concat(low, axis=1).all(axis=1)


@claim("S04", "Gupta §6, Table 5", "measures printed_tables", real=True)
def spline_keeps_the_accuracy(run: RunTables) -> Ruling:
    """The spline does not change the accuracy.

    published: the same if the top label alone is recalibrated; Table 5: all ranks are, 13 rows
    rule: Two conditions. A spline of the top label keeps the accuracy of every model, which is so
    by construction. A spline for the score of each rank, as in Table 5, changes it by at most one
    standard error of an accuracy on these rows ('negligible'), for every model. Reproduced if both
    hold, approximate if one does. {EACH}
    errors: ± one standard error of an accuracy, by the bootstrap
    """

    def change_of(values: ByMeasure) -> pd.Series:
        return values["accuracy"]["spline"] - values["accuracy"]["uncalibrated"]

    def change_of_all(values: ByMeasure) -> pd.Series:
        return values["accuracy_all_ranks"]["spline"] - values["accuracy"]["uncalibrated"]

    needed = {"accuracy_all_ranks": ["spline"], "accuracy": ["uncalibrated", "spline"]}
    networks = Networks(run, needed)
    change, all_ranks = change_of(networks.of), change_of_all(networks.of)
    rows = networks.rows["accuracy"].set_index(["method", "model"])
    limits = rows.loc["uncalibrated", ["low_percent", "high_percent"]].astype(float)
    error = (limits["high_percent"] - limits["low_percent"]) / (2 * 1.96)
    negligible = all_ranks.abs() <= error.reindex(all_ranks.index)
    printed = rows.loc["spline", "published_percent"].astype(float)
    measurements = [
        *by_case("accuracy after minus before, spline of the top label", change, POINTS),
        *by_case("accuracy after minus before, splines of all ranks", all_ranks, POINTS),
        *by_case("standard error of an accuracy", dict(error), POINTS),
    ]
    measurements += [
        Measurement("accuracy after splines of all ranks", value, "percent", model,
                    published=printed[model], published_error=HALF_DIGIT)
        for model, value in networks.of["accuracy_all_ranks"]["spline"].items()
    ]  # fmt: skip
    networks.holds(lambda values: change_of(values) == 0, "top label: no change")
    largest = all_ranks.abs().max()
    reason = f"the accuracy changes by up to {largest:.2f} points if all ranks are recalibrated"
    verdict = Verdict.all_or_some([bool((change == 0).all()), bool(negligible.all())])
    return networks.ruling(verdict, measurements, reason)


@claim("S05", "Gupta Tables 1, 6", "measures printed_tables", real=True, stated_by=NOBODY)
def ece_orders_as_ks(run: RunTables) -> Ruling:
    """ECE with 25 bins orders models and methods as the KS error does.

    published: no sentence; in the tables 128 of 150 pairs of methods (six methods, ten models)
    stand in one order
    rule: Pairs of methods of one model that both measures put in one order: reproduced if as many
    as the printed numbers of the same models put in one order, approximate if two thirds. {EACH}
    errors: {SAME_DATA}
    """
    networks = Networks(run, {"ks_top1": METHODS, "ece25": METHODS})
    pairs = networks.holds(_in_one_order)
    printed = {
        name: genuine(run, name, METHODS, column="published_percent")[0].loc[values.index]
        for name, values in networks.of.items()
    }
    as_printed = int(_in_one_order(printed).sum())
    in_order = Measurement(
        "pairs in one order", sum(pairs), f"of {len(pairs)}", published=as_printed
    )
    verdict = Verdict.of(sum(pairs) >= as_printed, np.mean(pairs) >= PARTLY)
    reason = f"{sum(pairs)} of {len(pairs)} pairs stand in one order, printed {as_printed}"
    return networks.ruling(verdict, [in_order], reason)


def _in_one_order(values: ByMeasure) -> pd.Series:
    """Return for each model and pair of methods whether both measures order it alike."""
    ks, ece = values["ks_top1"], values["ece25"]
    alike = {
        (model, a, b): bool((ks.loc[model, a] - ks.loc[model, b])
                            * (ece.loc[model, a] - ece.loc[model, b]) > 0)
        for model in ks.index
        for a, b in itertools.combinations(METHODS, 2)
    }  # fmt: skip
    return pd.Series(alike)


@claim("S06", "Gupta §1, §3", "measures")
def ece_changes_with_bins(run: RunTables) -> Ruling:
    """The KS error needs no bins, where the ECE changes with their number.

    published: the resulting calibration error depends on the binning scheme
    rule: Change of the ECE between 15 and 100 bins, as a share of the lesser, for every model with
    genuine outputs as it is and after each method (at least four models): reproduced if above 5 %
    for all, approximate if for some. The KS error has one value by definition.
    errors: {SAME_DATA}
    """
    table = run.table("measures")
    rows = table[table["measure"].isin(BINS) & table["value_percent"].notna()]
    rows = rows[rows["model"].isin(MODELS)]
    if rows["model"].nunique() < 4:
        raise NotJudged(f"{rows['model'].nunique()} models have genuine outputs; the rule wants 4")
    values = rows.pivot(index=["method", "model"], columns="measure", values="value_percent")
    change = values.max(axis=1) / values.min(axis=1) - 1
    depends = change > CHANGES
    name = "change of the ECE, over the models"
    measurements = [
        Measurement(name, NAN, "percent", method, NAN, 100 * changes.min(), 100 * changes.max())
        for method, changes in change.groupby(level="method", sort=False)
    ]
    measurements.append(Measurement("above 5 %", depends.sum(), f"of {len(depends)}"))
    reason = f"the ECE changes by more than 5 % in {depends.sum()} of {len(depends)} cases"
    return on_genuine(rows, Verdict.all_or_some(depends), measurements, reason=reason)


@claim(
    "S07",
    "Gupta Figures 5, 6, 9, 10",
    "measures printed_tables",
    "gupta_fig5_top3 gupta_fig9_within_top3 errors_by_rank",
    real=True,
)
def spline_of_rank_3(run: RunTables) -> Ruling:
    """The spline reduces the KS error to below 1 % for the third label too, and for the three best
    labels together.

    published: 1.277 % before and 0.294 % after, 0.983 and 0.368 % (DenseNet-40 on CIFAR-10)
    rule: As S03 for the KS errors of the third label and within the top three, both.
    errors: {PAIRED}
    """
    return _spline_is_low(run, ["ks_top3", "ks_within_top3"])
