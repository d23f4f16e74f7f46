"""Write the ledger as one HTML page: claims, figures, published numbers next to ours, tables."""

from calbias.claims.ledger import all_claims
from calbias.errors import InputError
from calbias.io.command_line import TABLES, option, script, write_text
from calbias.io.table_schema import columns_of
from calbias.io.tables import read_table
from calbias.report.ledger_page import TEMPLATES, ledger_page

NEEDED = ("claims", "measurements")


@script(
    TABLES,
    option("--figure", "such as fig1_intro=fig1.png; once per figure", named=True),
    option("--templates", "folder of ledger.html.j2", default=TEMPLATES),
    option("--output", "page to write (HTML)"),
)
def main(options):
    tables = {name: read_table(path) for name, path in options.table.items()}
    for name in NEEDED:
        missing = [column for column in columns_of(name) if column not in tables.get(name, ())]
        if missing:
            raise InputError(
                f"--table {name}: no column {missing[0]}; make it with judge_claims.py"
            )
    write_text(options.output, ledger_page(tables, all_claims(), options.figure, options.templates))


if __name__ == "__main__":
    main()
