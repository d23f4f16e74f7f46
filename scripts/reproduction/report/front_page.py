"""The front page of a run: the findings that matter with their pictures, and the doors."""

from pathlib import Path

from pipeline.catalogue import figures as figure_catalogue
from pipeline.claims.verdicts import Verdict
from pipeline.report.papers import papers_with_claims
from pipeline.report.templates import template
from pipeline.scenarios.paper import MODELS
from reproduction.report.numbers import findings

SHOWN = {"floor": "fig1_intro", "coverage": "interval_coverage", "prediction": "predicted_bias"}
"""Topic of a finding → the figure that shows it."""


def front_page(tables, pictures, audits=(), cost=None):
    """Return the HTML text of the page; its pictures and links are relative to ``results/``.

    ``tables`` {name: DataFrame} has at least ``claims`` and ``measurements``, ``pictures`` is
    {figure: path of its PNG}, ``audits`` names the pages in ``results/audit``, ``cost`` is what
    ``pipeline.job_logs.cost_by_rule`` returns.
    """
    catalogue = figure_catalogue()
    cards = [
        {
            "title": finding.title,
            "text": finding.text.replace("`", ""),
            "figure": _figure(figure, catalogue),
        }
        for topic, figure in SHOWN.items()
        for finding in findings(dict(tables), topics=(topic,))[:1]
        if figure in pictures
    ]
    claims = tables["claims"]
    sources = sorted({part for text in claims["source"].dropna() for part in text.split(" + ")})
    return template("index.html.j2").render(
        cards=cards,
        papers=papers_with_claims(claims),
        verdicts=[(name, name.words) for name in Verdict if name in set(claims["verdict"])],
        audits=[{"name": name, "is_paper": name in MODELS} for name in audits],
        n_tables=len(tables),
        n_figures=len([name for name in pictures if "/" not in name]),
        sources=sources,
        tables=sorted(tables),
        cost=cost or {},
    )


def _figure(name, catalogue):
    entry = catalogue[name]
    return {"name": name, "file": f"figures/{Path(name).name}.png", "title": entry.title}
