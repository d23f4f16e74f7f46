"""Set the number of bins that the sweep chooses beside what each number gives (App D, Fig 14)."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import read_table, write_table
from calbias.summaries.chosen_bins import chosen_bins


@command
def main(argv=None):
    """Write table ``chosen_bins`` from the bias rows of that experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bias", required=True, help="bias rows of the experiment (CSV)")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    write_table(options.output, "chosen_bins", chosen_bins(read_table(options.bias)))


if __name__ == "__main__":
    main()
