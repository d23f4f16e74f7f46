"""Write the page of the league: readings in words, figures, rankings and their sensitivity."""

from calbias.io.command_line import TABLES, option, script, written_whole
from calbias.io.tables import read_table
from calbias.report.league_page import league_page
from calbias.report.ledger_page import TEMPLATES


@script(
    TABLES,
    option("--figure", "a picture, such as test_power=test_power.png; each once", named=True),
    option("--templates", "folder of league.html.j2", default=TEMPLATES),
    option("--output", "page to write (HTML)"),
)
def main(options):
    tables = {name: read_table(path) for name, path in options.table.items()}
    page = league_page(tables, options.figure, options.templates)
    with written_whole(options.output) as temporary:
        temporary.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
