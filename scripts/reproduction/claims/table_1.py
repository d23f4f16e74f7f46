"""R26 and R30: which recalibration method an estimator selects (Table 1, section 8)."""

import numpy as np
import pandas as pd

from pipeline.claims.claim import claim
from pipeline.claims.run_tables import TABLE_1, RunTables, on_genuine
from pipeline.claims.verdicts import NAN, POINTS, Measurement, Ruling, Verdict, by_case
from pipeline.paper import MODELS
from pipeline.tables import is_true
from reproduction.bias import error_of_mean

MEASURES = ("ece_bin_ew", "ece_sweep_em")  # in the same order, those of the tables
DEFAULT = "default"
TABLES = "recalibration_selection recalibration recalibration_sensitivity"
CLEAR_GAIN = 2.0  # standard errors by the bootstrap: a few planned comparisons
LIMIT_OF_THE_SWEEP = (
    "histogram binning of each class leaves a curve that is not monotone: the sweep then stops at "
    "two or three bins, reports too small an error and may select this method "
    "(docs/tool/estimators.md)"
)


@claim("R26", "Table 1", TABLES, "table1_recalibration", real=True)
def sweep_selects_better(run: RunTables) -> Ruling:
    """ECE_bin selects the same recalibration method as the true error for 3 of 10 models, ECE_sweep
    for 7 of 10.

    published: 3/10 and 7/10
    rule: Models for which the estimator selects the method that the TCE reference selects, real
    logits: reproduced if as many as Table 1 ticks, for ECE_bin and for ECE_sweep, approximate if
    more for ECE_sweep than for ECE_bin. Needs all ten real files. What other choices than the
    default would give is noted.
    errors: ± standard deviation over bootstrap resamples
    """
    _, rows = run.of_published_models("recalibration_selection")
    rows = rows[rows["published_agrees"].notna()]  # the two measures of Table 1
    ticks = run.tables[TABLE_1]
    agrees, counts, exact, measurements = is_true(rows["agrees"]), {}, True, []
    for name in ("ece_bin", "ece_sweep"):
        choices = agrees[rows["measure"].str.startswith(name)]
        counts[name], n = int(choices.sum()), len(choices)
        ticked = int(ticks[f"{name}_selects_as_tce"].sum())
        exact = exact and counts[name] == ticked
        case, printed = ("", ticked) if n == len(MODELS) else (f"of {n}:", NAN)
        label = f"{name} selects as TCE"
        measurements.append(Measurement(label, counts[name], "models", case, published=printed))
    same = (agrees == is_true(rows["published_agrees"])).sum()
    frequency = rows["agreement_frequency"]
    spread = rows.assign(mean=frequency, variance=frequency * (1 - frequency))
    spread = spread.groupby("measure")[["mean", "variance"]].sum()
    expected = {row.Index: (row.mean, np.sqrt(row.variance)) for row in spread.itertuples()}
    measurements += [
        Measurement(f"ticks of {len(rows)} as published", same),
        *by_case("models that agree, mean over bootstrap resamples", expected),
        *by_case("selects as the TCE, all networks", _of_all_networks(run)),
        *on_other_networks(run),
    ]
    verdict = Verdict.of(exact, counts["ece_sweep"] > counts["ece_bin"])
    reason = (
        f"ECE_bin selects as the TCE for {counts['ece_bin']}, ECE_sweep for {counts['ece_sweep']}"
    )
    agreeing = _of_all_networks(run)
    n = table_of(run)["model"].nunique()
    why = "and the claim counts all ten (of {} networks ECE_sweep agrees for {}, ECE_bin for {})"
    why = why.format(n, *(agreeing.get(name, 0) for name in reversed(MEASURES)))
    notes = [*choices_notes(run), LIMIT_OF_THE_SWEEP]
    return on_genuine(rows, verdict, measurements, notes, reason, why_open=why)


def on_other_networks(run: RunTables) -> list[Measurement]:
    """Return for how many other networks each estimator selects as the TCE does."""
    table = run.table("recalibration_selection")
    table = table[~table["model"].isin(MODELS) & table["measure"].isin(MEASURES)]
    agrees = is_true(table["agrees"]).groupby(table["measure"]).agg(["sum", "size"])
    what = "other networks: selects as TCE"
    return [
        Measurement(what, n, f"of {total} models", name) for name, (n, total) in agrees.iterrows()
    ]


def _of_all_networks(run: RunTables) -> dict[str, int]:
    """Return {estimator: number of the networks, the paper's or others, that it agrees on}."""
    table = table_of(run)
    return dict(is_true(table["agrees"]).groupby(table["measure"]).sum())


