"""Summarise the replicates of one experiment: bias, spread and Monte Carlo error (paper Eq. 7).

One estimator, the files of one folder, is in memory at a time.
"""

from itertools import groupby
from os.path import dirname

import pandas as pd

from pipeline.scenarios.tables import read_scenarios
from pipeline.script import OUTPUT, SEED, option, script
from pipeline.tables.files import read_table, true_errors_of, write_table
from reproduction.replicates.gather import drawn_with, gather_shards
from reproduction.summaries.bias import bias_rows


@script(
    option("--scenarios", "the experiment's scenario table"),
    option("--true-errors", "table true_calibration_error"),
    option("--replicates", "its replicate files", many=True),
    option("--experiment", "the experiment's name"),
    option("--n-replicates", "how many a cell has", int),
    SEED,
    OUTPUT,
)
def main(options):
    true_errors = true_errors_of(read_table(options.true_errors), read_scenarios(options.scenarios))
    expected = drawn_with(options.scenarios, options.seed, options.n_replicates)
    rows = [
        bias_rows(options.experiment, gather_shards(paths, **expected), true_errors)
        for _, paths in groupby(options.replicates, key=dirname)
    ]
    write_table(options.output, "bias", pd.concat(rows))


if __name__ == "__main__":
    main()
