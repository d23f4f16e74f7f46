"""Write the ledger as one HTML page: claims, verdicts, and published numbers beside ours."""

import argparse

from calbias.claims.ledger import read_claims
from calbias.errors import InputError
from calbias.io.command_line import command, written_whole
from calbias.io.table_schema import columns_of
from calbias.io.tables import read_table
from calbias.pipeline.workflow_index import figure_makers, table_makers
from calbias.report.ledger_page import ledger_page


@command
def main(argv=None):
    """Write the page; it needs no other file to be read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ledger", required=True, help="table claims: results/tables/claims.csv")
    parser.add_argument("--claims", required=True, help="the claims, resources/claims.csv")
    parser.add_argument("--comparison", help="table comparison (CSV)")
    parser.add_argument(
        "--rules", default="workflow/rules", help="folder of the rule files, to name rules"
    )
    parser.add_argument(
        "--figure",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a figure (PNG) to put into the page; give it once per figure",
    )
    parser.add_argument("--output", required=True, help="page to write (HTML)")
    options = parser.parse_args(argv)
    ledger = read_table(options.ledger)
    missing = [name for name in columns_of("claims") if name not in ledger]
    if missing:
        raise InputError(f"{options.ledger}: no column {missing[0]}; make it with judge_claims.py")
    page = ledger_page(
        ledger,
        read_claims(options.claims),
        read_table(options.comparison) if options.comparison else None,
        table_makers(options.rules),
        figure_makers(),
        dict(text.partition("=")[::2] for text in options.figure),
    )
    with written_whole(options.output) as temporary:
        temporary.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
