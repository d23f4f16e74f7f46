"""ECE_bin of a model's logits and of data simulated from its fits (Table 4, Fig 3c)."""

from pathlib import Path

from calbias.estimation.api import estimate
from pipeline.logits import read_top_labels
from pipeline.scenarios import read_scenarios
from pipeline.tables import read_table, write_table

PUBLISHED_BINS = 15


def compare_ece_bin(
    *,
    scenarios: Path,
    bias: Path,
    top_labels: list[Path],
    published: Path,
    norm: float,
    output: Path,
) -> None:
    """Compare ECE_bin on a model's logits with that on data simulated from its fits (Table 4).

    Real and simulated data get the same bins. Without a validation fold the test fold stands for
    it.

    scenarios: scenarios of experiment fits
    bias: bias rows of experiment fits
    top_labels: top-label tables of the models with outputs
    published: Table 4
    norm: p of the ℓp error
    output: table to write
    """
    table = read_table(bias)
    simulated = table[table["estimator"] == "ece_bin_ew"].drop_duplicates("scenario")
    simulated_of = simulated.set_index("scenario").to_dict("index")
    printed_of = read_table(published).set_index("model").to_dict("index")
    outputs = {origin.model: (folds, origin) for folds, origin in map(read_top_labels, top_labels)}
    rows = []
    for scenario, row in read_scenarios(scenarios):
        simulated_row = simulated_of.get(scenario.name, {})
        printed = printed_of.get(scenario.name, {})
        n_bins = int(simulated_row.get("n_bins", PUBLISHED_BINS))
        folds, origin = outputs.get(scenario.name, ({}, None))
        values = {
            fold: 100 * estimate("ece_bin_ew", top.score, top.hit, n_bins=n_bins, norm=norm).value
            for fold, top in folds.items()
            if top.score.size
        }
        test = values.get("test")
        rows.append((
            scenario.name,
            origin and origin.source,
            row["source"],
            values.get("validation", test),
            test,
            simulated_row.get("mean_estimate_percent"),
            simulated_row.get("bias_se_percent"),
            printed.get("ece_bin_percent"),
            printed.get("mean_simulated_ece_bin_percent"),
        ))  # fmt: skip
    write_table(output, "ece_bin_real_and_simulated", rows)
