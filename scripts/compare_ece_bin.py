"""Compare ECE_bin on a model's logits with that on data simulated from its fits (Table 4)."""

from pipeline.scenarios.tables import read_scenarios
from pipeline.script import NORM, OUTPUT, option, script
from pipeline.tables.files import read_table, write_table
from reproduction.summaries.ece_bin import ece_bin_row


@script(
    option("--scenarios", "scenarios of experiment fits"),
    option("--bias", "bias rows of experiment fits"),
    option("--top-labels", "top-label tables", many=True),
    option("--published", "Table 4"),
    NORM,
    OUTPUT,
)
def main(options):
    bias = read_table(options.bias)
    simulated = bias[bias["estimator"] == "ece_bin_ew"].drop_duplicates("scenario")
    simulated = simulated.set_index("scenario").to_dict("index")
    published = read_table(options.published).set_index("model").to_dict("index")
    source = {scenario.name: row["source"] for scenario, row in read_scenarios(options.scenarios)}
    known = simulated, source, published
    rows = [ece_bin_row(path, *known, options.norm) for path in options.top_labels]
    write_table(options.output, "ece_bin_real_and_simulated", rows)


if __name__ == "__main__":
    main()