def table_of(run: RunTables) -> pd.DataFrame:
    """Return the rows of table ``recalibration_selection`` of the paper's two estimators."""
    table = run.table("recalibration_selection")
    return table[table["measure"].isin(MEASURES)]


def choices_notes(run: RunTables) -> list[str]:
    """Return which open choices change which estimator agrees more, over all models."""
    table = run.tables.get("recalibration_sensitivity")
    if table is None:
        return []
    wide = table.pivot(index="choice", columns="measure", values="n_agree")
    wide = wide.reindex(index=table["choice"].unique(), columns=list(MEASURES)).dropna()
    if DEFAULT not in wide.index:
        return []
    usual, best = MEASURES
    n_models = table.loc[table["choice"] == DEFAULT, "n_models"].max()
    notes = [
        f"of {n_models:.0f} models, how many {usual} and {best} agree for under each choice open "
        "to the authors (table recalibration_sensitivity)"
    ]
    lead = np.sign(wide[best] - wide[usual])
    for sign, words in ((1, "more often than"), (0, "as often as"), (-1, "less often than")):
        led = wide[lead == sign].itertuples()
        if named := ", ".join(f"{choice} ({a:.0f} and {b:.0f})" for choice, a, b in led):
            notes.append(f"{best} agrees {words} {usual} under {named}")
    return notes


@claim("R30", "§8", "recalibration_selection recalibration", "table1_recalibration", real=True)
def sweep_selects_what_calibrates_better(run: RunTables) -> Ruling:
    """Selecting the recalibration method by the sweep gives better calibration on test data.

    published: no number
    rule: Gain: TCE reference on the test fold of the method that ece_bin_ew selects, minus that of
    the method that ece_sweep_em selects, with its standard error over bootstrap resamples that both
    methods share. A gain is clear beyond two standard errors. Reproduced if it is clearly below 0
    on none of the paper's models and the mean gain is clear (by chance alone one of ten gains is
    beyond two errors in a fifth of all cases), approximate if a gain is clearly above 0 and the
    mean is above 0, else not reproduced; open where neither a gain nor the mean is clear. The
    statement is about the ten models: on part of them it stays open unless it is clear. Other
    networks are shown next to them and do not count.
    errors: ± standard error by the paired bootstrap of the test fold
    """
    table = run.table("recalibration_selection")
    rows = table[(table["measure"] == MEASURES[1]) & table["tce_gain_percent"].notna()]
    is_paper = rows["model"].isin(MODELS)
    gains, others = rows[is_paper], rows[~is_paper]
    better, worse = _clear(gains)
    mean = gains["tce_gain_percent"].mean()
    error = error_of_mean(gains["tce_gain_se_percent"])
    measurements = [
        Measurement("mean gain of the sweep's choice", mean, POINTS, "", error),
        *by_case("gain of the sweep's choice over ECE_bin's", _gains(gains), POINTS),
        *by_case("gain on another network, does not count", _gains(others), POINTS),
        Measurement("other networks where the sweep is clearly better", _clear(others)[0],
                    f"of {len(others)}"),
        Measurement("other networks where it is clearly worse", _clear(others)[1],
                    f"of {len(others)}"),
    ]  # fmt: skip
    reason = (
        f"on {len(gains)} of the paper's models the sweep's choice is clearly better {better} "
        f"times, worse {worse} times, mean gain {mean:.2f} ± {error:.2f}"
    )
    notes = [LIMIT_OF_THE_SWEEP]
    if better == worse == 0 and abs(mean) <= CLEAR_GAIN * error:
        clear, worse = _clear(others)
        why = (
            "and no gain of the sweep's choice is clear (of "
            f"{len(others)} other networks {clear} better, {worse} worse)"
        )
        ruling = on_genuine(gains, Verdict.NEEDS_REAL_LOGITS, measurements, notes, why_open=why)
        return ruling._replace(reason=ruling.reason or why.removeprefix("and "))
    is_clear = mean > CLEAR_GAIN * error
    verdict = Verdict.of(worse == 0 and is_clear, better > 0 and mean > 0)
    return on_genuine(gains, verdict, measurements, notes, reason)


def _gains(rows: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Return {model: (gain, its standard error)}."""
    columns = rows["tce_gain_percent"], rows["tce_gain_se_percent"]
    return dict(zip(rows["model"], zip(*columns, strict=True), strict=True))


def _clear(rows: pd.DataFrame) -> tuple[int, int]:
    """Return how many gains are clearly above 0, and how many clearly below."""
    limit = CLEAR_GAIN * rows["tce_gain_se_percent"]
    gain = rows["tce_gain_percent"]
    return int(((gain > limit) & (gain != 0)).sum()), int(((gain < -limit) & (gain != 0)).sum())
