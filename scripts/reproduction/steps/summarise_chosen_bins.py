from pathlib import Path

import pandas as pd

from pipeline.table_schema import columns_of
from pipeline.tables import read_table, write_table


def summarise_chosen_bins(
    *,
    bias: Path,
    output: Path,
) -> None:
    """Set the number of bins that the sweep chooses next to what each number gives (App D, Fig 14).

    bias: bias rows of the experiment
    output: table to write
    """
    write_table(output, "chosen_bins", chosen_bins(read_table(bias)))


def chosen_bins(bias: pd.DataFrame) -> pd.DataFrame:
    """Return the table ``chosen_bins`` from the rows of a ``bias`` table of that experiment.

    How many bins the sweep chooses, next to what each number gives (App D, Fig 14).
    """
    keys = ["scenario", "n_samples"]
    sweep_bins = bias[bias["estimator"] == "ece_sweep_em"].set_index(keys)["mean_n_bins_used"]
    table = bias[bias["estimator"] == "ece_bin_em"].join(
        sweep_bins.rename("mean_n_bins_sweep"), keys
    )
    table = table.rename(columns={"bias_se_percent": "mean_estimate_se_percent"})
    return table[list(columns_of("chosen_bins"))]
