"""Compare estimators by paired t-tests of their absolute bias (paper §7.1, §7.3)."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.summaries.paired_t_test import paired_t_tests


@command
def main(argv=None):
    """Write table ``paired_t_test``: every pair of estimators in each experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bias", required=True, help="table bias (CSV)")
    parser.add_argument("--experiments", nargs="+", required=True, help="experiments to test")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    bias = read_table(options.bias)
    tests = paired_t_tests(bias[bias["experiment"].isin(options.experiments)])
    write_table(options.output, "paired_t_test", tests)


if __name__ == "__main__":
    main()
