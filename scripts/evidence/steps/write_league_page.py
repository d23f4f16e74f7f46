from pathlib import Path

from calbias.io.command_line import write_text
from evidence.report.league_page import league_page
from pipeline.tables.files import read_tables


def write_league_page(*, tables: dict[str, Path], figures: dict[str, Path], output: Path) -> None:
    """Write the page of the league of measures.

    tables: result tables, as NAME=PATH
    figures: pictures, such as test_power=test_power.png
    output: page to write (HTML)
    """
    write_text(output, league_page(read_tables(tables), figures))
