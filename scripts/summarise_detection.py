"""Summarise type II errors: miss rates at a type I error of 5 % (paper §7.2, Fig 5)."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import read_table, true_errors_of, write_table
from calbias.simulation.gather import drawn_with, gather_shards
from calbias.summaries.detection import detection_rows
from calbias.truth.scenario_tables import read_scenarios


@command
def main(argv=None):
    """Write table ``detection`` from the replicates of the power curves and of the null."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", required=True, help="scenarios of the power curves (CSV)")
    parser.add_argument("--true-errors", required=True, help="table true_calibration_error (CSV)")
    parser.add_argument("--replicates", nargs="+", required=True, help="replicates of those")
    parser.add_argument("--n-replicates", type=int, required=True, help="how many a cell has")
    parser.add_argument("--null-scenarios", required=True, help="scenarios of the null (CSV)")
    parser.add_argument("--null-replicates", nargs="+", required=True, help="replicates of those")
    parser.add_argument("--null-n-replicates", type=int, required=True, help="how many a cell has")
    parser.add_argument("--seed", type=int, required=True, help="seed that all were drawn with")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
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
    write_table(options.output, "detection", table)


if __name__ == "__main__":
    main()
