"""Write the ledger as one HTML page: claims, figures, published numbers beside ours, tables."""

import argparse

from calbias.claims.ledger import all_claims
from calbias.errors import InputError
from calbias.io.command_line import command, named_paths, written_whole
from calbias.io.table_schema import columns_of
from calbias.io.tables import read_table
from calbias.report.ledger_page import TEMPLATES, ledger_page

NEEDED = ("claims", "measurements")


@command
def main(argv=None):
    """Write the page; it needs no other file to be read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a result table, claims and measurements at least; give it once per table",
    )
    parser.add_argument(
        "--figure",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a figure (PNG) to put into the page; give it once per figure",
    )
    parser.add_argument(
        "--templates", default=TEMPLATES, help="folder of ledger.html.j2 (default: workflow/report)"
    )
    parser.add_argument("--output", required=True, help="page to write (HTML)")
    options = parser.parse_args(argv)
    figures = named_paths(options.figure, "--figure")
    paths = named_paths(options.table, "--table")
    tables = {name: read_table(path) for name, path in paths.items()}
    for name in NEEDED:
        missing = [column for column in columns_of(name) if column not in tables.get(name, ())]
        if missing:
            raise InputError(
                f"--table {name}: no column {missing[0]}; make it with judge_claims.py"
            )
    page = ledger_page(tables, all_claims(), figures, options.templates)
    with written_whole(options.output) as temporary:
        temporary.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
