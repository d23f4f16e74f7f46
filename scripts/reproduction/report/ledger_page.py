"""The page that a run opens: claims with verdicts, figures, published numbers and tables."""

from pathlib import Path

from pipeline.catalogue import figures as figure_catalogue
from pipeline.claims.ledger import all_claims
from pipeline.claims.verdicts import Verdict
from pipeline.report.page import VERDICT_WORDS, badge, shown_figures, template
from pipeline.report.papers import papers_with_claims
from pipeline.report.tables import compared_places, measurement_groups, papers_tables, shown
from pipeline.scenarios.paper import MODELS
from pipeline.tables.rows import validate_columns
from pipeline.tables.schema import columns_of
from pipeline.tables.schema import tables as table_entries

MANY = 24  # measurements from which a claim's are folded
NOT_SHOWN = ("claims", "measurements", "comparison", "printed_tables")  # have sections of their own


def ledger_page(tables, pictures, audits=()):
    """Return the HTML text of the page; its pictures and links are relative to ``results/``.

    ``tables`` {name: DataFrame} has at least ``claims`` and ``measurements``, ``pictures`` is
    {figure: path of its PNG}, with ``models/NAME`` for a model; ``audits`` names the pages in
    ``results/audit``.
    """
    for name in ("claims", "measurements"):
        known, place = tables.get(name, ()), f"--table {name}"
        validate_columns(known, columns_of(name), place, "make it with judge_claims.py")
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
        own_figures=[{"name": name, "place": Path(name).name, "title": "reliability diagram"}
                     for name in pictures
                     if name.startswith("models/") and Path(name).name not in MODELS],
        figures=shown_figures(pictures),
        places=compared_places(tables.get("comparison")),
        papers=papers_tables(tables.get("measures")),
        tables=[shown(name, tables[name])
                for name in table_entries() if name in tables and name not in NOT_SHOWN],
    )  # fmt: skip


def own_models(tables):
    """Return the rows of the audits' tables on models that are not the paper's, as shown."""
    parts = []
    for name in ("audit_verdicts", "audit_estimates"):
        if name in tables:
            rows = tables[name][~tables[name]["model"].isin(MODELS)].dropna(axis=1, how="all")
            parts += [] if rows.empty else [shown(name, rows, len(rows), f"your models, {name}")]
    return parts


def _claims(tables, catalogue, pictures):
    entries, found = table_entries(), []
    claims = {claim.id: claim for claim in all_claims()}
    for row in tables["claims"].fillna("").to_dict("records"):
        mine = tables["measurements"]
        mine = mine[mine["id"] == row["id"]]
        claim = claims.get(row["id"])
        found.append({
            **row,
            "verdict": badge(row["verdict"]),
            "notes": row["note"].split("; "),
            "measurements": measurement_groups(mine),
            "n_measurements": len(mine),
            "folded": len(mine) > MANY,
            "has_published": mine["published"].notna().any(),
            "figures": [{"name": name, "place": catalogue[name].place, "drawn": name in pictures}
                        for name in (claim.figures.split() if claim else ())],
            "tables": [{"name": name, "maker": entries.get(name), "made": name in tables}
                       for name in (claim.tables.split() if claim else ())],
        })  # fmt: skip
    return found
