"""Write a page of a run: its front page, the ledger of claims, or the league of measures."""

from calbias.io.command_line import write_text
from evidence.report.league_page import league_page
from pipeline.provenance import read_record
from pipeline.script import TABLES, option, script
from pipeline.tables.files import read_tables
from reproduction.report.front_page import front_page
from reproduction.report.ledger_page import ledger_page

PAGES = {"index": front_page, "ledger": ledger_page, "league": league_page}


@script(
    TABLES,
    option("--figure", "such as fig1_intro=fig1.png; once per figure", named=True),
    option("--audits", "names of the audits' pages", many=True, default=[]),
    option("--record", "record of provenance, whose costs the front page shows", default=None),
    option("--page", "which page", choices=PAGES),
    option("--output", "page to write (HTML)"),
)
def main(options):
    tables = read_tables(options.table)
    cost = {"cost": read_record(options.record).get("cost", {})} if options.record else {}
    page = PAGES[options.page](tables, options.figure, options.audits, **cost)
    write_text(options.output, page)


if __name__ == "__main__":
    main()
