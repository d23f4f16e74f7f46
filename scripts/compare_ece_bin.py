"""Compare ECE_bin on a model's logits with that on data simulated from its fits (Table 4)."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.logits.top_label_table import read_origin
from calbias.summaries.ece_bin import ece_bin_row
from calbias.truth.scenario_tables import read_scenarios


@command
def main(argv=None):
    """Write table ``ece_bin_real_and_simulated``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", required=True, help="scenarios of experiment fits (CSV)")
    parser.add_argument("--bias", required=True, help="bias rows of experiment fits (CSV)")
    parser.add_argument("--top-labels", nargs="+", required=True, help="top-label tables (Parquet)")
    parser.add_argument("--published", required=True, help="Table 4 (CSV)")
    parser.add_argument("--norm", type=float, default=2.0, help="p of the ℓp error")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    bias = read_table(options.bias)
    simulated = bias[bias["estimator"] == "ece_bin_ew"].drop_duplicates("scenario")
    simulated = simulated.set_index("scenario").to_dict("index")
    published = read_table(options.published).set_index("model").to_dict("index")
    source = {scenario.name: row["source"] for scenario, row in read_scenarios(options.scenarios)}
    rows = []
    for path in options.top_labels:
        model = read_origin(path).model
        known = simulated.get(model), source.get(model), published.get(model)
        rows.append(ece_bin_row(path, *known, options.norm))
    write_table(options.output, "ece_bin_real_and_simulated", rows)


if __name__ == "__main__":
    main()
