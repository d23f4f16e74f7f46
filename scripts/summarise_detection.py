"""Summarise type II errors: miss rates at a type I error of 5 % (paper §7.2, Fig 5).

The second table has the TCE at which a miss rate falls to 10 % and to 5 %, interpolated.
"""

from pipeline.detection_limits import detection_limits
from pipeline.scenarios.tables import read_scenarios
from pipeline.script import SEED, option, script
from pipeline.tables.files import read_table, true_errors_of, write_table
from reproduction.replicates.gather import drawn_with, gather_shards
from reproduction.summaries.detection import detection_rows


@script(
    option("--scenarios", "scenarios of the power curves"),
    option("--true-errors", "table true_calibration_error"),
    option("--replicates", "replicates of the power curves", many=True),
    option("--null-scenarios", "scenarios of the null"),
    option("--null-replicates", "replicates of the null", many=True),
    option("--n-replicates", "how many a cell of the power curves has", int),
    option("--null-n-replicates", "how many a cell of the null has", int),
    SEED,
    option("--output-detection", "table detection to write"),
    option("--output-limits", "table detection_limits to write"),
)
def main(options):
    scenarios = read_scenarios(options.scenarios)
    seed = options.seed
    expected = drawn_with(options.scenarios, seed, options.n_replicates)
    expected_of_null = drawn_with(options.null_scenarios, seed, options.null_n_replicates)
    table = detection_rows(
        gather_shards(options.replicates, **expected),
        gather_shards(options.null_replicates, **expected_of_null),
        {scenario.name: scenario.curve.b1 for scenario, _ in scenarios},
        true_errors_of(read_table(options.true_errors), scenarios),
    )
    write_table(options.output_detection, "detection", table)
    write_table(options.output_limits, "detection_limits", detection_limits(table))


if __name__ == "__main__":
    main()
