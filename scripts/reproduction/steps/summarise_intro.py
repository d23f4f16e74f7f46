"""What Figure 1 shows: one simulated data set, and the distribution of ECE_bin."""

from pathlib import Path

import numpy as np
import pandas as pd

from calbias.engine.float_scores import EXACT
from calbias.engine.sampler import draw
from calbias.truth.scenarios import Scenario
from pipeline.scenarios import read_scenarios
from pipeline.steps import Precision, Seed
from pipeline.table_schema import columns_of
from pipeline.tables import write_table
from reproduction.replicates import Replicates, drawn_with, gather_shards

HISTOGRAM_BINS = 100


def summarise_intro(
    *,
    scenarios: Path,
    replicates: list[Path],
    n_replicates: int,
    n_samples: int,
    precision: Precision,
    seed: Seed,
    output_histogram: Path,
    output_rows: Path,
) -> None:
    """Summarise what Figure 1 shows: one data set and the distribution of ECE_bin.

    scenarios: scenario table
    replicates: replicate files
    n_replicates: how many a cell has
    n_samples: sample size of the data set
    precision: how scores are stored
    seed: seed of all random streams
    output_histogram: estimate_histogram to write
    output_rows: shown_data_set to write
    """
    scenario, row = read_scenarios(scenarios)[0]
    expected = drawn_with(scenarios, seed, n_replicates)
    estimates = gather_shards(replicates, **expected)
    histogram = estimate_histogram(row["experiment"], estimates)
    write_table(output_histogram, "estimate_histogram", histogram)
    shown = shown_data_set(row["experiment"], scenario, n_samples, seed, precision)
    write_table(output_rows, "shown_data_set", shown)


def estimate_histogram(experiment: str, estimators: Replicates) -> pd.DataFrame:
    """Return the table ``estimate_histogram``: counts of the estimates of each cell, in percent."""
    rows = []
    for estimator, cells in estimators.items():
        for cell, estimates in cells.items():
            values = 100 * estimates.estimate
            counts, edges = np.histogram(values, bins=HISTOGRAM_BINS)
            key = experiment, cell.scenario, estimator, cell.n_samples, values.size
            rows += [
                (*key, low, high, count, values.mean())
                for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            ]
    return pd.DataFrame(rows, columns=list(columns_of("estimate_histogram")))


def shown_data_set(
    experiment: str, scenario: Scenario, n_samples: int, seed: int, precision: str = EXACT
) -> pd.DataFrame:
    """Return the table ``shown_data_set``: the rows of replicate 0, lowest score first."""
    data = draw(scenario, n_samples, 0, seed, precision)
    names = {"experiment": experiment, "scenario": scenario.name, "n_samples": n_samples}
    return pd.DataFrame(
        {**names, "score": data.scores[0], "hit": np.rint(data.hits()[0]).astype(int)}
    )
