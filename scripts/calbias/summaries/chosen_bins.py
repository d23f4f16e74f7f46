"""How many bins the sweep chooses, next to what each number gives (App D, Fig 14)."""

from calbias.io.table_schema import columns_of


def chosen_bins(bias, binned="ece_bin_em", sweep="ece_sweep_em"):
    """Return the table ``chosen_bins`` from the rows of a ``bias`` table of that experiment."""
    keys = ["scenario", "n_samples"]
    of_sweep = bias[bias["estimator"] == sweep].set_index(keys)["mean_n_bins_used"]
    table = bias[bias["estimator"] == binned].rename(
        columns={"bias_se_percent": "mean_estimate_se_percent"}
    )
    table = table.join(of_sweep.rename("mean_n_bins_sweep"), on=keys)
    return table[list(columns_of("chosen_bins"))]
