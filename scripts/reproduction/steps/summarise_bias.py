from itertools import groupby
from os.path import dirname
from pathlib import Path

import pandas as pd

from pipeline.scenarios import read_scenarios
from pipeline.steps import Seed
from pipeline.tables import read_table, true_errors_of, write_table
from reproduction.replicates.store import drawn_with, gather_shards
from reproduction.summaries.bias import bias_rows


def summarise_bias(
    *,
    scenarios: Path,
    true_errors: Path,
    replicates: list[Path],
    experiment: str,
    n_replicates: int,
    seed: Seed,
    output: Path,
) -> None:
    """Summarise the replicates of one experiment: bias, spread and Monte Carlo error (paper Eq. 7).

    One estimator, the files of one folder, is in memory at a time.

    scenarios: the experiment's scenario table
    true_errors: table true_calibration_error
    replicates: its replicate files
    experiment: the experiment's name
    n_replicates: how many a cell has
    seed: seed of all random streams
    output: table to write
    """
    truths = true_errors_of(read_table(true_errors), read_scenarios(scenarios))
    expected = drawn_with(scenarios, seed, n_replicates)
    rows = [
        bias_rows(experiment, gather_shards(paths, **expected), truths)
        for _, paths in groupby(replicates, key=dirname)
    ]
    write_table(output, "bias", pd.concat(rows))
