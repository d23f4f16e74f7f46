"""How the estimates of one experiment go together (table ``correlations``)."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calbias.estimation.registry import NO_BINS
from pipeline.steps import Seed
from pipeline.table_schema import columns_of
from pipeline.tables import write_table
from reproduction.replicates import Cells, drawn_with, gather_shards


def correlate_estimates(
    *,
    scenarios: Path,
    replicates: list[Path],
    experiment: str,
    n_replicates: int,
    seed: Seed,
    output: Path,
) -> None:
    """Correlate the estimates that are made of the same simulated data sets.

    The error of a difference of two means needs it. All estimates of one scenario and sample size
    are in memory at a time.

    scenarios: the experiment's scenario table
    replicates: its replicate files
    experiment: the experiment's name
    n_replicates: how many a cell has
    seed: seed of all random streams
    output: table to write
    """
    expected = drawn_with(scenarios, seed, n_replicates)
    rows = correlation_rows(experiment, gather_shards(replicates, **expected))
    write_table(output, "correlations", rows)


def correlation_rows(experiment: str, estimators: Mapping[str, Cells]) -> pd.DataFrame:
    """Return the rows of table ``correlations`` of one experiment.

    ``estimators`` is {name: {cell: Estimates}}. NaN where one of a pair never changes.
    """
    columns_by_cell: dict[tuple[str, int], list[tuple[str, Any]]] = {}
    for name, cells in estimators.items():
        for cell in cells:
            columns_by_cell.setdefault((cell.scenario, cell.n_samples), []).append((name, cell))
    rows = []
    for cell_key, columns in columns_by_cell.items():
        estimates = np.array([estimators[name][cell].estimate for name, cell in columns])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlations = np.corrcoef(estimates).reshape(len(columns), len(columns))
        names = [(name, None if cell.n_bins == NO_BINS else cell.n_bins) for name, cell in columns]
        for i, j in itertools.combinations(range(len(columns)), 2):
            rows.append((experiment, *cell_key, *names[i], *names[j], float(correlations[i, j])))
    table = pd.DataFrame(rows, columns=list(columns_of("correlations")))
    return table.astype({"n_bins_a": "Int64", "n_bins_b": "Int64"})
