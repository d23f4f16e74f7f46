"""Judge the recommending rule of an audit on scenarios that it was not made on."""

import argparse

from calbias.auditing.recommendation import recommendation_table
from calbias.errors import InputError
from calbias.io.command_line import command
from calbias.io.tables import write_table


@command
def main(argv=None):
    """Write table ``recommendation``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, required=True, help="data sets of each cell, >= 2")
    parser.add_argument("--seed", type=int, required=True, help="seed of the random streams, >= 0")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    if options.data_sets < 2 or options.seed < 0:
        raise InputError("--data-sets must be at least 2 and --seed at least 0")
    table = recommendation_table(options.data_sets, options.seed)
    write_table(options.output, "recommendation", table)


if __name__ == "__main__":
    main()
