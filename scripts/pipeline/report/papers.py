"""Claims by their source: the paper, two others and calbias, each with its count of verdicts."""

import re
from typing import Any, NamedTuple

import pandas as pd

from pipeline.claims.verdicts import Verdict


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
    """Return [{paper, ids, bar, sentence}] of the papers that have rows in table ``claims``.

    ``bar`` is [{name, count}] of the verdicts that occur.
    """
    shown = []
    for paper in PAPERS:
        rows = claims[claims["id"].str.startswith(paper.letter)]
        if rows.empty:
            continue
        counts = rows["verdict"].value_counts()
        bar = [{"name": name, "count": counts[name]} for name in Verdict if name in counts]
        sentence = f"{len(rows)} claims: {counted(rows)}."
        shown.append({"paper": paper, "ids": list(rows["id"]), "bar": bar, "sentence": sentence})
    return shown


def counted(rows: pd.DataFrame) -> str:
    """Return how many claims have each verdict, and how many were judged on some models only."""
    counts = rows["verdict"].value_counts()
    parts = [f"{counts[name]} {name.words}" for name in Verdict if name in counts]
    words = re.sub(r"(?<!\b1 )needs", "need", ", ".join(parts))
    models = rows.get("models")
    partial = 0 if models is None else int(models.fillna("").astype(str).ne("").sum())
    return words + f"; {partial} judged on some of the models only" * bool(partial)
