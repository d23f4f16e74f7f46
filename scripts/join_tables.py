"""Join the parts of a table, one below the other, in the order given."""

import argparse

from calbias.io.command_line import command
from calbias.io.tables import joined_tables, write_table


@command
def main(argv=None):
    """Write the rows of all parts, value for value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True, help="the table's name, such as bias")
    parser.add_argument("--inputs", nargs="+", required=True, help="its parts (Parquet or CSV)")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    table = joined_tables(options.inputs, options.table)
    write_table(options.output, options.table, table)


if __name__ == "__main__":
    main()
