"""Summarise the replicates of one experiment: bias, spread and Monte Carlo error (paper Eq. 7).

One estimator, the files of one folder, is in memory at a time.
"""

import argparse
from itertools import groupby
from os.path import dirname

import pandas as pd

from calbias.io.command_line import command
from calbias.io.tables import read_table, true_errors_of, write_table
from calbias.simulation.gather import drawn_with, gather_shards
from calbias.summaries.bias import bias_rows
from calbias.truth.scenario_tables import read_scenarios


@command
def main(argv=None):
    """Write the rows of table ``bias`` of one experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", required=True, help="the experiment's name")
    parser.add_argument("--scenarios", required=True, help="its scenario table (CSV)")
    parser.add_argument("--true-errors", required=True, help="table true_calibration_error (CSV)")
    parser.add_argument("--replicates", nargs="+", required=True, help="its replicate files")
    parser.add_argument("--seed", type=int, required=True, help="seed that they were drawn with")
    parser.add_argument("--n-replicates", type=int, required=True, help="how many a cell has")
    parser.add_argument("--output", required=True, help="rows to write (CSV)")
    options = parser.parse_args(argv)
    true_errors = true_errors_of(read_table(options.true_errors), read_scenarios(options.scenarios))
    expected = drawn_with(options.scenarios, options.seed, options.n_replicates)
    rows = [
        bias_rows(options.experiment, gather_shards(paths, **expected), true_errors)
        for _, paths in groupby(options.replicates, key=dirname)
    ]
    write_table(options.output, "bias", pd.concat(rows))


if __name__ == "__main__":
    main()
