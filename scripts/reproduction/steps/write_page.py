from pathlib import Path
from typing import Literal

from pipeline.provenance import read_record
from pipeline.results import write_text
from pipeline.tables.files import read_tables
from reproduction.report.front_page import front_page
from reproduction.report.ledger_page import ledger_page

PAGES = {"index": front_page, "ledger": ledger_page}


def write_page(
    *,
    tables: dict[str, Path],
    figures: dict[str, Path],
    audits: list[str],
    record: Path | None = None,
    page: Literal["index", "ledger"],
    output: Path,
) -> None:
    """Write a page of a run: its front page or the ledger of claims.

    tables: result tables, as NAME=PATH
    figures: pictures, such as fig1_intro=fig1.png
    audits: names of the audits' pages
    record: record of provenance, whose costs the front page shows
    page: which page
    output: page to write (HTML)
    """
    options = {}
    if page == "index":
        options["cost"] = read_record(record).get("cost", {}) if record else {}
        options["has_evidence"] = output.with_name("evidence.html").exists()
    write_text(output, PAGES[page](read_tables(tables), figures, audits, **options))
