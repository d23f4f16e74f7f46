from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from pipeline.catalogue import Entry
from pipeline.catalogue import figures as figure_catalogue
from pipeline.claims.ledger import AT_LIMIT, all_claims
from pipeline.claims.verdicts import Verdict
from pipeline.figures.numbers import is_of
from pipeline.figures.selection import Tables
from pipeline.paper import MODELS
from pipeline.provenance import read_record
from pipeline.report import (
    VERDICT_WORDS,
    badge,
    compared_places,
    measurement_groups,
    papers_tables,
    papers_with_claims,
    shown,
    shown_figures,
    template,
)
from pipeline.table_schema import columns_of
from pipeline.table_schema import tables as table_entries
from pipeline.tables import read_tables, validate_columns
from pipeline.versions import mixed
from pipeline.write_results import write_text
from reproduction.verdict_summary import sentences

NOT_SHOWN = ("claims", "measurements", "comparison", "printed_tables")  # have sections of their own


def write_pages(
    *,
    tables: dict[str, Path],
    figures: dict[str, Path],
    numbers: list[Path],
    audits: list[str],
    record: Path | None,
    output_index: Path,
    output_ledger: Path,
) -> None:
    """Write the pages of a run: its front page and the ledger of claims.

    tables: result tables, as NAME=PATH
    figures: pictures, such as fig1_intro=fig1.png
    numbers: files of numbers of these figures, named like them
    audits: names of the audits' pages
    record: record of provenance, whose costs the front page shows
    output_index: front page to write (HTML)
    output_ledger: ledger to write (HTML)
    """
    contents = read_tables(tables)
    entries = figure_catalogue()
    outdated = [x.stem for x in numbers if not is_of(x, entries[x.stem], contents)]
    write_text(output_ledger, ledger_page(contents, figures, audits, outdated))
    stated = read_record(record) if record else {}
    cost, versions = stated.get("cost", {}), mixed(stated.get("made_with", {}))
    write_text(output_index, front_page(contents, figures, audits, cost, versions, outdated))


def front_page(
    tables: Tables,
    pictures: Mapping[str, Path],
    audits: Sequence[str] = (),
    cost: dict[str, Any] | None = None,
    mixed_versions: Sequence[str] = (),
    outdated: Sequence[str] = (),
) -> str:
    """Return the HTML text of a page; its pictures and links are relative to ``results/``.

    ``tables`` {name: DataFrame} has at least ``claims``, ``pictures`` is {figure: path of its PNG},
    ``audits`` names the pages in ``results/audit``, ``cost`` is what
    ``pipeline.provenance.cost_by_rule`` returns, ``mixed_versions`` what
    ``pipeline.versions.mixed`` does, ``outdated`` the figures that other tables drew. The counts
    are over the first paper.
    """
    claims = tables["claims"].fillna("")
    paper, *others = papers_with_claims(claims)
    ours = claims[claims["id"].isin(paper["ids"])]
    return template("index.html.j2").render(
        paper=paper,
        sentences=sentences(claims, tables["measurements"]),
        others=others,
        holding=_lines(ours, Verdict.REPRODUCED),
        failed=_lines(ours, Verdict.NOT_REPRODUCED),
        nearly=_lines(ours, Verdict.APPROXIMATE),
        open=_lines(ours, Verdict.NEEDS_REAL_LOGITS),
        figures=shown_figures(pictures, outdated),
        audits=[{"name": name, "is_paper": name in MODELS} for name in audits],
        n_tables=len(tables),
        sources=sorted({part for text in claims["source"] for part in text.split(" + ")} - {""}),
        cost=cost or {},
        mixed_versions=mixed_versions,
    )


def _lines(claims: pd.DataFrame, verdict: Verdict) -> list[dict[str, Any]]:
    """Return the claims of one verdict, each with why, a line with a number."""
    return [
        {
            "id": row["id"], "says": row["claim"], "models": row["models"],
            "verdict": badge(verdict), "why": row["reason"] or row["note"].split("; ")[0],
            "stability": row["stability"], "at_limit": AT_LIMIT in row["note"],
        }
        for row in claims[claims["verdict"] == verdict].to_dict("records")
    ]  # fmt: skip


def ledger_page(
    tables: Tables,
    pictures: Mapping[str, Path],
    audits: Sequence[str] = (),
    outdated: Sequence[str] = (),
) -> str:
    """Return the HTML text of a page; its pictures and links are relative to ``results/``.

    ``tables`` {name: DataFrame} has at least ``claims`` and ``measurements``, ``pictures`` is
    {figure: path of its PNG}, with ``models/NAME`` for a model; ``audits`` names the pages in
    ``results/audit``, ``outdated`` the figures that other tables drew.
    """
    for name in ("claims", "measurements"):
        table, option = tables.get(name, ()), f"--table {name}"
        validate_columns(table, columns_of(name), option, "make it by step judge_claims")
    catalogue = figure_catalogue()
    counts = tables["claims"]["verdict"].value_counts()
    return template("ledger.html.j2").render(
        papers_claims=papers_with_claims(tables["claims"]),
        verdicts=[
            {**badge(name), "count": counts.get(name, 0), "meaning": VERDICT_WORDS[name][1]}
            for name in Verdict
            if name != "not_judged" or counts.get(name, 0)
        ],
        own=own_models(tables),
        audited=sorted(audits),
        claims=_claims(tables, catalogue, pictures),
        own_figures=[{"name": name, "place": Path(name).name, "title": "reliability diagram",
                      "numbers": False, "outdated": False}
                     for name in pictures
                     if name.startswith("models/") and Path(name).name not in MODELS],
        figures=shown_figures(pictures, outdated),
        places=compared_places(tables.get("comparison")),
        papers=papers_tables(tables.get("measures")),
        tables=[shown(name, tables[name])
                for name in table_entries() if name in tables and name not in NOT_SHOWN],
    )  # fmt: skip


def own_models(tables: Tables) -> list[SimpleNamespace]:
    """Return the rows of the audits' tables on models that are not the paper's, as shown."""
    parts = []
    for name in ("audit_verdicts", "audit_estimates"):
        if name in tables:
            rows = tables[name][~tables[name]["model"].isin(MODELS)].dropna(axis=1, how="all")
            parts += [] if rows.empty else [shown(name, rows, len(rows), f"your models, {name}")]
    return parts


def _claims(
    tables: Tables, catalogue: Mapping[str, Entry], pictures: Mapping[str, Path]
) -> list[dict[str, Any]]:
    entries, result = table_entries(), []
    claims = {claim.id: claim for claim in all_claims("reproduction")}
    for row in tables["claims"].fillna("").to_dict("records"):
        measured = tables["measurements"]
        measured = measured[measured["id"] == row["id"]]
        claim = claims.get(row["id"])
        result.append({
            **row,
            "verdict": badge(row["verdict"]),
            "notes": row["note"].split("; "),
            "measurements": measurement_groups(measured),
            "n_measurements": len(measured),
            "has_published": measured["published"].notna().any(),
            "figures": [{"name": name, "place": catalogue[name].place, "drawn": name in pictures}
                        for name in (claim.figures.split() if claim else ())],
            "tables": [{"name": name, "maker": entries.get(name), "made": name in tables}
                       for name in (claim.tables.split() if claim else ())],
        })  # fmt: skip
    return result
