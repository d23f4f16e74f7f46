"""What each study of the evidence shows, in sentences that follow from its tables by a rule."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from evidence import reading
from evidence.names import BLIND, BROKEN, CLUSTERED, measure_name
from reproduction.judging import JUDGING

Tables = Mapping[str, pd.DataFrame]
OURS = {"calbias": "ℓ1", "calbias_l2": "ℓ2"}
TARGETS_SHOWN = ("classwise_l1", "top_label_l1")
LEAST = 0.90
"""A cell fails if its exact range lies below this share."""


class Study(NamedTuple):
    """A part of the page: its question, what it finds, its figures and its tables."""

    name: str
    question: str
    findings: Callable[[Tables], Iterable[str]]
    figures: tuple[str, ...]
    tables: tuple[str, ...]


def league(tables: Tables) -> Iterable[str]:
    """Say which measure is nearest to the ℓ1 and ℓ2 error, by distribution."""
    for words, sentences in reading.league_reading(tables["league_ranking"]):
        yield f"For {words}: {sentences[-3] if len(sentences) > 3 else sentences[0]}"


def coverage(tables: Tables) -> Iterable[str]:
    """Say how often the audit's interval holds the truth, and which cells fail."""
    table = tables["interval_coverage"]
    scenario = table["scenario"]
    parts = {
        "cells that it was made on": ~scenario.str.startswith((JUDGING, CLUSTERED)),
        "cells that it was not made on": scenario.str.startswith(JUDGING)
        & ~scenario.str.startswith(BLIND),
        "blind cells of 2026 that keep its assumption": scenario.str.startswith(BLIND)
        & ~scenario.str.startswith(BROKEN),
        "blind cells of 2026 that break it": scenario.str.startswith(BROKEN),
    }
    for words, chosen in parts.items():
        shares = []
        for method, error in OURS.items():
            rows = table[chosen & (table["method"] == method)]
            if len(rows):
                fails = int((rows["high"] < LEAST).sum())
                shares.append(
                    f"{100 * rows['coverage'].mean():.1f} % of the {error} errors "
                    f"({fails} of {len(rows)} cells clearly below {LEAST:.0%})"
                )
        if shares:
            yield f"On {words} the nominal 95 % interval holds {' and '.join(shares)}."
    rows = table[scenario.str.startswith(CLUSTERED)]
    if len(rows):
        yield (
            f"On {len(rows)} cells of rows that depend on each other the interval by clusters "
            f"holds {100 * rows['coverage'].mean():.1f} %, in the worst cell "
            f"{100 * rows['coverage'].min():.0f} %."
        )


def power(tables: Tables) -> Iterable[str]:
    """Say whether the tests keep their level, and what they detect."""
    sizes = reading.power_reading(tables["test_power"])[0].partition(":")[0].rstrip(".")
    yield f"{sizes}; the figure shows which."
    yield from reading.detection_reading(tables["test_detection"])


def predicted_bias(tables: Tables) -> Iterable[str]:
    """Say how much of the bias on genuine rows the bias by construction explains."""
    table = tables["predicted_bias"]
    observed = table["observed_bias_percent"]
    for column, words in (
        ("predicted_bias_percent", "all rows"),
        ("predicted_from_subsample_percent", "the subsample alone"),
    ):
        distance = (table[column] - observed).abs().mean()
        yield (
            f"With a curve fitted on {words} the prediction is {distance:.2f} points off on "
            f"average, where the bias itself is {observed.abs().mean():.2f} points "
            f"({table['model'].nunique()} files)."
        )


def all_classes(tables: Tables) -> Iterable[str]:
    """Say which estimator of all classes is nearest to the class-wise errors."""
    table = tables["multiclass_reading"]
    most = table["n_samples"].max()
    chosen = table[(table["n_samples"] == most) & table["target"].isin(TARGETS_SHOWN)]
    for row in chosen.itertuples():
        yield f"{str(row.population).replace('_', ' ')}, n = {row.n_samples}: {row.sentence}"


def subgroups(tables: Tables) -> Iterable[str]:
    """Say whether the test over subgroups keeps its level, and who is left behind."""
    cells = tables["subgroup_cells"]
    calibrated, faulty = cells[cells["calibrated"]], cells[~cells["calibrated"]]
    if len(calibrated):
        worst = calibrated.loc[calibrated["rejection_rate"].idxmax()]
        yield (
            f"The test at the 5 % level rejects {100 * calibrated['rejection_rate'].mean():.1f} % "
            f"of calibrated data sets, most ({100 * worst['rejection_rate']:.0f} %) in the cell "
            f"“{worst['cell']}”; the intervals hold all gaps at once in "
            f"{100 * cells['coverage'].mean():.1f} %."
        )
    if len(faulty):
        yield (
            f"It finds the fault in {100 * faulty['rejection_rate'].mean():.0f} % of the data sets "
            f"with one, between {100 * faulty['rejection_rate'].min():.0f} % and "
            f"{100 * faulty['rejection_rate'].max():.0f} % by cell."
        )
    rows = tables["subjects"]
    rows = rows[rows["stage"] == "recalibrated"]
    wrong = int((rows["n_wrong_subjects"] > 0).sum())
    yield (
        f"Of {len(rows)} recalibrated confidences of {rows['model'].nunique()} language models "
        f"{wrong} are miscalibrated in some subject."
    )


