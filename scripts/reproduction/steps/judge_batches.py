"""Claims judged on independent batches of the simulated data sets (table ``batch_verdicts``)."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from pipeline.claims.claim import Claim
from pipeline.claims.ledger import all_claims, judge
from pipeline.claims.run_tables import RunTables
from pipeline.detection_limits import detection_limits
from pipeline.scenarios import read_scenarios
from pipeline.steps import Seed
from pipeline.tables import read_tables, true_errors_of, write_table
from reproduction.replicates import Cells, drawn_with, gather_shards
from reproduction.steps.summarise_bias import batched_rows
from reproduction.steps.summarise_chosen_bins import chosen_bins
from reproduction.steps.summarise_detection import detection_rows

N_BATCHES = 5
MOST = 20_000  # replicates of a cell of the detection
DETECTION = ("detection", "detection_null")
OF_DATA_SETS = {"bias", "detection", "detection_limits", "chosen_bins"}
"""The tables that are made again from a batch."""
Experiments = Mapping[str, Mapping[str, Cells]]  # {experiment: {estimator: cells}}


def judge_batches(
    *,
    tables: dict[str, Path],
    scenarios: dict[str, Path],
    replicates: list[Path],
    seed: Seed,
    output: Path,
) -> None:
    """Judge the claims on each of five independent batches of the simulated data sets.

    How many batches have the verdict of all data sets says how stable it is. Fewer than five
    replicates, or ten of the null, whose halves test each other, give no batches.

    tables: result tables, as NAME=PATH
    scenarios: scenario tables of the experiments, as NAME=PATH
    replicates: replicate files of these experiments
    seed: seed of all random streams
    output: table batch_verdicts to write
    """
    contents = read_tables(tables)
    truths, estimates, laws = {}, {}, {}
    for name, path in scenarios.items():
        laws[name] = read_scenarios(path)
        truths[name] = true_errors_of(contents["true_calibration_error"], laws[name])
        files = [file for file in replicates if file.parts[-3] == name]
        estimates[name] = gather_shards(files, **drawn_with(path, seed))
    exponents = {scenario.name: scenario.curve.b1 for scenario, _ in laws.get("detection", ())}
    has_enough = all(
        cells.n_replicates >= N_BATCHES * (2 if name == DETECTION[1] else 1)
        for name, estimators in estimates.items()
        for cells in estimators.values()
    )
    batches = batch_tables(estimates, truths, exponents) if has_enough else ()
    rows = []
    for k, made in enumerate(batches):
        run = RunTables({**contents, **made}, fewest_replicates=2)
        for claim in claims_of_data_sets():
            ruling = judge(claim, run)
            rows.append((claim.id, k, ruling.verdict, ruling.reason))
    write_table(output, "batch_verdicts", rows)


def claims_of_data_sets() -> Iterator[Claim]:
    """Yield the claims whose verdicts rest on simulated data sets."""
    for claim in all_claims("reproduction"):
        if claim.experiment and OF_DATA_SETS & {*claim.tables.split()}:
            yield claim


def batch_tables(
    estimates: Experiments,
    true_errors: Mapping[str, Mapping[str, float]],
    exponents: Mapping[str, float],
) -> Iterator[dict[str, pd.DataFrame]]:
    """Yield the tables of OF_DATA_SETS from each batch of the replicates.

    One cell is in memory at a time, and of the detection at most MOST replicates of each.
    """
    by_experiment = {
        name: batched_rows(name, x, true_errors[name], N_BATCHES) for name, x in estimates.items()
    }
    detected = {
        name: {estimator: _first(cells) for estimator, cells in estimates[name].items()}
        for name in DETECTION
        if {*DETECTION} <= {*estimates}
    }
    for k in range(N_BATCHES):
        bias = {name: batches[k] for name, batches in by_experiment.items()}
        made = {"bias": pd.concat(bias.values(), ignore_index=True)} if bias else {}
        if "chosen_bins" in bias:
            made["chosen_bins"] = chosen_bins(bias["chosen_bins"])
        if detected:
            curves, null = (batch(detected[name], k) for name in DETECTION)
            truth = true_errors[DETECTION[0]]
            made["detection"] = detection_rows(curves, null, exponents, truth)
            made["detection_limits"] = detection_limits(made["detection"])
        yield made


def _first(cells: Cells) -> Cells:
    return {cell: values.first(MOST) for cell, values in cells.items()}


def batch(estimators: Mapping[str, Cells], k: int) -> dict[str, Cells]:
    """Return every fifth replicate of each cell, from the k-th on."""
    return {
        name: {cell: values.every(N_BATCHES, k) for cell, values in cells.items()}
        for name, cells in estimators.items()
    }
