"""Measure how often the intervals of an audit hold the truth, for one law of the scores."""

import argparse

from calbias.auditing.coverage import LAWS, coverage_table
from calbias.errors import InputError
from calbias.io.command_line import command
from calbias.io.tables import write_table


@command
def main(argv=None):
    """Write the law's rows of table ``interval_coverage``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--law", required=True, help=f"one of {', '.join(LAWS)}")
    parser.add_argument("--data-sets", type=int, required=True, help="data sets of each cell, >= 2")
    parser.add_argument("--seed", type=int, required=True, help="seed of the random streams, >= 0")
    parser.add_argument("--output", required=True, help="rows to write (Parquet)")
    options = parser.parse_args(argv)
    if options.law not in LAWS or options.data_sets < 2 or options.seed < 0:
        raise InputError(
            f"--law must be one of {', '.join(LAWS)}, --data-sets at least 2 and --seed at least 0"
        )
    table = coverage_table(options.data_sets, options.seed, laws=(options.law,))
    write_table(options.output, "interval_coverage", table)


if __name__ == "__main__":
    main()
