"""What the pages of a run share: templates, badges of verdicts, and figures as links to files."""

import re
from collections.abc import Collection
from typing import Any, NamedTuple

import jinja2
import pandas as pd

from pipeline import CHECKOUT
from pipeline.catalogue import figures as figure_catalogue
from pipeline.claims.verdicts import Verdict

TEMPLATES = CHECKOUT / "workflow/report"
VERDICT_WORDS = {  # its symbol, what it means
    "reproduced": ("✓", "the rule's strict condition holds"),
    "approximate": ("≈", "it holds in part, or within a looser tolerance"),
    "not_reproduced": ("✗", "it fails; the note names the cause where it is known"),
    "needs_real_logits": (
        "…", "it rests on the outputs of the paper's models, which this run did not have in full; "
        "snakemake with --configfile config/real_logits.yaml downloads them",
    ),
    "not_judged": ("–", "this run did not compute what the rule compares"),
}  # fmt: skip
DECIDED = (Verdict.REPRODUCED, Verdict.APPROXIMATE, Verdict.NOT_REPRODUCED)


def template(name: str) -> jinja2.Template:
    """Return a page's template; a name that it uses and nobody gives is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def badge(name: str) -> dict[str, str]:
    """Return {name, symbol, words} of a verdict: no page shows it by its colour alone."""
    return {"name": name, "symbol": VERDICT_WORDS[name][0], "words": Verdict(name).words}


def shown_figures(names: Collection[str]) -> list[dict[str, str]]:
    """Return [{name, place, title}] of the figures among ``names``, in papers' order.

    ``names`` are {figure: path of its PNG}; pages link to ``figures/NAME.png``.
    """
    return [
        {"name": name, "place": entry.place, "title": entry.title}
        for name, entry in figure_catalogue().items()
        if name in names
    ]


class Paper(NamedTuple):
    """A source of claims: the letter of its ids, its name, and its title or its role."""

    letter: str
    name: str
    title: str


PAPERS = (
    Paper("R", "Roelofs et al. 2022", "Mitigating Bias in Calibration Error Estimation"),
    Paper("G", "Guo et al. 2017", "On Calibration of Modern Neural Networks"),
    Paper("S", "Gupta et al. 2021", "Calibration of Neural Networks using Splines"),
    Paper("C", "calbias", "claims of this project, by the same rules"),
)


def papers_with_claims(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """Return [{paper, ids, bar, counts, sentence}] of the papers with rows in table ``claims``.

    ``bar`` is [{verdict, models, count}] of the verdicts that occur; ``models`` is "2 of 10" where
    the evidence is partial. ``counts`` is [{verdict, whole, part}]: claims with all their evidence,
    and with a part of it.
    """
    shown = []
    for paper in PAPERS:
        rows = claims[claims["id"].str.startswith(paper.letter)]
        if rows.empty:
            continue
        bar = [
            {"verdict": badge(name), "models": models, "count": count}
            for (name, models), count in _counts(rows).items()
        ]
        shown.append(
            {
                "paper": paper,
                "ids": list(rows["id"]),
                "bar": bar,
                "counts": _by_evidence(bar),
                "sentence": f"{len(rows)} claims: {counted(rows)}.",
            }
        )
    return shown


def _by_evidence(bar: list[dict[str, Any]]) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, Any]] = {}
    for part in bar:
        verdict = part["verdict"]
        count = counts.setdefault(verdict["name"], {"verdict": verdict, "whole": 0, "part": 0})
        count["part" if part["models"] else "whole"] += part["count"]
    return [*counts.values()]


def counted(rows: pd.DataFrame) -> str:
    """Return how many claims have each verdict; those judged on some of the models count apart."""
    parts = [
        f"{count} {name.words}" + f" on {models} models" * bool(models)
        for (name, models), count in _counts(rows).items()
    ]
    return re.sub(r"(?<!\b1 )needs", "need", ", ".join(parts))


def _counts(rows: pd.DataFrame) -> dict[tuple[Verdict, str], int]:
    """Return {(verdict, "2 of 10" where it rests on some of the models): how many claims}."""
    models = rows["models"] if "models" in rows else pd.Series("", rows.index)
    models = models.fillna("").astype(str).where(rows["verdict"].isin(DECIDED), "")
    counts = pd.Series(1, rows.index).groupby([rows["verdict"], models]).sum()
    keys = sorted(counts.index, key=lambda key: ([*Verdict].index(key[0]), key[1]))
    return {(Verdict(name), models): int(counts[name, models]) for name, models in keys}
