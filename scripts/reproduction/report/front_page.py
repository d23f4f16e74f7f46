"""The front page of a run: does the paper hold, where not, and everything else there is."""

from pipeline.claims.verdicts import Verdict
from pipeline.report.page import badge, shown_figures, template
from pipeline.report.papers import papers_with_claims
from pipeline.scenarios.paper import MODELS


def front_page(tables, pictures, audits=(), cost=None, has_evidence=False):
    """Return the HTML text of the page; its pictures and links are relative to ``results/``.

    ``tables`` {name: DataFrame} has at least ``claims``, ``pictures`` is {figure: path of its PNG},
    ``audits`` names the pages in ``results/audit``, ``has_evidence`` says whether there is
    ``evidence.html`` to link to, ``cost`` is what
    ``pipeline.job_logs.cost_by_rule`` returns. The counts are over the first paper.
    """
    claims = tables["claims"].fillna("")
    paper, *others = papers_with_claims(claims)
    ours = claims[claims["id"].isin(paper["ids"])]
    return template("index.html.j2").render(
        paper=paper,
        others=others,
        failed=_lines(ours, Verdict.NOT_REPRODUCED),
        nearly=_lines(ours, Verdict.APPROXIMATE),
        open=_lines(ours, Verdict.NEEDS_REAL_LOGITS),
        figures=shown_figures(pictures),
        audits=[{"name": name, "is_paper": name in MODELS} for name in audits],
        n_tables=len(tables),
        has_evidence=has_evidence,
        sources=sorted({part for text in claims["source"] for part in text.split(" + ")} - {""}),
        cost=cost or {},
    )


def _lines(claims, verdict):
    """Return the claims of one verdict, each with why: the first part of its note, a line."""
    return [
        {
            "id": row["id"], "says": row["claim"], "models": row["models"],
            "verdict": badge(verdict), "why": row["note"].split("; ")[0] or row["measured"],
        }
        for row in claims[claims["verdict"] == verdict].to_dict("records")
    ]  # fmt: skip
