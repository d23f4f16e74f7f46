"""How many bins the sweep chooses, next to what each number gives (App D, Fig 14)."""

from calbias.io.table_schema import columns_of


def chosen_bins(bias):
    """Return the table ``chosen_bins`` from the rows of a ``bias`` table of that experiment."""
    keys = ["scenario", "n_samples"]
    of_sweep = bias[bias["estimator"] == "ece_sweep_em"].set_index(keys)["mean_n_bins_used"]
    table = bias[bias["estimator"] == "ece_bin_em"].join(of_sweep.rename("mean_n_bins_sweep"), keys)
    table = table.rename(columns={"bias_se_percent": "mean_estimate_se_percent"})
    return table[list(columns_of("chosen_bins"))]