def monitor(tables: Tables) -> Iterable[str]:
    """Say how often a calibrated stream rings, and how the delay compares with an audit's."""
    table = tables["monitor"]
    quiet = table[table["part"] == "calibrated"]
    if len(quiet):
        share = quiet["alarms"].sum() / quiet["n_streams"].sum()
        yield f"Of calibrated streams {100 * share:.1f} % ring at the level 5 %, at any row."
    for row in table[table["stream"].eq("none") & table["part"].ne("calibrated")].itertuples():
        yield (
            f"An audit's verdict that is read every 200 rows calls {row.alarms} of {row.n_streams} "
            "calibrated streams miscalibrated at some time."
        )
    faults = table.dropna(subset="delay_ratio")
    if len(faults):
        yield (
            f"The monitor needs {faults['delay_ratio'].median():.1f} times the rows of an audit "
            f"that begins at the change (median of {len(faults)} faults)."
        )


def leaderboard(tables: Tables) -> Iterable[str]:
    """Say how far the ECE of few questions lies from the ECE of all."""
    for n, rows in tables["leaderboard"].groupby("n_samples"):
        width = (rows["high_percent"] - rows["low_percent"]).median()
        excess = (rows["mean_estimate_percent"] - rows["value_percent"]).mean()
        yield (
            f"On {n} questions the ECE lies {excess:+.1f} points from the ECE on all questions on "
            f"average, and 90 % of the draws spread over {width:.1f} points (median)."
        )


def few_rows(tables: Tables) -> Iterable[str]:
    """Say which estimator is nearer than the sweep on few genuine rows."""
    table = reading.subsampled_summary(tables["subsampled"])
    for (kind, n), rows in table.groupby(["kind", "n_samples"], sort=False):
        best = rows.loc[rows["ratio_to_sweep"].idxmin()]
        error = 2 * best["ratio_to_sweep_se"]  # none of one file
        yield (
            f"{kind}, {n} rows: the error of “{measure_name(best['estimator'])}” is "
            f"{best['ratio_to_sweep']:.2f}{f' ± {error:.2f}' if error >= 0 else ''} of the sweep's "
            f"(files: {best['files']})."
        )


def simulations(tables: Tables) -> Iterable[str]:
    """Say how many printed numbers come out, and on which waves the verdict is blind."""
    table = tables["printed_simulations"]
    for paper, rows in table.dropna(subset="z").groupby("paper", sort=False):
        near = int((rows["z"].abs() <= 3).sum())
        rms = (rows["z"] ** 2).mean() ** 0.5
        yield f"{paper}: {near} of {len(rows)} numbers are within 3 errors of both (rms {rms:.2f})."
    waves = table[(table["paper"] == "tcal2023") & (table["quantity"] == "verdict")]
    numbers = waves["cell"].str.extract(r"n=(?P<n>\d+) waves=(?P<w>\d+)").astype(int)
    missed = numbers[waves["recomputed"] > 0.5].groupby("n")["w"].min()
    yield from (
        f"With n = {n} the verdict misses most data sets from {w} waves on."
        for n, w in missed.items()
    )


STUDIES = (
    Study("league", "Which measure is nearest to the truth?", league, ("league_errors",),
          ("league", "league_ranking", "league_sensitivity")),
    Study("coverage", "Does the interval of an audit hold the true error?", coverage,
          ("interval_coverage", "blind_cells"), ("interval_coverage",)),
    Study("power", "Do the tests keep their level, and what do they see?", power, ("test_power",),
          ("test_power", "test_detection")),
    Study("predicted_bias", "Does bias by construction predict the bias on genuine data?",
          predicted_bias, ("predicted_bias",), ("predicted_bias",)),
    Study("few_rows", "Which estimator is nearest on few genuine rows?", few_rows, (),
          ("subsampled",)),
    Study("all_classes", "Which estimator of all classes is nearest to its truth?", all_classes,
          ("multiclass_league",), ("multiclass_league", "multiclass_reading", "kull2019_table3")),
    Study("subgroups", "Does the test over subgroups find whom a model fails?", subgroups,
          ("subgroup_cells", "subgroups"), ("subgroup_cells", "subjects", "verbal_confidence")),
    Study("monitor", "How soon does the monitor find a fault, and how often does it ring falsely?",
          monitor, ("monitor",), ("monitor",)),
    Study("leaderboard", "What is a calibration error on a few hundred questions worth?",
          leaderboard, ("leaderboard",), ("leaderboard", "language_models")),
    Study("simulations", "Do simulations come out as other papers print them?", simulations,
          ("widmann2019", "arrieta2022", "tcal2023", "henzi2023"), ("printed_simulations",)),
)  # fmt: skip
