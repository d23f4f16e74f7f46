from pathlib import Path
from typing import Literal

from evidence.report.evidence_page import evidence_page
from evidence.report.league_page import league_page
from pipeline.results import write_text
from pipeline.tables import read_tables


def write_evidence_page(
    *,
    tables: dict[str, Path],
    figures: dict[str, Path],
    audits: list[str],
    page: Literal["evidence", "league"],
    output: Path,
) -> None:
    """Write a page of the evidence: its front page, or the standings of the league.

    tables: result tables, as NAME=PATH
    figures: pictures, such as test_power=test_power.png
    audits: names of the audits' pages
    page: which page
    output: page to write (HTML)
    """
    contents = read_tables(tables)
    if page == "league":
        write_text(output, league_page(contents, figures))
    else:
        has_front_page = output.with_name("index.html").exists()
        write_text(output, evidence_page(contents, figures, audits, has_front_page))
