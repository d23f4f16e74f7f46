"""The front page of the evidence: do calbias's own promises hold, and what each study finds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from evidence.report.findings import STUDIES
from evidence.report.league_page import league_page
from pipeline.claims.verdicts import Verdict
from pipeline.report import badge, papers_with_claims, shown_figures, template
from pipeline.results import write_text
from pipeline.tables import read_tables


def evidence_page(
    tables: Mapping[str, pd.DataFrame],
    pictures: Mapping[str, Path],
    audits: Sequence[str] = (),
    has_front_page: bool = False,
) -> str:
    """Return the HTML text of the page; its pictures and links are relative to ``results/``.

    ``tables`` has the tables of STUDIES and ``own_claims``; a study without one of its tables says
    how to make it. ``pictures`` is {figure: path of its PNG}, ``audits`` names pages of
    ``results/audit``.
    """
    claims = tables["own_claims"].fillna("")
    (group,) = papers_with_claims(claims)
    figures = {figure["name"]: figure for figure in shown_figures(pictures)}
    rows = claims.to_dict("records")
    studies = [
        {
            "name": study.name,
            "question": study.question,
            "missing": [name for name in study.tables if name not in tables],
            "findings": [*study.findings(tables)] if {*study.tables} <= {*tables} else [],
            "figures": [figures[name] for name in study.figures if name in figures],
            "tables": [name for name in study.tables if name in tables],
        }
        for study in STUDIES
    ]
    return template("evidence.html.j2").render(
        group=group,
        claims=[{**row, "badge": badge(Verdict(row["verdict"]))} for row in rows],
        studies=studies,
        audits=audits,
        has_front_page=has_front_page,
    )


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
