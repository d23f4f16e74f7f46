"""Measure size and power of tests of calibration on scenarios of known truth."""

import argparse

from calbias.errors import InputError
from calbias.hypothesis_tests.power import power_rows, power_scenarios
from calbias.io.command_line import command
from calbias.io.tables import write_table


@command
def main(argv=None):
    """Write table ``test_power``."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--tests", nargs="+", required=True, help="tests; redraw_X is the redraw test of X")
    add("--n-samples", type=int, nargs="+", required=True, help="sample sizes")
    add("--replicates", type=int, required=True, help="data sets of each cell, >= 20")
    add("--seed", type=int, required=True, help="seed of the random streams, >= 0")
    add("--output", required=True, help="table to write (CSV)")
    args = parser.parse_args(argv)
    if args.replicates < 20 or args.seed < 0 or min(args.n_samples) < 2:
        raise InputError("--replicates must be >= 20, --seed >= 0 and --n-samples >= 2")

    rows = power_rows(args.tests, power_scenarios(), args.n_samples, args.replicates, args.seed)
    write_table(args.output, "test_power", rows)


if __name__ == "__main__":
    main()
