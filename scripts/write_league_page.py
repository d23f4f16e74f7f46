"""Write the page of the league: readings in words, figures, rankings and their sensitivity."""

from calbias.io.command_line import TABLES, option, script, write_text
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
    write_text(options.output, league_page(tables, options.figure, options.templates))


if __name__ == "__main__":
    main()
