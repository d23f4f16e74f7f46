"""Mean ECE_bin by number of bins, beside the sweep's mean number."""

import pandas as pd

from calbias.io.table_schema import tables
from calbias.summaries.chosen_bins import chosen_bins


def bias_table():
    rows = [
        ("s", "ece_bin_em", 1, 200, 3.0, 0.1, 1.0),
        ("s", "ece_bin_em", 2, 200, 2.0, 0.2, 2.0),
        ("s", "ece_sweep_em", -1, 200, 9.0, 0.3, 12.5),
        ("s", "ece_bin_em", 1, 400, 1.0, 0.1, 1.0),
        ("s", "ece_sweep_em", -1, 400, 9.0, 0.3, 20.0),
    ]
    names = ("scenario", "estimator", "n_bins", "n_samples", "mean_estimate_percent")
    table = pd.DataFrame(rows, columns=[*names, "bias_se_percent", "mean_n_bins_used"])
    return table.assign(tce_percent=4.0)


def test_rows():
    contract = tables()["chosen_bins"]
    table = chosen_bins(bias_table())
    assert list(table) == contract["columns"]
    assert table["n_bins"].tolist() == [1, 2, 1]
    assert table["mean_n_bins_sweep"].tolist() == [12.5, 12.5, 20.0]
    assert table["mean_estimate_se_percent"].tolist() == [0.1, 0.2, 0.1]
