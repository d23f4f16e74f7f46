"""Join tables of the same columns, one below the other, in the order given."""

import argparse

import pandas as pd

from calbias.errors import InputError
from calbias.io.command_line import command, written_whole
from calbias.io.tables import read_table, write_table


@command
def main(argv=None):
    """Write the rows of all inputs, cell for cell as they stand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", nargs="+", required=True, help="tables to join (CSV)")
    parser.add_argument("--output", required=True, help="table to write (CSV)")
    options = parser.parse_args(argv)
    tables = [read_table(path, as_text=True) for path in options.inputs]
    for path, table in zip(options.inputs, tables, strict=True):
        if list(table.columns) != list(tables[0].columns):
            raise InputError(f"{path}: its columns differ from those of {options.inputs[0]}")
    with written_whole(options.output) as temporary:
        write_table(temporary, pd.concat(tables))


if __name__ == "__main__":
    main()
