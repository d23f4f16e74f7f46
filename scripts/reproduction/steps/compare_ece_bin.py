from pathlib import Path

from pipeline.logits.top_label_table import read_top_labels
from pipeline.scenarios.tables import read_scenarios
from pipeline.tables.files import read_table, write_table
from reproduction.summaries.ece_bin import ece_bin_row


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

    scenarios: scenarios of experiment fits
    bias: bias rows of experiment fits
    top_labels: top-label tables of the models with outputs
    published: Table 4
    norm: p of the ℓp error
    output: table to write
    """
    table = read_table(bias)
    simulated = table[table["estimator"] == "ece_bin_ew"].drop_duplicates("scenario")
    simulated = simulated.set_index("scenario").to_dict("index")
    printed = read_table(published).set_index("model").to_dict("index")
    outputs = {o.model: (folds, o.source) for folds, o in map(read_top_labels, top_labels)}
    rows = []
    for scenario, row in read_scenarios(scenarios):
        name = scenario.name
        known = simulated.get(name, {}), row["source"], printed.get(name, {})
        rows.append(ece_bin_row(name, *outputs.get(name, ({}, None)), *known, norm))
    write_table(output, "ece_bin_real_and_simulated", rows)
