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
from reproduction.replicates import Cells, Estimates, drawn_with, gather_shards
from reproduction.steps.summarise_bias import bias_rows
from reproduction.steps.summarise_chosen_bins import chosen_bins
from reproduction.steps.summarise_detection import detection_rows

N_BATCHES = 5
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

    How many batches have the verdict of all data sets says how stable it is.

    tables: result tables, as NAME=PATH
    scenarios: scenario tables of the experiments, as NAME=PATH
    replicates: replicate files of these experiments
    seed: seed of all random streams
    output: table batch_verdicts to write
    """
    contents = read_tables(tables)
    laws = {name: read_scenarios(path) for name, path in scenarios.items()}
    estimates: dict[str, dict[str, Cells]] = {}
    for name, path in scenarios.items():
        files = [file for file in replicates if file.parts[-3] == name]
        gathered = gather_shards(files, **drawn_with(path, seed))
        estimates[name] = {estimator: dict(cells) for estimator, cells in gathered.items()}
    truths = {
        name: true_errors_of(contents["true_calibration_error"], law) for name, law in laws.items()
    }
    exponents = {scenario.name: scenario.curve.b1 for scenario, _ in laws.get("detection", ())}
    rows = []
    for k in range(N_BATCHES):
        parts = {
            name: batch(cells_by_estimator, k) for name, cells_by_estimator in estimates.items()
        }
        made = batch_tables(parts, truths, exponents)
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


def batch(estimators: Mapping[str, Cells], k: int) -> dict[str, Cells]:
    """Return every fifth replicate of each cell, from the k-th on."""
    return {
        name: {cell: Estimates(*(x[k::N_BATCHES] for x in values)) for cell, values in
               cells.items()}
        for name, cells in estimators.items()
    }  # fmt: skip


def batch_tables(
    estimates: Experiments,
    true_errors: Mapping[str, Mapping[str, float]],
    exponents: Mapping[str, float],
) -> dict[str, pd.DataFrame]:
    """Return the tables of OF_DATA_SETS from the replicates of a batch."""
    bias = {name: bias_rows(name, x, true_errors[name]) for name, x in estimates.items()}
    made = {"bias": pd.concat(bias.values(), ignore_index=True)}
    if "chosen_bins" in bias:
        made["chosen_bins"] = chosen_bins(bias["chosen_bins"])
    if {"detection", "detection_null"} <= {*estimates}:
        made["detection"] = detection_rows(
            estimates["detection"], estimates["detection_null"], exponents, true_errors["detection"]
        )
        made["detection_limits"] = detection_limits(made["detection"])
    return made
